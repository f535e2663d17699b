/// Reductions in two steps compute the same numbers, and are split where that gives more threads
/// work.
#include "analysis/raise/builder.h"
#include "analysis/raise/channels_last.h"
#include "analysis/raise/split_reductions.h"
#include "tests/analysis/raise/interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelskill::analysis::raise {
namespace {

constexpr ScalarKind real = ScalarKind::Float;

Tensor images(Builder& builder, const std::vector<Index>& shape) {
    return builder.input("x", real, shape, Buffer::Role::Input, "x");
}

const Computation& step(const Program& program, std::size_t number) {
    return std::get<Computation>(program.steps.at(number));
}

std::int64_t countOf(const std::vector<Axis>& axes) {
    return elementsOf(extentsOf(axes)).constant().value_or(-1);
}

/// Expects the same outputs from both, up to rounding.
void expectSame(const Program& before, const Program& after) {
    Memory one(before.buffers.size());
    const auto count = static_cast<std::size_t>(*elementsOf(before.buffers[0].shape).constant());
    for (std::size_t i = 0; i < count; ++i)
        one[0].push_back(static_cast<double>((i * 37) % 101) / 8 - 5);
    Memory other = one;
    ASSERT_TRUE(interpret(before, one));
    const auto done = interpret(after, other);
    ASSERT_TRUE(done) << done.error() << textOf(after);
    for (std::size_t buffer = 0; buffer < before.buffers.size(); ++buffer)
        if (before.buffers[buffer].role == Buffer::Role::Output) {
            ASSERT_EQ(one[buffer].size(), other[buffer].size());
            for (std::size_t i = 0; i < one[buffer].size(); ++i)
                ASSERT_NEAR(one[buffer][i], other[buffer][i], 1e-3) << textOf(after);
        }
}

TEST(SplitReductions, GiveEachThreadAPartOfAChannelInChannelsLastOrder) {
    Builder builder;
    const Tensor x = fromChannelsLast(images(builder, {3, 25, 7, 40}));
    for (const Reducer reducer : {Reducer::Sum, Reducer::Maximum})
        (void)builder.output(builder.reduced(reducer, x, {0, 2, 3}, false, "channels"), "y");
    const Program before = builder.take();
    const Program after = withSplitReductions(before);
    ASSERT_EQ(after.steps.size(), 4u) << textOf(after);
    // 525 elements of each of 40 channels: parts of at least 64.
    EXPECT_GE(countOf(step(after, 0).axes), 40 * 4) << textOf(after);
    EXPECT_EQ(step(after, 0).axes.back().extent->constant(), 40) << "neighbours are channels";
    EXPECT_EQ(countOf(step(after, 1).axes), 40);
    expectSame(before, after);
}

TEST(SplitReductions, MakePartsOfTheFewChannelsOfAGroup) {
    Builder builder;
    const Tensor x = fromChannelsLast(images(builder, {2, 9, 30, 12}));
    const Tensor groups = reshaped(x, {2, 3, 4, 270});
    (void)builder.output(builder.reduced(Reducer::Sum, groups, {2, 3}, false, "groups"), "y");
    const Program before = builder.take();
    const Program after = withSplitReductions(before);
    ASSERT_EQ(after.steps.size(), 2u) << textOf(after);
    // Four channels of a group are four parts, of which the second step makes one result.
    EXPECT_EQ(step(after, 0).axes.back().extent->constant(), 4) << textOf(after);
    EXPECT_EQ(countOf(step(after, 1).axes), 6);
    expectSame(before, after);
}

TEST(SplitReductions, PutNeighboursLastWhereTheyAreNotSplit) {
    Builder builder;
    // Too few elements for parts.
    const Tensor x = fromChannelsLast(images(builder, {2, 3, 5, 12}));
    const Tensor groups = reshaped(x, {2, 3, 4, 15});
    (void)builder.output(builder.reduced(Reducer::Sum, groups, {2, 3}, false, "groups"), "y");
    const Program before = builder.take();
    const Program after = withSplitReductions(before);
    ASSERT_EQ(after.steps.size(), 1u) << textOf(after);
    EXPECT_EQ(step(before, 0).reduced.back().extent->constant(), 15);
    EXPECT_EQ(step(after, 0).reduced.back().extent->constant(), 4) << textOf(after);
    expectSame(before, after);
}

TEST(SplitReductions, ReadWholeImagesInTheirOrder) {
    Builder builder;
    const Tensor x = fromChannelsLast(images(builder, {300, 9, 11, 12}));
    (void)builder.output(builder.reduced(Reducer::Sum, x, {1, 2, 3}, false, "images"), "y");
    const Program before = builder.take();
    const Program after = withSplitReductions(before);
    ASSERT_EQ(after.steps.size(), 1u) << textOf(after);
    EXPECT_EQ(step(before, 0).reduced.front().extent->constant(), 12);
    EXPECT_EQ(step(after, 0).reduced.back().extent->constant(), 12) << textOf(after);
    expectSame(before, after);
}

TEST(SplitReductions, LeaveWhatReadsAlongItsElements) {
    Builder builder;
    const Tensor x = images(builder, {300, 2, 14, 14});
    (void)builder.output(builder.reduced(Reducer::Sum, x, {2, 3}, false, "planes"), "y");
    const Program before = builder.take();
    const Program after = withSplitReductions(before);
    EXPECT_EQ(textOf(after), textOf(before));
}

TEST(SplitReductions, LeaveWhatHasAThreadForEachResult) {
    Builder builder;
    const Tensor x = images(builder, {60, 256, 300});
    (void)builder.output(builder.reduced(Reducer::Sum, x, {1}, false, "columns"), "y");
    const Program before = builder.take();
    EXPECT_EQ(textOf(withSplitReductions(before)), textOf(before));
    // A reduction that finds a place cannot be split.
    Builder places;
    const Tensor y = images(places, {60, 256, 30});
    (void)places.output(places.reduced(Reducer::FirstMaximum, y, {1}, false, "columns"), "y");
    const Program same = places.take();
    EXPECT_EQ(textOf(withSplitReductions(same)), textOf(same));
}

} // namespace
} // namespace kernelskill::analysis::raise
