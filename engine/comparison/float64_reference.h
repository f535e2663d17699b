/// Computes a kernel in double precision on the same inputs: the reference for rounding errors.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/inputs/launch_inference.h"

#include <string>

namespace kernelskill::engine {

/// `text` with float arithmetic changed to double: types, vector types, literals and math
/// functions. 16-bit types keep their names; the prelude stores them as doubles where
/// KERNELSKILL_WIDE_HALVES is defined. Unsupported, with the reason, if the text uses the bits of a
/// number.
[[nodiscard]] Result<std::string> withDoubleArithmetic(std::string_view text);

/// `launch`, of `kernel`, for the rewritten kernel: floats, also those of 16 bits, in buffers,
/// scalars, vectors and objects of classes become double and keep their values. Unsupported if an
/// argument's layout is unknown.
[[nodiscard]] Result<LaunchSpec> withDoubleArguments(KernelInFile kernel, LaunchSpec launch);

/// The program with its kernel in double precision, parsed and ready to build. Unsupported if the
/// kernel computes outside the main file, because only that is rewritten.
[[nodiscard]] Result<ProgramSource> doublePrecisionProgram(KernelRef kernel,
                                                           const analysis::Toolchain& toolchain);

/// Whether the rewritten program calls a function that still computes in float, because its double
/// form is not known: normf, __fmul_rd, __int2float_rn.
[[nodiscard]] bool callsFloatFunction(const ProgramSource& doubled);

} // namespace kernelskill::engine
