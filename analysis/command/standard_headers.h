/// The headers of C and C++ where the system has none.
#pragma once

#include <filesystem>
#include <optional>

namespace kernelskill::analysis {

/// The folder to take for the root of the file system when clang looks for <cstdlib> and the like:
/// `data`/sysroot, which a package brings along. Nothing where that is missing, or where
/// `systemRoot` has such headers: those come with the compiler that the program is built with, and
/// are always the better ones.
[[nodiscard]] std::optional<std::filesystem::path>
substituteSystemRoot(const std::filesystem::path& data,
                     const std::filesystem::path& systemRoot = "/");

} // namespace kernelskill::analysis
