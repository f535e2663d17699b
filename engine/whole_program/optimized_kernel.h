/// The outcome of optimising one kernel of a program. Plain data.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/whole_program/program_profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class KernelOutcome : std::uint8_t {
    Kept,
    TakenBack,
    NothingBetter,
    NotSearched,
    /// Its search has found edits, and all was stopped before the whole program was built, checked
    /// and timed with them.
    Unchecked,
};
/// "kept", "taken-back", "nothing-better", "not-searched", "unchecked"
[[nodiscard]] std::string_view spelling(KernelOutcome outcome);

/// The pause that a kernel was searched on.
struct HeldSearch {
    std::uint32_t launch = 1; ///< The number of the kernel's launch that the program was held at.
    std::uint64_t allocations = 0; ///< The allocations that were compared.
    std::uint64_t allocatedBytes = 0;
    std::uint64_t savedBytes = 0;      ///< The memory that the pause took.
    std::vector<std::string> restarts; ///< Why the program was started again, each time.
    std::string end; ///< Describes an unusual end of the program; empty if it ended as usual.
    /// Whether the held program printed what it prints alone; nullopt if that cannot be told, since
    /// its runs alone differ or it was started again.
    std::optional<bool> isOutputSame;
};

struct OptimizedKernel {
    KernelShare share;
    double saving = 1;  ///< The part of its time that a perfect kernel would save, see
                        ///< savingAtMost().
    double seconds = 0; ///< The time of its search.
    std::optional<Optimization> found; ///< nullopt if no search came to an end.
    /// Set if edits were tried in the program; else they were on a captured launch.
    std::optional<HeldSearch> held;
    std::string notHeld; ///< Why it was not held; empty if it was, or if that was not wanted.
    /// The kernel, by its index in the same result, from whose edited text the search began:
    /// another instantiation of the template. The edits that were found contain its edits.
    std::optional<std::size_t> base;
    KernelOutcome outcome = KernelOutcome::NotSearched;
    std::string why; ///< Empty if it was kept.
    /// The speedup of its launches in the program; nullopt if no edit of its text was kept, or if
    /// the edited program does not launch it.
    std::optional<double> speedup;

    /// Whether both are instantiations of one template, so that an edit of the one's text changes
    /// the other.
    [[nodiscard]] bool sharesTextWith(const OptimizedKernel& other) const;
};

} // namespace kernelskill::engine
