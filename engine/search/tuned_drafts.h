/// Other options of the edits that led to a version.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/search/optimization_steps.h"

#include <cstdint>
#include <set>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// An edit on the way from the original to a version.
struct AppliedStep {
    KernelVersion before;
    Standing standing; ///< How `before` stands, as far as it is known.
    skills::Offer offer;
    skills::Accuracy accuracy; ///< What it promises of `before`.
};

/// A version with another option for one of its steps, and the later steps made again.
struct TunedDraft {
    RankedSkill plan; ///< The plan of the step with the other option.
    /// Its edits are against the version; its accuracy is against the original.
    Draft draft;
    std::vector<AppliedStep> path; ///< The steps from the original to the draft.
};

/// Makes all drafts that differ from `version`, which `path` leads to, in one step's option; the
/// last step's come first. Leaves out drafts whose code is in `known`, to which it adds the code of
/// each result; those that a later step does not fit; and those that would need a language model
/// again.
[[nodiscard]] std::vector<TunedDraft> tunedDrafts(const OptimizationSteps& steps,
                                                  const std::vector<AppliedStep>& path,
                                                  const KernelVersion& version,
                                                  std::set<std::uint64_t>& known,
                                                  const std::stop_token& stop);

} // namespace kernelskill::engine
