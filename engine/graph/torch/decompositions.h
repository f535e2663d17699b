/// Operators that some versions of LibTorch lack, put together from those that all have.
#pragma once

#include "engine/graph/torch/aten.h"

#include <span>
#include <string_view>

namespace kernelskill::engine::graph {

struct Decomposition {
    std::string_view target; ///< "aten.rms_norm.default"
    std::string_view schema; ///< The schema of newer versions of LibTorch.
    /// Replaces the arguments, one for each parameter of the schema, by the results.
    void (*call)(torch::jit::Stack& stack);
};

[[nodiscard]] std::span<const Decomposition> decompositions();

} // namespace kernelskill::engine::graph
