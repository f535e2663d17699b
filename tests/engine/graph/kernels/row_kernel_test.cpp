// Kernels of row programs that read rows again, with one thread, a warp or a block a row.
#include "analysis/raise/channels_last.h"
#include "analysis/raise/uses.h"
#include "engine/graph/kernels/row_kernel.h"
#include "tests/engine/graph/kernels/emulated_contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::testing {
namespace {

using namespace analysis::raise;
using analysis::ScalarKind;
using engine::graph::RowProgram;
using engine::graph::RowSchedule;
using At = std::vector<Index>;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float infinity = std::numeric_limits<float>::infinity();

Scalar of(Function function, std::vector<Scalar> arguments) {
    return call(ScalarKind::Float, function, std::move(arguments));
}
Scalar isLess(const Scalar& left, const Scalar& right) {
    return call(ScalarKind::Bool, Function::Less, {left, right});
}

enum class Base : std::uint8_t { Maximum, FiniteMaximum, HalfOfMaximum };

struct WeightedSums {
    std::int64_t rows = 5;
    std::int64_t elements = 1204;
    Base base = Base::Maximum;
    double bound = -0.1;
    float outside = -infinity; ///< The score of elements below `bound`.
    bool addsMaximum = false;
    bool storesReciprocal = false;
};

/// For each row of x, the sum of exp(score - base) * x over its elements. The score is 40 * x, or
/// `outside` for elements below `bound`.
analysis::raise::Program weightedSums(const WeightedSums& wanted) {
    Builder builder;
    const Tensor x = builder.input("x", ScalarKind::Float, {wanted.rows, wanted.elements},
                                   Buffer::Role::Input, "x");
    const auto score = [&](const At& at) {
        return select(isLess(x.at(at), number(ScalarKind::Float, wanted.bound)),
                      number(ScalarKind::Float, wanted.outside),
                      of(Function::Multiply, {x.at(at), number(ScalarKind::Float, 40)}));
    };
    const Tensor maximum = builder.reducedBy(
        Reducer::Maximum, ScalarKind::Float, {wanted.rows}, {{"k", wanted.elements}},
        [&](const At& at, const At& k) { return score({at[0], k[0]}); }, "maximum");
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {wanted.rows}, {{"k", wanted.elements}},
        [&](const At& at, const At& k) {
            const Scalar most = maximum.at({at[0]});
            const Scalar isInfinite =
                call(ScalarKind::Bool, Function::Equal,
                     {of(Function::Absolute, {most}), number(ScalarKind::Float, infinity)});
            const Scalar base = wanted.base == Base::Maximum ? most
                                : wanted.base == Base::HalfOfMaximum
                                    ? of(Function::Multiply, {most, number(ScalarKind::Float, 0.5)})
                                    : select(isInfinite, number(ScalarKind::Float, 0), most);
            const Scalar weight =
                of(Function::Exponential, {of(Function::Subtract, {score({at[0], k[0]}), base})});
            const Scalar element = x.at({at[0], k[0]});
            return of(Function::Multiply,
                      {weight, wanted.addsMaximum ? of(Function::Add, {element, most}) : element});
        },
        "weighted");
    auto program = builder.take();
    Store& store = std::get<Computation>(program.steps.back()).stores.at(0);
    program.buffers[store.buffer].role = Buffer::Role::Output;
    if (wanted.storesReciprocal)
        store.value = of(Function::Divide, {number(ScalarKind::Float, 1), store.value});
    return program;
}

class RowKernels : public EmulatedContraction {
protected:
    static Kernel kernelOf(const analysis::raise::Program& program, const RowSchedule& schedule) {
        const std::vector<bool> none(program.steps.size());
        const auto rows = engine::graph::rowProgramAt(program, Uses(program), 0, none, none);
        EXPECT_TRUE(rows);
        EXPECT_EQ(rows->passes.size(), 2u);
        return rowKernel(program, *rows, schedule);
    }
};

constexpr RowSchedule schedules[] = {
    {.threads = 1}, {.threads = 32, .width = 4}, {.threads = 128}, {.threads = 256, .width = 4}};

TEST_F(RowKernels, FormSumsWithTheMaximumThatTheyAreRelativeTo) {
    for (const RowSchedule& schedule : schedules)
        for (const Base base : {Base::Maximum, Base::FiniteMaximum, Base::HalfOfMaximum}) {
            const auto program = weightedSums({.base = base});
            const Kernel kernel = kernelOf(program, schedule);
            EXPECT_THAT(kernel.schedule, HasSubstr("one pass forms its maximum"));
            EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 2e-5) << textOf(kernel);
        }
}

TEST_F(RowKernels, AddUpNothingWhereAllElementsAreNegativeInfinities) {
    for (const RowSchedule& schedule : schedules) {
        const auto program =
            weightedSums({.rows = 2, .elements = 300, .base = Base::FiniteMaximum, .bound = 2});
        const Kernel kernel = kernelOf(program, schedule);
        EXPECT_EQ(errorOf(program, kernel, textOf(kernel)), 0) << textOf(kernel);
    }
}

TEST_F(RowKernels, OverflowWhereATermDoes) {
    // The base of an infinite maximum is 0, so the sum is infinite and its reciprocal 0.
    for (const RowSchedule& schedule : schedules) {
        const auto program = weightedSums({.rows = 2,
                                           .elements = 300,
                                           .base = Base::FiniteMaximum,
                                           .outside = infinity,
                                           .storesReciprocal = true});
        const Kernel kernel = kernelOf(program, schedule);
        EXPECT_EQ(errorOf(program, kernel, textOf(kernel)), 0) << textOf(kernel);
    }
}

TEST_F(RowKernels, ReadTheRowAgainForOtherSums) {
    const auto program = weightedSums({.addsMaximum = true});
    const Kernel kernel = kernelOf(program, schedules[2]);
    EXPECT_THAT(kernel.schedule, Not(HasSubstr("one pass")));
    EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 2e-5) << textOf(kernel);
}

/// Adding equal terms to a large sum rounds all of them in the same direction.
TEST_F(RowKernels, AddUpManyEqualTermsInParts) {
    constexpr std::int64_t elements = 200'004;
    Builder builder;
    const Tensor x = builder.input("x", ScalarKind::Float, {3, elements}, Buffer::Role::Input, "x");
    const auto term = [&](const At& row, const At& k) {
        const Scalar element = x.at({row[0], k[0]});
        return select(isLess(element, number(ScalarKind::Float, 2)), number(ScalarKind::Float, 0.1),
                      element);
    };
    const Tensor sum =
        builder.reducedBy(Reducer::Sum, ScalarKind::Float, {3}, {{"k", elements}}, term, "sum");
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {3}, {{"k", elements}},
        [&](const At& row, const At& k) {
            return of(Function::Divide, {term(row, k), sum.at({row[0]})});
        },
        "one");
    auto program = builder.take();
    program.buffers[std::get<Computation>(program.steps.back()).stores.at(0).buffer].role =
        Buffer::Role::Output;
    for (const RowSchedule& schedule : {schedules[1], schedules[3]}) {
        const Kernel kernel = kernelOf(program, schedule);
        EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 1e-6) << textOf(kernel);
    }
    const Kernel few = kernelOf(program, {.threads = 1024});
    EXPECT_THAT(textOf(few), Not(HasSubstr("part0"))) << "few terms a thread";
}

/// The steps that the first row program of x / sum of x over the places of a channel does, where x
/// is in channels-last order or in the order of its axes.
std::size_t stepsOfNormalised(std::int64_t images, bool isChannelsLast) {
    Builder builder;
    const std::vector<Index> shape{images, 32, 16, 16};
    builder.setChannelsLast(isChannelsLast);
    const Tensor given =
        builder.input("x", ScalarKind::Float, isChannelsLast ? inChannelsLast(shape) : shape,
                      Buffer::Role::Input, "x");
    const Tensor x = isChannelsLast ? fromChannelsLast(given) : given;
    const Tensor sum = builder.reduced(Reducer::Sum, x, {2, 3}, true, "sum");
    (void)builder.kept(
        zipped({x, sum}, ScalarKind::Float,
               [](const std::vector<Scalar>& values) { return of(Function::Divide, values); }),
        "normalised");
    const auto program = builder.take();
    const std::vector<bool> none(program.steps.size());
    const auto rows = engine::graph::rowProgramAt(program, Uses(program), 0, none, none);
    EXPECT_TRUE(rows);
    return rows ? rows->steps.size() : 0;
}

TEST(RowPrograms, LeaveAMapWhoseRowsWouldKeepTooFewThreadsBusy) {
    EXPECT_EQ(stepsOfNormalised(8, false), 2u);
    EXPECT_EQ(stepsOfNormalised(8, true), 1u) << "256 threads would store all";
    EXPECT_EQ(stepsOfNormalised(4096, true), 2u);
}

} // namespace
} // namespace kernelskill::testing
