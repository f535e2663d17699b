/// Reads SASS in the form that nvdisasm and cuobjdump print.
#pragma once

#include "analysis/source/error.h"
#include "engine/assembly/listing.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The kernel `symbol`, and the functions that it names directly or indirectly. `text` is the
/// output of `nvdisasm --print-code --print-line-info-inline`, or of `--print-line-info` (one place
/// per instruction), or of `cuobjdump -sass` (no places). Failed if the text does not contain the
/// kernel. From truncated or malformed text, reads as much as possible.
[[nodiscard]] Result<Listing> readSass(std::string_view text, const std::string& symbol);

} // namespace kernelskill::engine
