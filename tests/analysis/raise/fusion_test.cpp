/// Programs that are put together compute the same numbers, and less.
#include "analysis/raise/builder.h"
#include "analysis/raise/fusion.h"
#include "analysis/raise/inverse.h"
#include "analysis/raise/live_steps.h"
#include "analysis/raise/merged_computations.h"
#include "analysis/raise/pulled_values.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/stored_layouts.h"
#include "analysis/raise/weights_alone.h"
#include "tests/analysis/raise/interpreter.h"
#include "tests/analysis/raise/random_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace kernelskill::analysis::raise {
namespace {

constexpr ScalarKind real = ScalarKind::Float;

using Pass = Program (*)(Program);

bool isSame(double one, double other) {
    return one == other || (std::isnan(one) && std::isnan(other));
}

void expectSame(const Program& before, const Program& after, const Memory& given) {
    Memory one = given;
    Memory other = given;
    const auto done = interpret(before, one);
    const auto alsoDone = interpret(after, other);
    ASSERT_TRUE(done) << done.error();
    ASSERT_TRUE(alsoDone) << alsoDone.error() << textOf(before) << textOf(after);
    for (std::size_t buffer = 0; buffer < before.buffers.size(); ++buffer)
        if (before.buffers[buffer].role == Buffer::Role::Output)
            for (std::size_t i = 0; i < one[buffer].size(); ++i)
                ASSERT_TRUE(isSame(one[buffer][i], other[buffer][i]))
                    << before.buffers[buffer].name << "[" << i << "] is " << other[buffer][i]
                    << ", not " << one[buffer][i] << "\n"
                    << textOf(before) << "\n"
                    << textOf(after);
}

TEST(Fusion, KeepsTheMeaningOfRandomPrograms) {
    const std::vector<std::pair<std::string, Pass>> passes{
        {"fused", [](Program program) { return fused(std::move(program)); }},
        {"dead", withoutDeadSteps},
        {"pulled", withPulledValues},
        {"inlined", [](Program program) { return withInlinedMaps(std::move(program)); }},
        {"stores", [](Program program) { return withFusedStores(std::move(program)); }},
        {"merged", [](Program program) { return withMergedComputations(std::move(program)); }},
        {"layouts", withStoredLayouts},
        {"order", inShortLivedOrder},
    };
    std::size_t before = 0;
    std::size_t after = 0;
    for (std::uint32_t seed = 0; seed < 600; ++seed) {
        const RandomProgram random(seed);
        for (const auto& [name, pass] : passes) {
            SCOPED_TRACE(name + " of seed " + std::to_string(seed));
            const Program other = pass(random.program);
            expectSame(random.program, other, random.memory);
            if (HasFatalFailure())
                return;
        }
        before += random.program.steps.size();
        after += fused(random.program).steps.size();
    }
    EXPECT_LT(static_cast<double>(after), 0.7 * static_cast<double>(before));
}

class Fused : public ::testing::Test {
protected:
    Tensor input(const std::vector<Index>& shape, Buffer::Role role = Buffer::Role::Input) {
        return builder.input("x", real, shape, role, "x");
    }
    Tensor linear(const Tensor& x, const Index& outputs) {
        const Tensor weight = input({outputs, x.shape.back()}, Buffer::Role::Weight);
        std::vector<Index> shape = x.shape;
        shape.back() = outputs;
        return builder.reducedBy(
            Reducer::Sum, real, shape, {{"k", x.shape.back()}},
            [&](std::vector<Index> position, const std::vector<Index>& reduced) {
                const Scalar factor = weight.at({position.back(), reduced[0]});
                position.back() = reduced[0];
                return call(real, Function::Multiply, {x.at(position), factor});
            },
            "linear");
    }
    Tensor sum(const Tensor& left, const Tensor& right) {
        return zipped({left, right}, real, [](const std::vector<Scalar>& values) {
            return call(real, Function::Add, values);
        });
    }
    Tensor relu(const Tensor& x) {
        return mapped(x, real, [](const Scalar& value) {
            return call(real, Function::Maximum, {value, number(real, 0)});
        });
    }
    Program output(const std::vector<Tensor>& tensors) {
        for (const Tensor& tensor : tensors)
            static_cast<void>(builder.output(tensor, "out"));
        return builder.take();
    }

    Builder builder;
};

TEST_F(Fused, EpiloguesAreStoredByTheContraction) {
    const Tensor x = input({4, 6});
    const Tensor bias = input({8}, Buffer::Role::Weight);
    const Tensor y = builder.kept(relu(sum(linear(x, 8), bias)), "y");
    const Program program = fused(output({reshaped(permuted(sum(y, y), {1, 0}), {2, 4, 4})}));
    ASSERT_EQ(program.steps.size(), 1U) << textOf(program);
    EXPECT_EQ(formOf(std::get<Computation>(program.steps[0])), Form::Contraction);
    EXPECT_NE(textOf(program).find("out[((i1)/(4)), ((i1)%(4)), i0] = add(max(add(acc0, x_2[i1]), "
                                   "0), max(add(acc0, x_2[i1]), 0))"),
              std::string::npos)
        << textOf(program);
}

TEST_F(Fused, ResidualsAreAddedWhereTheyExist) {
    const Tensor x = input({4, 6});
    const Tensor left = linear(x, 6);
    const Tensor right = linear(relu(x), 6);
    const Program program = fused(output({relu(sum(left, right))}));
    EXPECT_EQ(program.steps.size(), 2U) << textOf(program);
}

TEST_F(Fused, ValuesThatAllReadersComputeAreStored) {
    // A normalisation over the result of a linear layer with its bias.
    const Tensor x = input({4, 6});
    const Tensor y = sum(linear(x, 8), input({8}, Buffer::Role::Weight));
    const Tensor total = builder.reduced(Reducer::Sum, y, {1}, true, "total");
    const Program program = fused(output({sum(y, total)}));
    const std::string text = textOf(program);
    EXPECT_NE(text.find("linear[i0, i1] = add(acc0, x_3[i1])"), std::string::npos) << text;
    EXPECT_NE(text.find("acc0 = sum linear[i0, r1]"), std::string::npos) << text;
    EXPECT_EQ(program.steps.size(), 3U) << text;
}

TEST_F(Fused, GuardsStayWhereTheyAre) {
    // Elements outside are not read: the choice is no value of the buffer.
    const Tensor y = linear(input({4, 6}), 8);
    const Tensor window = unfolded(padded(relu(y), 1, 1, 1, -1), 1, 3, 1);
    const Program program =
        fused(output({builder.reduced(Reducer::Maximum, window, {2}, false, "pool")}));
    const std::string text = textOf(program);
    EXPECT_NE(text.find("linear[i0, i1] = max(acc0, 0)"), std::string::npos) << text;
    EXPECT_NE(text.find("select("), std::string::npos) << text;
}

TEST_F(Fused, HeadsAreReadAndStoredInPlace) {
    const Tensor x = input({5, 6});
    const Tensor heads = permuted(reshaped(linear(x, 8), {5, 2, 4}), {1, 0, 2});
    const Tensor kept = builder.kept(heads, "heads");
    const Tensor scores = builder.reducedBy(
        Reducer::Sum, real, {2, 5, 5}, {{"k", 4}},
        [&](const std::vector<Index>& at, const std::vector<Index>& reduced) {
            return call(real, Function::Multiply,
                        {kept.at({at[0], at[1], reduced[0]}), kept.at({at[0], at[2], reduced[0]})});
        },
        "scores");
    const Program program =
        fused(output({linear(reshaped(permuted(scores, {1, 0, 2}), {5, 10}), 3)}));
    const std::string text = textOf(program);
    EXPECT_EQ(program.steps.size(), 3U) << text;
    EXPECT_NE(text.find("mul(linear[i1, 4*i0 + k], linear[i2, 4*i0 + k])"), std::string::npos)
        << text;
    EXPECT_NE(text.find("scores[i1, 5*i0 + i2] = acc0"), std::string::npos) << text;
}

TEST_F(Fused, IndependentReductionsAreOnePass) {
    const Tensor x = input({4, 6});
    const Tensor y = builder.kept(sum(x, x), "y");
    const Tensor squares = zipped({y, y}, real, [](const std::vector<Scalar>& values) {
        return call(real, Function::Multiply, values);
    });
    const Tensor total = builder.reduced(Reducer::Sum, y, {1}, false, "total");
    const Tensor square = builder.reduced(Reducer::Sum, squares, {1}, false, "square");
    const Program program = withMergedComputations(output({total, square}));
    EXPECT_EQ(program.steps.size(), 2U) << textOf(program);
    EXPECT_EQ(std::get<Computation>(program.steps[1]).reductions.size(), 2U);
}

TEST_F(Fused, DependentReductionsAreTwo) {
    const Tensor x = builder.kept(input({4, 6}), "x", Buffer::Role::Local);
    const Tensor total = builder.reduced(Reducer::Sum, x, {1}, true, "total");
    const Tensor other = builder.reduced(Reducer::Sum, sum(x, total), {1}, false, "other");
    EXPECT_EQ(fused(output({other})).steps.size(), 2U);
}

TEST_F(Fused, DeadReductionsAreLeftOut) {
    const Tensor x = input({4, 6});
    const auto both = builder.reduced(
        {{Reducer::FirstMinimum, x, ScalarKind::Int64}, {Reducer::Minimum, x, real}}, {1}, false,
        "min");
    static_cast<void>(builder.reduced(Reducer::Sum, x, {0}, false, "unread"));
    const Program program = withoutDeadSteps(output({both[1]}));
    ASSERT_EQ(program.steps.size(), 1U);
    const auto& computation = std::get<Computation>(program.steps[0]);
    EXPECT_EQ(computation.reductions.size(), 1U);
    EXPECT_EQ(computation.stores.size(), 1U);
    EXPECT_FALSE(usedBuffers(program)[1]);
}

TEST_F(Fused, WorkOnWeightsStaysAlone) {
    const Tensor x = input({4, 6});
    const Tensor scale = input({6}, Buffer::Role::Weight);
    const Tensor root = builder.kept(relu(relu(scale)), "root");
    const Program program = fused(output({sum(x, root)}));
    ASSERT_EQ(program.steps.size(), 2U) << textOf(program);
    EXPECT_EQ(stepsOfWeightsAlone(program), std::vector<std::size_t>{0});
}

TEST_F(Fused, SizesThatAreNotKnownAreFused) {
    const Index n = Index::size("n", 1, 100);
    const Tensor x = input({n, 6});
    const Program program = fused(output({relu(sum(linear(x, 8), linear(x, 8)))}));
    EXPECT_EQ(program.steps.size(), 2U) << textOf(program);
}

TEST(InverseOf, SolvesSplitsMergesAndPermutations) {
    Program program;
    const std::vector<Axis> axes = newAxes(program, {60, 8, 5}, "i");
    const Index i = Index::of(axes[0]);
    const Index j = Index::of(axes[1]);
    const Index k = Index::of(axes[2]);
    struct Case {
        std::vector<Index> position;
        std::vector<Index> shape;
    };
    const std::vector<Case> cases{
        {{k, i, j}, {5, 60, 8}},
        {{i * 40 + j * 5 + k}, {2400}},
        {{quotient(i, 3), remainder(i, 3) * 40 + k * 8 + j}, {20, 120}},
        {{remainder(i, 3) * 20 + quotient(i, 3), j, k}, {60, 8, 5}},
        {{remainder(quotient(i, 3), 4), k * 8 + j, quotient(i, 12), remainder(i, 3)},
         {4, 40, 5, 3}},
        {{Index(59) - i, j + 2, k}, {60, 10, 5}},
        {{quotient(i * 8 + j, 32), remainder(i * 8 + j, 32), k}, {15, 32, 5}},
    };
    for (const Case& each : cases) {
        const auto components = newAxes(program, each.shape, "p");
        const Inverse inverse = inverseOf(each.position, axes, components);
        EXPECT_TRUE(inverse.isWhole) << each.position.front().text();
    }
    const std::vector<std::vector<Index>> notSolved{{i, j}, {i + j, k, k}, {i * 4 + j, k}};
    for (const std::vector<Index>& position : notSolved) {
        const auto components = newAxes(program, {400, 60, 60}, "p");
        EXPECT_FALSE(inverseOf(position, axes, components).isWhole);
    }
}

} // namespace
} // namespace kernelskill::analysis::raise
