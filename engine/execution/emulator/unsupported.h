/// Names features that the emulator does not support, with their lines.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/emulator/compile/host_compiler.h"
#include "engine/execution/job.h"
#include "engine/unit/slice.h"

#include <optional>

namespace kernelskill::engine {

/// The one-based line of the kernel's name.
[[nodiscard]] std::uint32_t lineOf(const analysis::KernelModel& kernel,
                                   const ScannedProgram& program);

/// Refuses a parameter that no launch can provide: a texture object, a pointer to functions.
/// Unsupported, with the parameter's name.
[[nodiscard]] std::optional<Error> refusedParameter(const analysis::KernelModel& kernel,
                                                    const ScannedProgram& program);

/// After a failed compilation: the unsupported feature that the failing line, or else the kernel,
/// uses. Unsupported, with the feature's line; nullopt if there is none.
[[nodiscard]] std::optional<Error> refusedFeature(const analysis::KernelModel& kernel,
                                                  const ScannedProgram& program,
                                                  const LaunchSpec& launch,
                                                  const std::optional<CompilerMessage>& error);

} // namespace kernelskill::engine
