/// Reads PTX in the form that nvcc and NVRTC write.
#pragma once

#include "analysis/source/error.h"
#include "engine/assembly/listing.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The kernel `symbol`, and the functions of the text that it names directly or indirectly. Failed
/// if the text does not contain the kernel. From truncated or malformed text, reads as much as
/// possible.
[[nodiscard]] Result<Listing> readPtx(std::string_view text, const std::string& symbol);

} // namespace kernelskill::engine
