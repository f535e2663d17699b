/// A kernel computed in double precision on the same inputs: what rounding errors are measured
/// against.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"

#include <string>

namespace kernelskill::engine {

/// `text` with float arithmetic turned into double: types, vector types, literals and math
/// functions. Unsupported, naming what stands in the way, when the text looks at the bits of a
/// float or computes in a 16-bit format.
[[nodiscard]] Result<std::string> withDoubleArithmetic(std::string_view text);

/// `launch` for the kernel so rewritten: float buffers and scalars as double, with the same values.
/// Unsupported when an argument's layout is not known.
[[nodiscard]] Result<LaunchSpec> withDoubleArguments(const analysis::KernelModel& kernel,
                                                     LaunchSpec launch);

/// The program and its kernel in double precision, parsed and ready to build. Unsupported when the
/// kernel computes outside the main file, where nothing is rewritten.
[[nodiscard]] Result<ProgramSource> doublePrecisionProgram(KernelRef kernel,
                                                           const analysis::Toolchain& toolchain);

} // namespace kernelskill::engine
