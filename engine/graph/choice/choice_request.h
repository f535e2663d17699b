/// Says what to choose the variants of a model's places for.
#pragma once

#include "engine/graph/model/model_plan.h"
#include "engine/graph/reference/tolerance.h"

#include <functional>
#include <string>

namespace kernelskill::engine::graph {

/// Names the model whose variants are chosen by times, and what they may be.
struct ChoiceRequest {
    std::string name; ///< The model's.
    /// `kernels.multiply` is as inexact as a variant may be; `usesLibraries` and `libraryNodes` are
    /// not looked at.
    ModelOptions options;
    Tolerance tolerance = Tolerance::Loose; ///< The model has to be right at it.
    /// Names all that times depend on beside the text: GPU, LibTorch and compiler.
    std::string machine;
    std::function<void(const std::string& what, double share)> progress;
};

} // namespace kernelskill::engine::graph
