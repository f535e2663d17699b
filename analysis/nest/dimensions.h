/// Splits flat indices such as `i*n + j` into dimensions, where guards and loops allow it.
#pragma once

#include "analysis/nest/nest.h"

namespace kernelskill::analysis {

/// Sets subscripts, assumptions and form of every access of the nest.
void splitDimensions(Nest& nest);

} // namespace kernelskill::analysis
