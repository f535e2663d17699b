/// Names for what the emulator does not run, with the line where it stands.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/emulator/compile/host_compiler.h"
#include "engine/unit/slice.h"

#include <optional>

namespace kernelskill::engine {

/// One-based line of the kernel's name.
[[nodiscard]] std::uint32_t lineOf(const analysis::KernelModel& kernel,
                                   const ScannedProgram& program);

/// A parameter that no launch can be given: a texture object, a pointer to functions. Unsupported,
/// naming it.
[[nodiscard]] std::optional<Error> refusedParameter(const analysis::KernelModel& kernel,
                                                    const ScannedProgram& program);

/// After a failed compile: the feature that the failing line, or else the kernel, uses and the
/// emulator does not have. Unsupported, with the feature's line; nullopt when nothing of the kind
/// is there.
[[nodiscard]] std::optional<Error> refusedFeature(const analysis::KernelModel& kernel,
                                                  const ScannedProgram& program,
                                                  const LaunchSpec& launch,
                                                  const std::optional<CompilerMessage>& error);

} // namespace kernelskill::engine
