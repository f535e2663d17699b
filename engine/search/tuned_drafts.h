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
    Standing standing; ///< The measurements of `before`.
    skills::Offer offer;
    skills::Accuracy accuracy; ///< The edit's promise, compared with `before`.
};

/// A version with another option for one of its steps, and the later steps made again.
struct TunedDraft {
    RankedSkill plan; ///< The step with the other option.
    Draft draft;      ///< Its edits change the version; its accuracy compares with the original.
    std::vector<AppliedStep> path;
};

/// Returns the versions that differ from `version`, to which `path` leads, in the option of one
/// step, those with another last step first. Leaves out code whose hash is in `known`, to which it
/// adds the results', and changes of steps that a later step no longer fits. Goes back no further
/// than to a step of a language model.
[[nodiscard]] std::vector<TunedDraft> tunedDrafts(const OptimizationSteps& steps,
                                                  const std::vector<AppliedStep>& path,
                                                  const KernelVersion& version,
                                                  std::set<std::uint64_t>& known,
                                                  const std::stop_token& stop);

} // namespace kernelskill::engine
