/// Describes the ways to do the work of a place, or of a whole model.
#pragma once

#include "engine/graph/model/model_files.h"
#include "engine/graph/model/model_plan.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/tolerance.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// A variant is as exact as its products are. The least exact comes first.
enum class Exactness : std::uint8_t {
    TF32,
    SplitBFloat16,
    SplitBFloat16InSteps, ///< With sums in steps: a third of the error where terms are many.
    SplitTF32,
    Float32,   ///< Own kernels without tensor cores.
    AsPyTorch, ///< A library, as the eager program that the judge allows for at the tolerance.
};

struct ModelVariant {
    std::string what; ///< "a library in TF32", "own kernels: ...".
    bool isLibrary = false;
    ContractionChoice own; ///< Not looked at if a library does the work.
    ModelOptions options;  ///< The options that it is planned with.
    ModelFiles files = {};
    Exactness exactness = Exactness::AsPyTorch;
};

/// Whether the node is a product that PyTorch computes without TF32 unless it is told to; of
/// convolutions it is the other way round.
[[nodiscard]] bool isProduct(const Node& node);
/// Whether a model has to ask for float32 of the library that runs the node, so that it is as exact
/// as the eager program that the judge allows for at the tolerance. `allowsTf32`: whether libraries
/// compute products in TF32 otherwise.
[[nodiscard]] bool needsFloat32(const Node& node, Tolerance tolerance, bool allowsTf32);
/// Returns the names of all such nodes.
[[nodiscard]] std::set<std::string> float32NodesOf(const Program& program, Tolerance tolerance,
                                                   bool allowsTf32);

/// Returns how exact own kernels are if their products use the unit of the choice.
[[nodiscard]] Exactness exactnessOf(const ContractionChoice& own, const ModelPlan& plan);
/// Returns the units that are more exact, the most exact one first.
[[nodiscard]] std::vector<MultiplyUnit> moreExactUnits(MultiplyUnit than);

/// Returns a rough bound of the seconds of a call, to compare places with each other.
[[nodiscard]] double secondsOf(const ModelPlan& plan);
/// Returns how the kernel with the most work shares it out; empty if there is no kernel.
[[nodiscard]] std::string scheduleOf(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
