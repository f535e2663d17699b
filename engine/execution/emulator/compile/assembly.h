/// Changes the host compiler's assembly for the emulator before it is assembled.
#pragma once

#include "engine/execution/emulator/compile/arithmetic.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Part of an image's cache key. Changes with the behaviour of annotateAssembly.
inline constexpr std::string_view assemblyEdition =
    "guards, predication all round, absent functions, arithmetic 4, guarded, rooms, objects, own "
    "rooms";

/// GNU assembly of an instrumented unit, with six changes:
/// - around each thread-local (`__shared__`) variable, and in front of each other one, there is
/// unused room (`variableRoom`), so that a kernel that overruns a variable is detected before it
/// reaches a neighbour;
/// - a basic block calls ks_foreign_block instead of __sanitizer_cov_trace_pc if it ends in a
/// branch of a header, or in one that a GPU does not need (see Predication);
/// - a C function that is weak and undefined, as the prelude's host functions are, refuses by its
/// name to be run;
/// - a table lists the arithmetic of each basic block (see ArithmeticTable). The prelude's own
/// arithmetic counts only where a `ks_operation` mark says so;
/// - what -fsanitize=bounds reports goes to ks_beyond_local, or for other arrays than a thread's
/// own to ks_beyond_other; what -fsanitize=object-size reports goes to ks_beyond_object;
/// - a `ks_outcome` mark becomes code that notes the outcome of a watched condition (see
/// ConditionTable).
[[nodiscard]] std::string annotateAssembly(std::string_view assembly,
                                           const AssemblyOptions& options);

} // namespace kernelskill::engine
