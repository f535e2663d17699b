/// Questions about kinds of scalars.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

[[nodiscard]] constexpr bool isFloatingScalar(ScalarKind kind) {
    return kind >= ScalarKind::Half;
}

/// Bool and characters are integers as well.
[[nodiscard]] constexpr bool isIntegerScalar(ScalarKind kind) {
    return kind >= ScalarKind::Bool && kind <= ScalarKind::UInt64;
}

} // namespace kernelskill::analysis
