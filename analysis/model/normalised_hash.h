/// A fingerprint of code that survives renames, moves and reformatting.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <string_view>

namespace kernelskill::analysis {

/// A 64-bit hash of the tokens of `bodyText` without comments and white space. The function's own
/// variables count by number, not by name.
[[nodiscard]] std::uint64_t normalisedHash(const KernelModel& function, std::string_view bodyText);

} // namespace kernelskill::analysis
