/// The sizes of scalars.
#pragma once

#include "analysis/syntax/syntax.h"

#include <cstdint>

namespace kernelskill::analysis {

/// Bytes of one scalar of `kind`; 0 if it is not a number.
[[nodiscard]] std::uint32_t scalarBytes(ScalarKind kind);

} // namespace kernelskill::analysis
