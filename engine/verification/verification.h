/// The judgement of a change that somebody made by hand, as plain data.
#pragma once

#include "engine/execution/profile.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/verdict.h"
#include "engine/verification/change_outcome.h"
#include "engine/verification/kernel_changes.h"
#include "engine/verification/program_trial.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A verdict that is Invalid is Wrong if it is about the edit, else NotJudged.
[[nodiscard]] ChangeOutcome outcomeOf(const Verdict& verdict);

struct JudgedKernel {
    KernelChange change;
    ChangeOutcome outcome = ChangeOutcome::Right;
    /// nullopt if there is nothing to compare: the kernel is new, gone, or has a new name alone.
    std::optional<Verdict> verdict;
    /// Why it is wrong; nullopt if only the verdict is known.
    std::optional<CandidateDiagnosis> diagnosis;
    /// The result for a kernel without a verdict, in one sentence without a full stop.
    std::string note;
    std::vector<Hazard> hazards; ///< The hazards of a new kernel.
    /// The trial in the user's program; nullopt if none was asked for, or if it was wrong before.
    std::optional<ProgramTrial> inProgram;
    double seconds = 0; ///< The time of the review.
};

/// The code around the kernels: what the host asks of the GPU, and whether all of it compiles.
struct JudgedHost {
    ChangeOutcome outcome = ChangeOutcome::Right;
    std::string detail; ///< One sentence without a full stop.
};

struct Verification {
    std::vector<JudgedKernel> kernels; ///< The kernels that the change is about.
    std::vector<std::string> unchanged;
    std::optional<JudgedHost> host; ///< nullopt if the change keeps what the host asks.
    std::string diff;               ///< A unified diff of all files.
    double seconds = 0;

    /// The worst of all.
    [[nodiscard]] ChangeOutcome outcome() const;
};

/// "3 kernels changed: 1 removed, 1 right, 1 wrong (saxpy)", "no kernel changed"
[[nodiscard]] std::string summaryOf(const Verification& verification);

} // namespace kernelskill::engine
