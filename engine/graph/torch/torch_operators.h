/// Finds the operators of a program in LibTorch.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/aten.h"

#include <functional>
#include <memory>
#include <string_view>

namespace kernelskill::engine::graph {

struct TorchOperator {
    std::shared_ptr<const c10::FunctionSchema> schema;
    /// Replaces the arguments, one for each parameter of the schema, by the results. Throws
    /// c10::Error.
    std::function<void(torch::jit::Stack&)> call;
    bool isDecomposed = false; ///< LibTorch lacks it; it is put together from others.
};

/// "aten.linear.default": of ATen's dispatcher, if it has the operator with all parameters that
/// newer versions have, else of decompositions.h. Unsupported, with the reason, for operators that
/// run a subgraph, change an argument in place, or are unknown.
[[nodiscard]] Result<TorchOperator> torchOperator(std::string_view target);

} // namespace kernelskill::engine::graph
