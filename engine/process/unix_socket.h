/// Stream sockets at a path of the file system.
#pragma once

#include "engine/process/file_descriptor.h"

#include <string>

namespace kernelskill::engine {

/// Listens for one connection at a time. Not open, with the reason in errno, if that is refused.
[[nodiscard]] FileDescriptor listeningSocket(const std::string& path);
/// Connects to the process that listens there. Not open, with the reason in errno, if none does.
[[nodiscard]] FileDescriptor connectedSocket(const std::string& path);

} // namespace kernelskill::engine
