#include "engine/graph/operators.h"
#include "engine/graph/torch/decompositions.h"
#include "engine/graph/torch/torch_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::HasSubstr;

TEST(TorchOperators, HaveEachOperatorThatLaterStagesKnow) {
    EXPECT_EQ(knownOperators().size(), 106u);
    for (const Operator& known : knownOperators()) {
        const auto found = torchOperator(known.target);
        EXPECT_TRUE(found) << known.target << ": " << found.error().describe();
    }
}

TEST(TorchOperators, SayWhyTheyAreNotRun) {
    const auto reason = [](std::string_view target) { return torchOperator(target).error().what; };
    EXPECT_THAT(reason("aten.nonsense.default"), HasSubstr("unknown to LibTorch"));
    EXPECT_THAT(reason("aten.linear.backwards"), HasSubstr("unknown to LibTorch"));
    EXPECT_THAT(reason("aten.relu_.default"), HasSubstr("in place"));
    EXPECT_THAT(reason("aten.add.out"), HasSubstr("in place"));
    EXPECT_THAT(reason("higher_order.while_loop"), HasSubstr("subgraph"));
    for (const char* target : {"", ".", "..", "linear", "aten.linear"})
        EXPECT_FALSE(torchOperator(target)) << target;
}

/// Calls the decomposition, whatever this LibTorch has.
torch::jit::Stack decomposed(std::string_view target, torch::jit::Stack arguments) {
    for (const Decomposition& decomposition : decompositions()) {
        if (decomposition.target == target) {
            decomposition.call(arguments);
            return arguments;
        }
    }
    ADD_FAILURE() << target << " is not decomposed";
    return {};
}

at::Tensor randomTensor(at::IntArrayRef sizes) {
    return at::randn(sizes, at::TensorOptions().dtype(at::kDouble));
}

void expectClose(const at::Tensor& left, const at::Tensor& right) {
    ASSERT_EQ(left.sizes(), right.sizes());
    EXPECT_TRUE(at::allclose(left, right, 1e-10, 1e-10)) << left << right;
}

/// Attention row by row.
at::Tensor plainAttention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          double scale, bool isCausal) {
    auto result = at::zeros_like(query);
    for (std::int64_t row = 0; row < query.size(0); ++row) {
        double total = 0;
        for (std::int64_t other = 0; other < (isCausal ? row + 1 : key.size(0)); ++other) {
            const double weight = std::exp(scale * (query[row] * key[other]).sum().item<double>());
            total += weight;
            result[row] += weight * value[other];
        }
        result[row] /= total;
    }
    return result;
}

torch::jit::Stack attentionArguments(at::Tensor query, at::Tensor key, at::Tensor value) {
    return {query, key, value, c10::IValue(), 0.0, false, c10::IValue(), false};
}

TEST(Decompositions, AttendAsWritten) {
    at::manual_seed(1);
    const auto query = randomTensor({5, 4});
    const auto key = randomTensor({5, 4});
    const auto value = randomTensor({5, 4});
    constexpr auto target = "aten.scaled_dot_product_attention.default";
    auto arguments = attentionArguments(query, key, value);
    expectClose(decomposed(target, arguments)[0].toTensor(),
                plainAttention(query, key, value, 0.5, false));
    arguments[5] = true;
    expectClose(decomposed(target, arguments)[0].toTensor(),
                plainAttention(query, key, value, 0.5, true));
    arguments[6] = 0.25;
    expectClose(decomposed(target, arguments)[0].toTensor(),
                plainAttention(query, key, value, 0.25, true));
}

TEST(Decompositions, AttendBehindMasks) {
    at::manual_seed(2);
    const auto query = randomTensor({2, 3, 4});
    const auto value = randomTensor({2, 3, 4});
    constexpr auto target = "aten.scaled_dot_product_attention.default";
    auto causal = attentionArguments(query, query, value);
    causal[5] = true;
    const auto expected = decomposed(target, causal)[0].toTensor();
    const auto visible = at::ones({3, 3}, at::TensorOptions().dtype(at::kBool)).tril();
    auto masked = attentionArguments(query, query, value);
    masked[3] = visible;
    expectClose(decomposed(target, masked)[0].toTensor(), expected);
    masked[3] = at::zeros({3, 3}, at::TensorOptions().dtype(at::kDouble))
                    .masked_fill(visible.logical_not(), -INFINITY);
    expectClose(decomposed(target, masked)[0].toTensor(), expected);
    masked[3] = at::zeros({3, 3}, at::TensorOptions().dtype(at::kBool));
    expectClose(decomposed(target, masked)[0].toTensor(), at::zeros_like(value));
}

TEST(Decompositions, AttendWithGroupedHeads) {
    at::manual_seed(3);
    const auto query = randomTensor({4, 3, 2});
    const auto key = randomTensor({2, 3, 2});
    const auto value = randomTensor({2, 3, 2});
    auto arguments = attentionArguments(query, key, value);
    arguments[7] = true;
    const auto result =
        decomposed("aten.scaled_dot_product_attention.default", arguments)[0].toTensor();
    for (std::int64_t head = 0; head < 4; ++head)
        expectClose(result[head], plainAttention(query[head], key[head / 2], value[head / 2],
                                                 1 / std::sqrt(2.0), false));
}

TEST(Decompositions, Normalise) {
    at::manual_seed(4);
    const auto input = randomTensor({2, 3, 4});
    const auto weight = randomTensor({3});
    const auto mean = randomTensor({3});
    const auto variance = randomTensor({3}).abs();
    const auto shaped = [](const at::Tensor& each) { return each.view({1, 3, 1}); };
    const auto batch = decomposed("aten._native_batch_norm_legit_no_training.default",
                                  {input, weight, c10::IValue(), mean, variance, 0.1, 1e-5});
    ASSERT_EQ(batch.size(), 3u);
    expectClose(batch[0].toTensor(),
                (input - shaped(mean)) / (shaped(variance) + 1e-5).sqrt() * shaped(weight));
    const auto scale = randomTensor({3, 4});
    const auto root =
        decomposed("aten.rms_norm.default",
                   {input, c10::IValue(std::vector<std::int64_t>{3, 4}), scale, 1e-5});
    expectClose(root[0].toTensor(),
                input / ((input * input).mean({1, 2}, true) + 1e-5).sqrt() * scale);
}

TEST(Decompositions, DropDimensions) {
    const auto input = randomTensor({1, 2, 1, 3});
    const auto squeezed =
        decomposed("aten.squeeze.dims", {input, c10::IValue(std::vector<std::int64_t>{0, -2, 1})});
    EXPECT_EQ(squeezed[0].toTensor().sizes(), at::IntArrayRef({2, 3}));
    EXPECT_EQ(decomposed("aten.sym_size.int", {input, -1})[0].toInt(), 3);
}

} // namespace
} // namespace kernelskill::engine::graph
