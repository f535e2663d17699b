/// Questions about kinds of scalars.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

[[nodiscard]] constexpr bool isFloatingScalar(ScalarKind kind) {
    return kind >= ScalarKind::Half;
}

} // namespace kernelskill::analysis
