/// SASS as nvdisasm and cuobjdump print it.
#pragma once

#include "analysis/source/error.h"
#include "engine/assembly/listing.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The kernel `symbol` and the functions that it names, itself or through others, out of the output
/// of `nvdisasm --print-code --print-line-info-inline` (or --print-line-info, which tells one place
/// of each instruction) or of `cuobjdump -sass` (which tells none). Failed when the text does not
/// hold the kernel. Text that is cut short or malformed gives what can be read of it.
[[nodiscard]] Result<Listing> readSass(std::string_view text, const std::string& symbol);

} // namespace kernelskill::engine
