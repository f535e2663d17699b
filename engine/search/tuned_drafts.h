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
    Standing standing; ///< Of `before`, as far as it is known.
    skills::Offer offer;
    skills::Accuracy accuracy; ///< What it promises of `before`.
};

/// A version with another option for one of its steps, and the later steps made again.
struct TunedDraft {
    RankedSkill plan; ///< Of the step with the other option.
    Draft draft;      ///< Its edits are against the version, what it promises is of the original.
    std::vector<AppliedStep> path;
};

/// All that differ from `version`, which `path` leads to, in one step's option, the last step's
/// first. Leaves out code in `known`, which each result's is added to, and steps that a later one
/// does not fit or that a language model carries out.
[[nodiscard]] std::vector<TunedDraft> tunedDrafts(const OptimizationSteps& steps,
                                                  const std::vector<AppliedStep>& path,
                                                  const KernelVersion& version,
                                                  std::set<std::uint64_t>& known,
                                                  const std::stop_token& stop);

} // namespace kernelskill::engine
