/// Operators that make tensors from nothing, and those that only check.
#include "engine/graph/lowering/lowering.h"

#include <array>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::constantTensor;

Results ones(Lowering& in) {
    return {constantTensor(in.resultType(), in.sizes("size"), 1)};
}
Results zeros(Lowering& in) {
    return {constantTensor(in.resultType(), in.sizes("size"), 0)};
}
Results zerosLike(Lowering& in) {
    return {constantTensor(in.resultType(), in.tensor("self").shape, 0)};
}
/// The reader has checked what it asserts.
Results assertMetadata(Lowering&) {
    return {};
}
Results random(Lowering&) {
    throw NotRaised{"its numbers are those of PyTorch's generator"};
}
Results recurrent(Lowering&) {
    throw NotRaised{"recurrent layers run step by step, and are left to the library"};
}

constexpr std::array creationTable = {
    Rule{"aten._assert_tensor_metadata.default", assertMetadata},
    Rule{"aten.gru.input", recurrent},
    Rule{"aten.lstm.input", recurrent},
    Rule{"aten.ones.default", ones},
    Rule{"aten.randn.default", random},
    Rule{"aten.zeros.default", zeros},
    Rule{"aten.zeros_like.default", zerosLike},
};

} // namespace

std::span<const Rule> creationRules() {
    return creationTable;
}

} // namespace kernelskill::engine::graph
