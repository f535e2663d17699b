/// Tells the errors of runs that took too long.
#pragma once

#include "analysis/source/error.h"

namespace kernelskill::engine {

/// Whether the error is that of a run that used up its time or its accesses: a smaller one may end.
[[nodiscard]] inline bool isCutOff(const Error& error) {
    return error.kind == ErrorKind::Failed && error.what.contains("cut off after");
}

} // namespace kernelskill::engine
