/// What a search holds while it runs: the texts that it kept, and the plans of a round.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/optimization/stepping_stone.h"
#include "engine/review/reviewer.h"
#include "engine/search/draft.h"
#include "engine/search/round_plans.h"
#include "engine/search/rounds_ahead.h"
#include "engine/search/sum_ahead.h"
#include "engine/search/tuned_drafts.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A text that the search kept. Version 0 is the original.
struct SearchVersion {
    int number = 0;
    KernelVersion text;
    Standing standing;
    std::uint64_t codeHash = 0;
    /// The gain over the original, as far as its steps were compared; used for ranking.
    double gain = 1;
    skills::Accuracy accuracy = {}; ///< What all steps together promise.
    std::vector<std::string> skills;
    std::vector<AppliedStep> path;      ///< The steps from the original to this version.
    std::size_t attempt = 0;            ///< The attempt that made this version.
    bool isTuned = false;               ///< See SearchCandidate::tunedPath.
    bool isVerified = false;            ///< Whether the whole was reviewed in this run.
    bool isDropped = false;             ///< Whether that review failed.
    std::shared_ptr<SumAhead> sumAhead; ///< That review, if it was begun early; null if not.
    std::optional<Verdict> sum;         ///< The verdict of that review.
    TriedPlans tried;
    TriedPlans slower;      ///< Plans on it that were clearly slower than its base.
    PreparedPlans prepared; ///< Plans for it whose texts were made and that no round reviewed.

    /// The version that edits of this one are compared with: itself; for a stepping stone, the last
    /// before it that is none.
    std::size_t base = 0;
    int steps = 0; ///< The stepping stones since `base`, this one included; 0 if it is none.
    skills::Accuracy sinceBase = {}; ///< What these steps promise.
    bool isAssessed = true;          ///< Whether `standing` is of this text, and not of `base`.
    bool needsCounts = false;        ///< See SteppingStone; decided once it is assessed.
    /// Whether it is a stepping stone that does not answer the leading bottleneck: what holds the
    /// kernel back is as before.
    bool leavesBottleneck = false;

    [[nodiscard]] bool isStep() const { return steps > 0; }
};

/// A plan during a round.
struct SearchCandidate {
    std::size_t version = 0; ///< The index of the version that it edits.
    Attempt attempt;
    std::optional<Draft> draft;
    /// The steps from the original, if this is the version with another option for one of its
    /// steps. Its outcome is not remembered, since it is no skill's edit of the version's text.
    std::vector<AppliedStep> tunedPath;
    bool isScreened = false; ///< Whether `screening` is known.
    /// Tells what the look showed, beside the version that it is compared with.
    Result<Screening> screening = notTimed("not looked at");
    /// The review against the original, which goes on beside that against the version; null if it
    /// was not begun.
    std::shared_ptr<SumAhead> sumAhead;
    /// The fastest of its round at a glance: if the search has nothing yet when its time is over,
    /// it may take as long again to finish this review.
    bool isPromising = false;
    std::optional<SteppingStone> step; ///< It gains nothing, and may be built on.
    bool isReviewed = false;           ///< Whether it took the time of a review.
    bool isSettled = false;            ///< Nothing needs to run for it.
    bool isCutOff = false;             ///< Stopped before a decision.

    [[nodiscard]] bool isTuned() const { return !tunedPath.empty(); }
};

} // namespace kernelskill::engine
