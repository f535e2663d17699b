// Tests kernels that load tiles along another axis than they store.
#include "analysis/raise/channels_last.h"
#include "engine/graph/kernels/transposing_kernel.h"
#include "tests/engine/graph/kernels/emulated_contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kernelskill::testing {
namespace {

using namespace analysis::raise;
using analysis::ScalarKind;
using engine::graph::transposingKernel;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ScalarKind real = ScalarKind::Float;

Scalar sumOf(const Scalar& left, const Scalar& right) {
    return call(real, Function::Add, {left, right});
}

const Computation& mapOf(const analysis::raise::Program& program) {
    return std::get<Computation>(program.steps.back());
}

/// f(x + bias of channels) + y, where x is in channels-last order and the others are not.
analysis::raise::Program fromLast(const std::vector<Index>& shape) {
    Builder builder;
    const Tensor x =
        fromChannelsLast(builder.input("x", real, inChannelsLast(shape), Buffer::Role::Input, "x"));
    const Tensor y = builder.input("y", real, shape, Buffer::Role::Input, "y");
    const Tensor bias = builder.input("line", real, {shape[1]}, Buffer::Role::Input, "line");
    const Tensor result = tensorOf(real, shape, [=](const auto& at) {
        return sumOf(call(real, Function::Tanh, {sumOf(x.at(at), bias.at({at[1]}))}), y.at(at));
    });
    (void)builder.output(result, "result");
    return builder.take();
}

class TransposingKernels : public EmulatedContraction {
protected:
    /// Returns the error of the kernel of the program's map, run on the emulator.
    double errorIn(const analysis::raise::Program& program, const Sizes& sizes = {}) {
        const auto kernel = transposingKernel(program, mapOf(program));
        EXPECT_TRUE(kernel);
        return kernel ? errorOf(program, *kernel, textOf(*kernel), sizes) : 1;
    }
};

TEST_F(TransposingKernels, ComputeTheSameWhateverTheExtents) {
    // A tile holds all, its sides divide them, or they do not.
    for (const std::vector<Index>& shape :
         {std::vector<Index>{2, 20, 5, 7}, {1, 64, 8, 16}, {3, 33, 9, 11}, {2, 70, 1, 37}})
        EXPECT_LT(errorIn(fromLast(shape)), 1e-6);
}

TEST_F(TransposingKernels, ComputeTheSameForExtentsThatTheCallBrings) {
    const auto program = fromLast({Index::size("s0", 1), 40, 6, 6});
    EXPECT_LT(errorIn(program, {{"s0", 3}}), 1e-6);
}

TEST_F(TransposingKernels, BringImagesIntoThatOrder) {
    Builder builder;
    const Tensor x = builder.input("x", real, {2, 40, 5, 9}, Buffer::Role::Input, "x");
    (void)builder.output(inChannelsLast(x), "result");
    EXPECT_LT(errorIn(builder.take()), 1e-12);
}

TEST_F(TransposingKernels, LoadHalvesAsTheyAre) {
    Builder builder;
    const Tensor x = builder.input("x", ScalarKind::Half, {40, 50}, Buffer::Role::Input, "x");
    (void)builder.output(permuted(convertedTensor(x, real), {1, 0}), "result");
    const auto program = builder.take();
    const auto kernel = transposingKernel(program, mapOf(program));
    ASSERT_TRUE(kernel);
    EXPECT_THAT(kernel->definition, HasSubstr("__shared__ __half x_tile[32][33];"));
    EXPECT_THAT(kernel->definition, HasSubstr("__half2float(x_tile[threadIdx.x]["));
}

TEST_F(TransposingKernels, LoadDirectlyWhatGoesAlongTheStores) {
    const auto program = fromLast({2, 64, 8, 8});
    const auto kernel = transposingKernel(program, mapOf(program));
    ASSERT_TRUE(kernel);
    EXPECT_THAT(kernel->definition, HasSubstr("x_tile"));
    EXPECT_THAT(kernel->definition, Not(HasSubstr("y_tile")));
    EXPECT_THAT(kernel->schedule, HasSubstr("transposes a tile of 32 x 32"));
}

TEST_F(TransposingKernels, AreNotForWhatGainsNothing) {
    const auto isTransposed = [](const analysis::raise::Program& program) {
        return transposingKernel(program, mapOf(program)).has_value();
    };
    EXPECT_TRUE(isTransposed(fromLast({2, 17, 32, 32})));
    EXPECT_FALSE(isTransposed(fromLast({2, 3, 32, 32}))) << "three channels fill no tile";
    EXPECT_FALSE(isTransposed(fromLast({9, 64, 4, 4}))) << "nor do sixteen places";
    Builder along;
    const Tensor x = along.input("x", real, {64, 64}, Buffer::Role::Input, "x");
    (void)along.output(mapped(x, real, [](const Scalar& value) { return sumOf(value, value); }),
                       "result");
    EXPECT_FALSE(isTransposed(along.take()));
    Builder sums;
    const Tensor y = sums.input("y", real, {64, 64}, Buffer::Role::Input, "y");
    (void)sums.reduced(Reducer::Sum, permuted(y, {1, 0}), {1}, false, "sums");
    EXPECT_FALSE(isTransposed(sums.take())) << "it reduces";
}

} // namespace
} // namespace kernelskill::testing
