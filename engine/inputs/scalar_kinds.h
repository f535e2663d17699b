/// Questions about kinds of scalars.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::engine {

[[nodiscard]] constexpr bool isFloatingScalar(analysis::ScalarKind kind) {
    return kind >= analysis::ScalarKind::Half;
}

} // namespace kernelskill::engine
