/// One trial of the gate: a candidate computes on two sets of inputs, and on the first once more.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/candidate.h"
#include "engine/graph/torch/referee.h"
#include "engine/graph/torch/trial_tensors.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// The parties of all trials of one set of extents. They outlive the trials.
struct Contest {
    const Candidate& candidate;
    const TrialTensors& model;
    const Referee& referee;
    const PreparedProgram& eager; ///< Runs library nodes, and is timed.
};

struct TrialPlan {
    Draw first, second; ///< The first one's seed is that of the weights, too.
    bool isOnDefaultStream = false;
};

/// Trials that use each distribution once.
inline constexpr std::size_t leastTrials = 3;

/// The trial of that number; `seed` is that of the first one.
[[nodiscard]] TrialPlan trialPlan(std::uint64_t seed, std::size_t number);

struct TrialOutcome {
    std::vector<TrialResult> results;   ///< One for each of the two sets of inputs.
    std::set<std::string> libraryNodes; ///< The nodes that the candidate left to a library.
    /// An offence of the candidate that no honest one commits; empty if there is none. Then there
    /// are no results.
    std::string refusal;
    /// Whether the reference's outputs for both inputs are the same, up to a hundredth of their
    /// magnitude.
    bool isOutputConstant = false;
};

/// The candidate runs before the reference does, on memory of which every byte that it has to write
/// is poisoned. Its inputs are written by the stream that it is given, behind work that takes
/// milliseconds: what it does on another stream, or outputs that are not ready when this stream is,
/// are seen. An error is not the candidate's.
[[nodiscard]] Result<TrialOutcome> runTrial(const Contest& contest, const TrialPlan& plan);

/// The tensors that the program begins with, for a run of the reference: the weights, the inputs,
/// and numbers.
[[nodiscard]] Values valuesFor(const PreparedProgram& program, const TrialTensors& model,
                               const std::vector<at::Tensor>& weights,
                               const std::vector<at::Tensor>& inputs);

/// Whether outputs repeat earlier ones: bit by bit, but within the tight tolerance where a library,
/// whose algorithms may add up in any order, computed a part.
[[nodiscard]] bool areRepeated(const std::vector<at::Tensor>& outputs,
                               const std::vector<at::Tensor>& earlier, bool usesLibrary);

} // namespace kernelskill::engine::graph
