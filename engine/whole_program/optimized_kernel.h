/// The outcome of optimising one kernel of a program. Plain data.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/whole_program/program_profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

enum class KernelOutcome : std::uint8_t { Kept, TakenBack, NothingBetter, NotSearched };
/// "kept", "taken-back", "nothing-better", "not-searched"
[[nodiscard]] std::string_view spelling(KernelOutcome outcome);

struct OptimizedKernel {
    KernelShare share;
    double saving = 1;  ///< The part of its time that a perfect kernel would save, see
                        ///< savingAtMost().
    double seconds = 0; ///< The time of its search.
    std::optional<Optimization> found; ///< nullopt if no search came to an end.
    KernelOutcome outcome = KernelOutcome::NotSearched;
    std::string why; ///< Empty if it was kept.
    /// The speedup of its launches in the program; nullopt if it was not kept, or if the edited
    /// program does not launch it.
    std::optional<double> speedup;
};

} // namespace kernelskill::engine
