/// The types that CUDA's loads and stores with cache hints take.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::skills {

/// Whether `__ldg`, `__ldcs` and `__stcs` are declared for the type: numbers of 1 to 8 bytes, and
/// vectors of two or four of them up to 16.
[[nodiscard]] bool hasCacheHints(const analysis::Type& type);

} // namespace kernelskill::skills
