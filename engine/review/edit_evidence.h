/// Collects from the runs of a review whether they show anything about the edit.
#pragma once

#include "engine/review/atomic_contention.h"
#include "engine/review/edit_reach.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <vector>

namespace kernelskill::engine {

class EditEvidence {
public:
    /// Copies what it needs of both programs; both kernels outlive it.
    EditEvidence(KernelRef original, KernelRef candidate);

    /// Both as they are to be built, so that their runs tell what add() needs.
    [[nodiscard]] KernelRef original() const { return {reach_.original(), original_}; }
    [[nodiscard]] KernelRef candidate() const { return {reach_.candidate(), candidate_}; }

    /// One of them did not compile as it is to be built.
    void loseOutcomes() { reach_.loseOutcomes(); }

    /// See EditReach::trustSteps().
    void trustSteps() { reach_.trustSteps(); }

    /// Adds a pair of runs that agreed.
    void add(const RunPair& pair);

    /// The checks that edited code ran, that atomics which it removes met, and that it does not
    /// compute with a clock.
    [[nodiscard]] std::vector<CheckResult> checks() const;

private:
    const analysis::KernelModel& original_;
    const analysis::KernelModel& candidate_;
    EditReach reach_;
    AtomicContention contention_;
};

} // namespace kernelskill::engine
