/// Tests what is known of scalars: their affine form, and the intervals of their values.
#include "analysis/raise/affine.h"
#include "analysis/raise/builder.h"
#include "analysis/raise/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

namespace kernelskill::analysis::raise {
namespace {

constexpr ScalarKind real = ScalarKind::Float;

Scalar of(Function function, const Scalar& left, const Scalar& right) {
    return call(real, function, {left, right});
}

TEST(AffineIn, TakesSumsAndProductsApart) {
    const Scalar x = accumulated(real, 0);
    const Scalar w = load(real, 0, {});
    // ((x - 3) * w + x) / 2
    const Scalar value = of(
        Function::Divide,
        of(Function::Add, of(Function::Multiply, of(Function::Subtract, x, number(real, 3)), w), x),
        number(real, 2));
    const auto affine = affineIn(value, x.get());
    ASSERT_TRUE(affine);
    EXPECT_EQ(textOf(affine->scale), "div(add(b0[], 1), 2)");
    EXPECT_EQ(textOf(affine->offset), "div(mul(-3, b0[]), 2)");
    const auto itself = affineIn(x, x.get());
    ASSERT_TRUE(itself);
    EXPECT_EQ(itself->scale, nullptr);
    EXPECT_EQ(itself->offset, nullptr);
}

TEST(AffineIn, RefusesWhatIsNoSum) {
    const Scalar x = accumulated(real, 0);
    const Scalar w = load(real, 0, {});
    EXPECT_FALSE(affineIn(of(Function::Multiply, x, x), x.get()));
    EXPECT_FALSE(affineIn(of(Function::Divide, w, x), x.get()));
    EXPECT_FALSE(affineIn(of(Function::Maximum, x, w), x.get()));
    EXPECT_FALSE(affineIn(call(real, Function::Exponential, {x}), x.get()));
    EXPECT_FALSE(affineIn(converted(converted(x, ScalarKind::Half), real), x.get()));
    EXPECT_FALSE(affineIn(w, x.get()));
}

/// The interval of what `function` makes of an element of an input.
template <typename F>
Interval intervalOf(F function) {
    Builder builder;
    const Tensor x = builder.input("x", real, {4}, Buffer::Role::Input, "x");
    static_cast<void>(builder.kept(mapped(x, real, function), "out", Buffer::Role::Output));
    const Program program = builder.take();
    return Intervals(program).ofBuffer(1);
}

TEST(Intervals, FollowFunctions) {
    const auto sigmoid = intervalOf([](const Scalar& x) {
        const Scalar one = number(real, 1);
        const Scalar power = call(real, Function::Exponential, {call(real, Function::Negate, {x})});
        return of(Function::Divide, one, of(Function::Add, one, power));
    });
    EXPECT_EQ(sigmoid.low, 0);
    EXPECT_EQ(sigmoid.high, 1);
    const auto square = intervalOf([](const Scalar& x) { return of(Function::Multiply, x, x); });
    EXPECT_EQ(square.low, 0);
    EXPECT_TRUE(std::isinf(square.high));
    const auto clamped = intervalOf([](const Scalar& x) {
        return of(Function::Minimum, of(Function::Maximum, x, number(real, -2)), number(real, 3));
    });
    EXPECT_EQ(clamped.low, -2);
    EXPECT_EQ(clamped.high, 3);
    const auto nothing = intervalOf([](const Scalar& x) {
        return of(Function::Multiply, of(Function::Divide, x, number(real, 0)), number(real, 0));
    });
    EXPECT_TRUE(nothing.dividesByZero);
}

TEST(Intervals, AllowForRounding) {
    const auto scaled = intervalOf([](const Scalar& x) {
        const Scalar bounded =
            of(Function::Minimum, of(Function::Maximum, x, number(real, 0)), number(real, 0.3));
        return of(Function::Multiply, bounded, number(real, 0.7));
    });
    EXPECT_EQ(scaled.low, 0);
    EXPECT_GE(scaled.high, static_cast<double>(0.3F * 0.7F));
}

/// Elements of [4, 6] between -1 and 2.
Tensor boundedInput(Builder& builder) {
    const Tensor x = builder.input("x", real, {4, 6}, Buffer::Role::Input, "x");
    return mapped(x, real, [](const Scalar& value) {
        return of(Function::Minimum, of(Function::Maximum, value, number(real, -1)),
                  number(real, 2));
    });
}

TEST(Intervals, OfReductionsDependOnTheirNumber) {
    Builder builder;
    const Tensor bounded = boundedInput(builder);
    static_cast<void>(
        builder.output(builder.reduced(Reducer::Sum, bounded, {1}, false, "sum"), "a"));
    static_cast<void>(
        builder.output(builder.reduced(Reducer::Maximum, bounded, {1}, false, "most"), "b"));
    const Program program = builder.take();
    const Intervals intervals(program);
    EXPECT_LE(intervals.ofBuffer(1).low, -6);
    EXPECT_GE(intervals.ofBuffer(1).high, 12);
    EXPECT_LT(intervals.ofBuffer(1).high, 13);
    EXPECT_EQ(intervals.ofBuffer(2).low, -1);
    EXPECT_EQ(intervals.ofBuffer(2).high, 2);
}

TEST(Intervals, OfSharedScalarsAreThoseOfTheirComputation) {
    Builder builder;
    const Tensor bounded = boundedInput(builder);
    static_cast<void>(
        builder.output(builder.reduced(Reducer::Maximum, bounded, {1}, false, "most"), "a"));
    static_cast<void>(
        builder.output(builder.reduced(Reducer::Sum, bounded, {1}, false, "sum"), "b"));
    const Program program = builder.take();
    const Intervals intervals(program);
    const Scalar shared = accumulated(real, 0);
    double largest = 0;
    for (const Step& step : program.steps) {
        // Each copy has the address of the one before.
        const auto computation = std::get<Computation>(step);
        ScalarIntervals scalars(intervals, computation);
        largest = scalars.of(shared).high;
    }
    EXPECT_GE(largest, 12);
}

} // namespace
} // namespace kernelskill::analysis::raise
