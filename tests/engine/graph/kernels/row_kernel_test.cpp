// Row programs whose rows are read again: what one pass forms, for every way to share a row out.
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

/// For each row of x the sum of exp(v - base) * x, where v is -infinity for elements below `bound`
/// and 40 * x for others.
analysis::raise::Program weightedSums(std::int64_t rows, std::int64_t elements, Base base,
                                      double bound, bool addsMaximum = false) {
    Builder builder;
    const Tensor x =
        builder.input("x", ScalarKind::Float, {rows, elements}, Buffer::Role::Input, "x");
    const auto score = [&](const At& at) {
        return select(isLess(x.at(at), number(ScalarKind::Float, bound)),
                      number(ScalarKind::Float, -infinity),
                      of(Function::Multiply, {x.at(at), number(ScalarKind::Float, 40)}));
    };
    const Tensor maximum = builder.reducedBy(
        Reducer::Maximum, ScalarKind::Float, {rows}, {{"k", elements}},
        [&](const At& at, const At& k) { return score({at[0], k[0]}); }, "maximum");
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {rows}, {{"k", elements}},
        [&](const At& at, const At& k) {
            const Scalar most = maximum.at({at[0]});
            const Scalar from = base == Base::Maximum ? most
                                : base == Base::HalfOfMaximum
                                    ? of(Function::Multiply, {most, number(ScalarKind::Float, 0.5)})
                                    : select(isLess(most, number(ScalarKind::Float, -1e30)),
                                             number(ScalarKind::Float, 0), most);
            const Scalar weight =
                of(Function::Exponential, {of(Function::Subtract, {score({at[0], k[0]}), from})});
            const Scalar factor =
                addsMaximum ? of(Function::Add, {x.at({at[0], k[0]}), most}) : x.at({at[0], k[0]});
            return of(Function::Multiply, {weight, factor});
        },
        "weighted");
    auto program = builder.take();
    program.buffers[contractionIn(program).stores[0].buffer].role = Buffer::Role::Output;
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
            const auto program = weightedSums(5, 1204, base, -0.1);
            const Kernel kernel = kernelOf(program, schedule);
            EXPECT_THAT(kernel.schedule, HasSubstr("one pass forms its maximum"));
            EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 2e-5) << textOf(kernel);
        }
}

TEST_F(RowKernels, AddUpNothingWhereAllElementsAreNegativeInfinities) {
    for (const RowSchedule& schedule : schedules) {
        const auto program = weightedSums(2, 300, Base::FiniteMaximum, 2);
        const Kernel kernel = kernelOf(program, schedule);
        EXPECT_EQ(errorOf(program, kernel, textOf(kernel)), 0) << textOf(kernel);
    }
}

TEST_F(RowKernels, ReadTheRowAgainForOtherSums) {
    const auto program = weightedSums(5, 1204, Base::Maximum, -0.1, true);
    const Kernel kernel = kernelOf(program, schedules[2]);
    EXPECT_THAT(kernel.schedule, Not(HasSubstr("one pass")));
    EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 2e-5) << textOf(kernel);
}

} // namespace
} // namespace kernelskill::testing
