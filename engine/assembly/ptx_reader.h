/// PTX as nvcc and NVRTC write it.
#pragma once

#include "analysis/source/error.h"
#include "engine/assembly/listing.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The kernel `symbol` and the functions of the text that it names, itself or through others.
/// Failed when the text does not hold the kernel. Text that is cut short or malformed gives what
/// can be read of it.
[[nodiscard]] Result<Listing> readPtx(std::string_view text, const std::string& symbol);

} // namespace kernelskill::engine
