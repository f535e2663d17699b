// Tests kernels of windows that share elements.
#include "engine/graph/kernels/window_kernel.h"
#include "engine/graph/kernels/window_reads.h"
#include "tests/engine/graph/kernels/emulated_contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace kernelskill::testing {
namespace {

using namespace analysis::raise;
using analysis::ScalarKind;
using engine::graph::windowKernel;
using engine::graph::windowReads;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ScalarKind real = ScalarKind::Float;

/// Windows along an axis of an image: `size` elements, `dilation` apart, of the next result
/// `stride` further, with as many elements of padding on both sides.
struct Along {
    std::int64_t extent = 40;
    std::int64_t size = 3;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t padding = 1;

    std::int64_t results() const {
        return (extent + 2 * padding - dilation * (size - 1) - 1) / stride + 1;
    }
};

/// A pool of images [planes, extents...], or a depthwise convolution with a weight for each element
/// of a plane's window.
analysis::raise::Program windows(const std::vector<Along>& along, Reducer reducer = Reducer::Sum,
                                 bool hasWeights = false, std::int64_t planes = 3) {
    Builder builder;
    std::vector<Index> shape{planes};
    std::vector<Index> results{planes};
    std::vector<Index> sizes{planes};
    std::vector<std::pair<std::string, Index>> reduced;
    for (const Along& each : along) {
        shape.emplace_back(each.extent);
        results.emplace_back(each.results());
        sizes.emplace_back(each.size);
        reduced.emplace_back("k", each.size);
    }
    const Tensor x = builder.input("x", real, shape, Buffer::Role::Input, "x");
    std::optional<Tensor> weight;
    if (hasWeights)
        weight = builder.input("w", real, sizes, Buffer::Role::Weight, "w");
    const Tensor sum = builder.reducedBy(
        reducer, real, results, reduced,
        [&](const std::vector<Index>& at, const std::vector<Index>& k) {
            std::vector<Index> position{at[0]};
            std::vector<Index> weightAt{at[0]};
            for (std::size_t i = 0; i < along.size(); ++i) {
                position.push_back(Index(along[i].stride) * at[i + 1] +
                                   Index(along[i].dilation) * k[i] - Index(along[i].padding));
                weightAt.push_back(k[i]);
            }
            Scalar value = x.at(position);
            const Scalar outside = number(real, reducer == Reducer::Sum ? 0 : -1e30);
            for (std::size_t i = 0; i < along.size(); ++i)
                if (along[i].padding > 0)
                    value =
                        select(isInside(position[i + 1], Index(along[i].extent)), value, outside);
            return weight ? call(real, Function::Multiply, {value, weight->at(weightAt)}) : value;
        },
        "sums");
    (void)builder.output(mapped(sum, real,
                                [](const Scalar& value) {
                                    return call(real, Function::Divide, {value, number(real, 3)});
                                }),
                         "result");
    return builder.take();
}

class WindowKernels : public EmulatedContraction {
protected:
    double errorIn(const analysis::raise::Program& program) {
        const auto kernel = windowKernel(program, contractionIn(program));
        EXPECT_TRUE(kernel);
        return kernel ? errorOf(program, *kernel, textOf(*kernel)) : 1;
    }
    static bool isFor(const analysis::raise::Program& program) {
        return windowKernel(program, contractionIn(program)).has_value();
    }
};

TEST_F(WindowKernels, ReduceWindowsAlongTwoAndThreeAxes) {
    EXPECT_LT(errorIn(windows({{}, {.extent = 70}})), 1e-6);
    EXPECT_LT(errorIn(windows({{.size = 5, .padding = 2}, {.extent = 70, .stride = 2}})), 1e-6);
    EXPECT_LT(errorIn(windows({{.size = 7, .stride = 2}, {.size = 2}})), 1e-6);
    EXPECT_LT(errorIn(windows({{.size = 5, .dilation = 2}, {.size = 2}})), 1e-6);
    EXPECT_LT(errorIn(windows({{.extent = 9}, {.extent = 11}, {.extent = 33}})), 1e-6);
}

TEST_F(WindowKernels, ComputeResultsOfWhichSomeThreadsHaveFewer) {
    for (const std::int64_t extent : {8, 9, 10, 11})
        EXPECT_LT(errorIn(windows({{.extent = extent}, {.extent = 33}})), 1e-6) << extent;
}

TEST_F(WindowKernels, ConvolveDepthwiseAndTakeMaxima) {
    EXPECT_LT(errorIn(windows({{}, {.extent = 70}}, Reducer::Sum, true)), 1e-6);
    EXPECT_LT(errorIn(windows({{}, {.extent = 70}}, Reducer::Maximum)), 1e-6);
}

TEST_F(WindowKernels, ComputeTheSameForRandomWindows) {
    std::mt19937 random(7);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    int kernels = 0;
    for (int i = 0; i < 40; ++i) {
        std::vector<Along> along(static_cast<std::size_t>(between(2, 3)));
        for (Along& each : along) {
            each.size = between(1, 5);
            each.stride = between(1, 3);
            each.dilation = between(1, 3);
            each.padding = between(0, 2);
            each.extent = between(12, along.size() == 2 ? 50 : 24);
        }
        const auto program = windows(along, Reducer::Sum, between(0, 1) == 1, between(1, 3));
        const auto kernel = windowKernel(program, contractionIn(program));
        if (!kernel)
            continue;
        ++kernels;
        EXPECT_LT(errorOf(program, *kernel, textOf(*kernel)), 1e-5) << kernel->definition;
    }
    EXPECT_GE(kernels, 10);
}

TEST_F(WindowKernels, LoadOnceWhatWindowsShare) {
    const auto program = windows({{}, {.extent = 128}}, Reducer::Sum, true);
    const auto kernel = windowKernel(program, contractionIn(program));
    ASSERT_TRUE(kernel);
    EXPECT_THAT(kernel->definition, HasSubstr("float reach[6];")) << "3 + 3 rows for 4 results";
    EXPECT_THAT(kernel->definition, ContainsRegex("reach\\[j \\+ k[^]]*\\] \\* w\\["));
    const std::string text = kernel->definition.substr(kernel->definition.rfind("reach[j"));
    EXPECT_THAT(text, Not(HasSubstr("x["))) << "all loads of the image come before";
}

TEST_F(WindowKernels, AreNotForWindowsThatShareLittle) {
    EXPECT_TRUE(isFor(windows({{}, {.extent = 64}})));
    EXPECT_FALSE(isFor(windows({{.size = 2, .stride = 2}, {.extent = 64, .size = 2, .stride = 2}})))
        << "no element is in two of them";
    EXPECT_FALSE(isFor(windows({{.extent = 2048}}))) << "neighbouring threads share already";
    EXPECT_FALSE(isFor(windows({{.extent = 3}, {.extent = 64}}))) << "fewer than four results";
}

TEST_F(WindowKernels, TakeNoLoadOutOfTheBranchThatGuardsIt) {
    // The condition depends on the result and the element, not on their place alone.
    Builder builder;
    const Tensor x = builder.input("x", real, {2048}, Buffer::Role::Input, "x");
    (void)builder.output(builder.reducedBy(
                             Reducer::Sum, real, {2048}, {{"k", 4}},
                             [&](const std::vector<Index>& at, const std::vector<Index>& k) {
                                 const Index place = at[0] + k[0];
                                 return select(isInside(at[0] + Index(2) * k[0], Index(2048)),
                                               x.at({place}), number(real, 0));
                             },
                             "sums"),
                         "result");
    EXPECT_FALSE(isFor(builder.take()));
}

TEST(WindowReads, SayWhichPlaceAnElementHas) {
    const auto program = windows({{.size = 5, .stride = 2, .dilation = 3}}, Reducer::Sum, true);
    std::uint32_t axes = program.axes;
    const auto found = windowReads(contractionIn(program), axes);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].axis.stride, 2);
    EXPECT_EQ(found[0].axis.dilation, 3);
    ASSERT_EQ(found[0].reads.size(), 1U) << "the weight is no part of it";
    EXPECT_THAT(analysis::raise::textOf(found[0].reads[0].place), HasSubstr("place_"));
}

} // namespace
} // namespace kernelskill::testing
