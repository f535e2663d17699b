/// A fingerprint of code that survives renames, moves and reformatting.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <string_view>

namespace kernelskill::analysis {

/// 64-bit hash of `bodyText`'s tokens, comments and white space left out, the function's own
/// variables by number.
[[nodiscard]] std::uint64_t normalisedHash(const KernelModel& function, std::string_view bodyText);

} // namespace kernelskill::analysis
