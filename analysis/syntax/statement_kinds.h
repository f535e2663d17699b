/// Kinds of statements that belong together.
#pragma once

#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

/// A statement whose body may run several times: what `break` and `continue` are about.
[[nodiscard]] constexpr bool isLoop(StmtKind kind) {
    return kind == StmtKind::For || kind == StmtKind::While || kind == StmtKind::Do ||
           kind == StmtKind::RangeFor;
}

} // namespace kernelskill::analysis
