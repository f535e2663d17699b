/// Tensors of programs as LibTorch's, and back.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/torch/aten.h"

#include <string>

namespace kernelskill::engine::graph {

/// A copy on the CPU. InvalidInput, with `name`, if the storage does not hold the tensor.
[[nodiscard]] Result<at::Tensor> tensorOf(const TensorData& data, const std::string& name);

/// A contiguous copy of a strided tensor of any device. Unsupported for element types that
/// archives do not know, and for sparse tensors.
[[nodiscard]] Result<TensorData> dataOf(const at::Tensor& tensor);

} // namespace kernelskill::engine::graph
