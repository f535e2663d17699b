/// The result of trying a changed kernel inside a program of the user, as plain data.
#pragma once

#include "engine/replay/replayed_trial.h"
#include "engine/review/timing_verdict.h"
#include "engine/verification/change_outcome.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct ProgramTrial {
    /// Right if the new version computes what the old one does, and Wrong if it computes something
    /// else or fails.
    ChangeOutcome outcome = ChangeOutcome::NotJudged;
    std::string program;      ///< "./program 1024"
    std::uint32_t launch = 1; ///< The number of the kernel's launch.
    /// One sentence without a full stop: "same memory as before (3 allocations, 12 MB), 1.32 times
    /// as fast (1.31 to 1.33, 20 rounds)".
    std::string sentence;
    std::optional<TimingVerdict> timing;       ///< Compares the old version and the new one.
    std::vector<MemoryDifference> differences; ///< The new version's.
    std::uint64_t allocations = 0;
    std::uint64_t allocatedBytes = 0;
    std::uint64_t savedBytes = 0; ///< The memory that the pause took.
    std::vector<std::string> notes;
};

/// The trials of both versions at one launch of the program, which is built from one of them.
[[nodiscard]] ProgramTrial judgeInProgram(const HeldDescription& held, const ReplayedTrial& before,
                                          const ReplayedTrial& after);

} // namespace kernelskill::engine
