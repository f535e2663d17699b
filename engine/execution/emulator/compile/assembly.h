/// What the host compiler's assembly lacks for the emulator, put in before it is assembled.
#pragma once

#include "engine/execution/emulator/compile/arithmetic.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Part of an image's identity: changes with what annotateAssembly does.
inline constexpr std::string_view assemblyEdition =
    "guards, predication all round, absent functions, arithmetic 4";

/// GNU assembly of an instrumented unit, with four changes:
/// - around each thread-local (`__shared__`) variable there is room, so that a kernel that overruns
///   it is told before it reaches a neighbour;
/// - a basic block that ends in a branch of a header, not of a user's file, or in one that a
///   GPU has no need of (see Predication), calls ks_foreign_block instead of
///   __sanitizer_cov_trace_pc;
/// - a C function that is declared weak and defined nowhere, as the prelude's host functions are,
///   refuses by its name to be run;
/// - a table says what arithmetic each basic block holds (see ArithmeticTable). The prelude's own
///   counts only where a `ks_operation` mark says so.
[[nodiscard]] std::string annotateAssembly(std::string_view assembly,
                                           const AssemblyOptions& options);

} // namespace kernelskill::engine
