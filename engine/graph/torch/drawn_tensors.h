/// Fills tensors by ATen's generators, on their own device: of gigabytes, in milliseconds on a GPU.
#pragma once

#include "engine/graph/reference/judgement.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/torch/aten.h"

#include <cstdint>
#include <string_view>

namespace kernelskill::engine::graph {

/// Fills the tensor on the current stream; the same elements for the same arguments, device and
/// version of LibTorch. A range that is bound is kept to in all distributions.
void drawTensor(const at::Tensor& tensor, const ElementRange& range, Distribution distribution,
                std::uint64_t seed, std::string_view name);

/// Weights are uniform in their range.
void drawWeight(const at::Tensor& tensor, const ElementRange& range, std::uint64_t seed,
                std::string_view name);

} // namespace kernelskill::engine::graph
