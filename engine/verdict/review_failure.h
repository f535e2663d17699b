/// The observations of a review about an edit that it refused. The Diagnoser uses them.
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
    Edit,     ///< The edit changes nothing or cannot be applied.
    Order,    ///< The host requests other work, or in another order.
    Width,    ///< It keeps fewer bits of a position than the position may need.
    Hardware, ///< It breaks a rule of GPUs that no emulated run shows.
    Parse,    ///< The edit adds a compile error or leaves no kernel.
    Compile,  ///< A compiler after the parser refuses it.
    Run,      ///< It does not run to its end.
    Hazards,  ///< It adds a hazard.
    Outputs,  ///< It computes something else.
    Reach     ///< No run shows what it changes.
};

/// The position of a trial among those of a review.
struct TrialPlace {
    std::string label;       ///< "n=1023"
    bool isFileSize = false; ///< True for the shape that the file launches, which is tried first.
    int seedNumber = 1;      ///< Counts from 1.
    std::uint64_t seed = 0;
    bool isOnGpu = false;
    LaunchSpec launch; ///< The launch of the candidate.
};

struct ReviewFailure {
    ReviewStage stage = ReviewStage::Edit;
    std::optional<TrialPlace> trial = {}; ///< Set for Run, Hazards and Outputs.
    std::optional<Error> error = {};      ///< Set for Compile and Run.
    /// For Hazards: the new ones; empty if another tool than the emulator found them. For Outputs:
    /// new suspicions.
    std::vector<Hazard> hazards = {};
    std::optional<Difference> difference = {}; ///< For Outputs; nullopt if sizes differ.
    /// For Outputs: the number of inputs on which the candidate agreed before.
    int agreedBefore = 0;
};

} // namespace kernelskill::engine
