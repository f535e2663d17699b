/// Describes the ways to do the work of a place, or of a whole model.
#pragma once

#include "engine/graph/model/model_files.h"
#include "engine/graph/model/model_plan.h"
#include "engine/graph/program.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// A variant is as exact as its products are. The least exact comes first.
enum class Exactness : std::uint8_t {
    TF32,
    SplitBFloat16,
    SplitTF32,
    Float32,   ///< Own kernels without tensor cores.
    AsPyTorch, ///< A library with PyTorch's defaults.
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
/// Returns the names of the program's products; see isProduct().
[[nodiscard]] std::set<std::string> productsOf(const Program& program);

/// Returns how exact own kernels are whose products may be as inexact as the unit.
[[nodiscard]] Exactness exactnessOf(MultiplyUnit unit, const ModelPlan& plan);
/// Returns the units that are more exact, the most exact one first.
[[nodiscard]] std::vector<MultiplyUnit> moreExactUnits(MultiplyUnit than);

/// Returns a rough bound of the seconds of a call, to compare places with each other.
[[nodiscard]] double secondsOf(const ModelPlan& plan);
/// Returns how the kernel with the most work shares it out; empty if there is no kernel.
[[nodiscard]] std::string scheduleOf(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
