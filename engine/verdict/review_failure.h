/// What a review saw of an edit that it refused, as values: for the Diagnoser.
#pragma once

#include "analysis/source/error.h"
#include "engine/comparison/output_comparison.h"
#include "engine/execution/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class ReviewStage : std::uint8_t {
    Edit,    ///< It changes nothing, or cannot be applied.
    Order,   ///< The host asks for other work, or in another order.
    Parse,   ///< It brings a compile error, or leaves no kernel.
    Compile, ///< A compiler behind the parser refuses it.
    Run,     ///< It does not come to its end.
    Hazards, ///< It brings a hazard.
    Outputs  ///< It computes something else.
};

/// Where a trial stands among those of a review.
struct TrialPlace {
    std::string label;       ///< "n=1023"
    bool isFileSize = false; ///< As the file launches it: the shape that is tried first.
    int seedNumber = 1;      ///< From 1.
    std::uint64_t seed = 0;
    bool isOnGpu = false;
    LaunchSpec launch; ///< Of the candidate.
};

struct ReviewFailure {
    ReviewStage stage = ReviewStage::Edit;
    std::optional<TrialPlace> trial = {}; ///< From Run on.
    std::optional<Error> error = {};      ///< Of Compile and Run.
    std::vector<Hazard> hazards = {};     ///< Of Hazards: the new ones. Of Outputs: new suspicions.
    std::optional<Difference> difference = {}; ///< Of Outputs; nullopt where sizes differ.
    /// Of Outputs: inputs on which the candidate agreed before.
    int agreedBefore = 0;
};

} // namespace kernelskill::engine
