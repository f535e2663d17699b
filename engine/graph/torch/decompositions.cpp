#include "engine/graph/torch/decompositions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using torch::jit::Stack;

template <typename... Results>
void answer(Stack& stack, Results... results) {
    stack.clear();
    (stack.push_back(c10::IValue(std::move(results))), ...);
}

void batchNormWithoutTraining(Stack& stack) {
    auto [result, mean, deviation] = at::native_batch_norm(
        stack[0].toTensor(), stack[1].toOptional<at::Tensor>(), stack[2].toOptional<at::Tensor>(),
        stack[3].toTensor(), stack[4].toTensor(), false, stack[5].toDouble(), stack[6].toDouble());
    answer(stack, std::move(result), std::move(mean), std::move(deviation));
}

/// Each row a distribution; of zeros where everything is masked.
at::Tensor attentionWeights(const at::Tensor& scores) {
    const auto hidden = scores.eq(-std::numeric_limits<double>::infinity()).all(-1, true);
    return at::softmax(scores, -1).masked_fill(hidden, 0.0);
}

void scaledDotProductAttention(Stack& stack) {
    const auto query = stack[0].toTensor();
    auto key = stack[1].toTensor();
    auto value = stack[2].toTensor();
    const double scale = stack[6].isNone() ? 1.0 / std::sqrt(static_cast<double>(query.size(-1)))
                                           : stack[6].toDouble();
    if (stack[7].toBool() && query.dim() >= 3) {
        const std::int64_t heads = query.size(-3);
        key = key.repeat_interleave(heads / key.size(-3), -3);
        value = value.repeat_interleave(heads / value.size(-3), -3);
    }
    constexpr double minusInfinity = -std::numeric_limits<double>::infinity();
    auto scores = at::matmul(query, key.transpose(-2, -1)) * scale;
    if (stack[5].toBool()) {
        const auto visible =
            at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)).tril();
        scores = scores.masked_fill(visible.logical_not(), minusInfinity);
    }
    if (!stack[3].isNone()) {
        const auto mask = stack[3].toTensor();
        scores = mask.scalar_type() == at::kBool
                     ? scores.masked_fill(mask.logical_not(), minusInfinity)
                     : scores + mask;
    }
    const double dropout = stack[4].toDouble();
    auto weights = attentionWeights(scores);
    if (dropout > 0)
        weights = at::dropout(weights, dropout, true);
    answer(stack, at::matmul(weights, value));
}

void rmsNorm(Stack& stack) {
    const auto input = stack[0].toTensor();
    std::vector<std::int64_t> dimensions;
    for (std::int64_t i = static_cast<std::int64_t>(stack[1].toIntVector().size()); i > 0; --i)
        dimensions.push_back(-i);
    const double epsilon = stack[3].isNone() ? input.scalar_type() == at::kDouble
                                                   ? std::numeric_limits<double>::epsilon()
                                                   : std::numeric_limits<float>::epsilon()
                                             : stack[3].toDouble();
    auto result = input * at::rsqrt(at::mean(input * input, dimensions, true) + epsilon);
    if (!stack[2].isNone())
        result = result * stack[2].toTensor();
    answer(stack, std::move(result));
}

void squeezeDimensions(Stack& stack) {
    auto result = stack[0].toTensor();
    const std::int64_t rank = result.dim();
    auto dimensions = stack[1].toIntVector();
    for (std::int64_t& dimension : dimensions)
        dimension += dimension < 0 ? rank : 0;
    // The last one goes first, so that those before it keep their numbers.
    std::ranges::sort(dimensions, std::greater());
    for (const std::int64_t dimension : dimensions)
        result = result.squeeze(dimension);
    answer(stack, std::move(result));
}

void sizeOfDimension(Stack& stack) {
    answer(stack, stack[0].toTensor().size(stack[1].toInt()));
}

/// Asserts nothing: the types of the program's values say the same, and they do not hold in another
/// precision.
void assertNothing(Stack& stack) {
    answer(stack);
}

constexpr std::array table{
    Decomposition{
        "aten._native_batch_norm_legit_no_training.default",
        "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? "
        "bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> "
        "(Tensor, Tensor, Tensor)",
        batchNormWithoutTraining},
    Decomposition{"aten.scaled_dot_product_attention.default",
                  "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
                  "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? "
                  "scale=None, bool enable_gqa=False) -> Tensor",
                  scaledDotProductAttention},
    Decomposition{
        "aten.rms_norm.default",
        "aten::rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? "
        "eps=None) -> Tensor",
        rmsNorm},
    Decomposition{"aten.squeeze.dims", "aten::squeeze.dims(Tensor self, int[] dim) -> Tensor",
                  squeezeDimensions},
    Decomposition{"aten.sym_size.int", "aten::sym_size.int(Tensor self, int dim) -> int",
                  sizeOfDimension},
    Decomposition{"aten._assert_tensor_metadata.default",
                  "aten::_assert_tensor_metadata(Tensor a, int[]? size=None, int[]? stride=None, "
                  "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
                  assertNothing},
};

} // namespace

std::span<const Decomposition> decompositions() {
    return table;
}

} // namespace kernelskill::engine::graph
