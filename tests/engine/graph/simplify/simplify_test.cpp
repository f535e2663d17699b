/// Simplified programs against the programs that they are made of, on inputs that are made to tell
/// them apart.
#include "analysis/raise/weights_alone.h"
#include "engine/graph/read_program.h"
#include "engine/graph/simplify/simplification.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/engine/graph/simplify/challenged_inputs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

namespace raise = analysis::raise;

constexpr std::size_t maxElements = 3'000'000;

std::vector<std::int64_t> list(std::vector<std::int64_t> values) {
    return values;
}

/// A graph whose nodes follow each other.
class Chain {
public:
    explicit Chain(const Sizes& input) { builder_.input("x", input); }

    Chain& parameter(const std::string& name, const Sizes& sizes) {
        builder_.parameter(name, sizes);
        return *this;
    }
    Chain& constant(const std::string& name, float number) {
        builder_.held(Input::Kind::Constant, name, floats({}, {number}));
        return *this;
    }
    Chain& linear(std::int64_t inputs, std::int64_t outputs) {
        const std::string weight = next("weight");
        const std::string bias = next("bias");
        builder_.parameter(weight, {outputs, inputs}).parameter(bias, {outputs});
        return then("aten.linear.default", "input", {value("weight", weight), value("bias", bias)});
    }
    Chain& convolution(const std::string& target, const Sizes& weight, std::int64_t outputs,
                       std::vector<NamedArgument> others) {
        const std::string name = next("weight");
        const std::string bias = next("bias");
        builder_.parameter(name, weight).parameter(bias, {outputs});
        others.push_back(value("weight", name));
        others.push_back(value("bias", bias));
        return then(target, "input", std::move(others));
    }
    Chain& batchNorm(std::int64_t channels) {
        std::vector<NamedArgument> arguments{{"momentum", 0.1}, {"eps", 1e-5}};
        for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
            builder_.parameter(next(name), {channels});
            arguments.push_back(value(name, last_));
        }
        const std::string node = next("norm");
        arguments.push_back(value("input", current_));
        const std::string second = next("unused");
        const std::string third = next("unused");
        for (const std::string& each : {node, second, third})
            builder_.type(each, {});
        builder_.nodeWithResults(node, "aten._native_batch_norm_legit_no_training.default",
                                 std::move(arguments), {{node}, {second}, {third}});
        current_ = node;
        return *this;
    }
    Chain& then(const std::string& target, std::vector<NamedArgument> others = {}) {
        return then(target, "self", std::move(others));
    }
    Chain& then(const std::string& target, const std::string& parameter,
                std::vector<NamedArgument> others) {
        others.push_back(value(parameter, current_));
        current_ = next("node");
        builder_.type(current_, {}).node(current_, target, std::move(others));
        return *this;
    }
    /// The current value, to be named in arguments.
    [[nodiscard]] const std::string& current() const { return current_; }
    Chain& withIndices(const std::string& target, std::vector<NamedArgument> others) {
        others.push_back(value("self", current_));
        current_ = next("node");
        const std::string indices = next("indices");
        builder_.type(current_, {}).type(indices, {}, ElementType::Int64);
        builder_.nodeWithResults(current_, target, std::move(others), {{current_}, {indices}});
        return *this;
    }
    Program done() {
        builder_.output(current_);
        return builder_.program();
    }

private:
    std::string next(const std::string& name) {
        last_ = name + std::to_string(count_++);
        return last_;
    }

    ProgramBuilder builder_;
    std::string current_ = "x";
    std::string last_;
    std::size_t count_ = 0;
};

class Simplified : public ::testing::Test {
protected:
    /// Simplifies the graph, and checks the obligations of what was done to it.
    SimplifiedProgram check(const Program& graph, const std::set<std::string>& expected,
                            const std::set<std::string>& off = {}) {
        const auto task = seededTask(graph, 11);
        EXPECT_TRUE(task) << task.error();
        if (!task)
            return {};
        SimplifiedProgram result = simplified(task->raised.program, {off, heldConstants(graph)});
        std::set<std::string> names;
        for (const Simplification& one : result.simplifications) {
            names.insert(one.name);
            EXPECT_FALSE(one.nodes.empty()) << one.name;
            EXPECT_FALSE(one.what.empty() || one.condition.empty());
        }
        EXPECT_EQ(names, expected) << textOf(result.program);
        EXPECT_EQ(broken(*task, result, maxElements), "") << textOf(task->raised.program) << "\n"
                                                          << textOf(result.program);
        return result;
    }
    /// The products of the largest contraction that runs with each input.
    static double work(const SimplifiedProgram& result) {
        double most = 0;
        const std::vector<bool> alone = raise::dependsOnWeightsAlone(result.program);
        for (std::size_t i = 0; i < alone.size(); ++i) {
            const auto* computation = std::get_if<raise::Computation>(&result.program.steps[i]);
            if (computation == nullptr || alone[i])
                continue;
            double terms = 1;
            for (const auto* axes : {&computation->axes, &computation->reduced})
                for (const raise::Axis& axis : *axes)
                    terms *= static_cast<double>(axis.extent->constant().value_or(1));
            most = std::max(most, terms);
        }
        return most;
    }
    static NamedArgument dims(std::vector<std::int64_t> values) {
        return {"dim", list(std::move(values))};
    }
    static NamedArgument number(const std::string& name, double value) { return {name, value}; }
};

TEST_F(Simplified, SumsOverLinearLayers) {
    Chain chain({5, 40});
    chain.linear(40, 30)
        .then("aten.div.Tensor", {number("other", 2)})
        .then("aten.sum.dim_IntList", {dims({1}), {"keepdim", true}})
        .then("aten.mul.Tensor", {number("other", 1.5)});
    const auto result = check(chain.done(), {"sum-over-linear"});
    EXPECT_LE(work(result), 5 * 40);
}

TEST_F(Simplified, LinearLayersOfFewRowsOnce) {
    // Their weights' product costs more than both layers do for two rows, but only once.
    Chain chain({2, 40});
    chain.linear(40, 40).linear(40, 5);
    const auto result = check(chain.done(), {"linear-after-linear"});
    EXPECT_LE(work(result), 2 * 5 * 40);
}

TEST_F(Simplified, LinearLayersWithoutAnythingBetween) {
    Chain chain({9, 20});
    chain.linear(20, 50).then("aten.mul.Tensor", {number("other", 0.5)}).linear(50, 8);
    const auto result = check(chain.done(), {"linear-after-linear"});
    EXPECT_LE(work(result), 9 * 20 * 8);
}

TEST_F(Simplified, LinearLayersThatWouldTakeMoreWorkStay) {
    Chain chain({9, 50});
    chain.linear(50, 4).linear(4, 50);
    check(chain.done(), {});
}

TEST_F(Simplified, LinearLayersWithAnythingBetweenStay) {
    Chain chain({9, 20});
    chain.linear(20, 50).then("aten.relu.default").linear(50, 8);
    check(chain.done(), {});
}

TEST_F(Simplified, MeansOfConvolutions) {
    for (const std::int64_t stride : {1, 2})
        for (const std::int64_t padding : {0, 1, 2}) {
            SCOPED_TRACE(std::to_string(stride) + " " + std::to_string(padding));
            Chain transposed({2, 2, 5, 6});
            transposed
                .convolution(
                    "aten.conv_transpose2d.input", {2, 7, 3, 4}, 7,
                    {{"stride", list({stride, stride})}, {"padding", list({padding, padding})}})
                .then("aten.mul.Tensor", {number("other", 0.5)})
                .then("aten.mean.dim", {dims({2, 3})});
            EXPECT_LE(work(check(transposed.done(), {"mean-of-convolution"})), 2 * 2 * 5 * 6 * 12);
            Chain convolution({1, 2, 13, 14});
            convolution
                .convolution("aten.conv2d.default", {9, 2, 3, 4}, 9,
                             {{"stride", list({stride, 1})}, {"padding", list({padding, 1})}})
                .then("aten.mean.dim", {dims({2, 3})});
            check(convolution.done(), {"mean-of-convolution"});
        }
}

TEST_F(Simplified, MeansOfConvolutionsOverOneAxis) {
    Chain chain({1, 2, 6, 3, 4});
    chain
        .convolution("aten.conv_transpose3d.input", {2, 5, 3, 3, 3}, 5,
                     {{"stride", list({1, 1, 1})}, {"padding", list({1, 1, 1})}})
        .then("aten.mean.dim", {dims({2}), {"keepdim", true}});
    check(chain.done(), {"mean-of-convolution"});
}

TEST_F(Simplified, PoolsBeforePointwiseConvolutions) {
    Chain chain({2, 3, 8, 8});
    chain.convolution("aten.conv2d.default", {6, 3, 1, 1}, 6, {})
        .then("aten.avg_pool2d.default", {{"kernel_size", list({2, 2})}});
    check(chain.done(), {"mean-of-convolution"});
}

TEST_F(Simplified, PoolsAreWiderKernels) {
    const auto pool = [](std::int64_t size) {
        return std::vector<NamedArgument>{{"kernel_size", list({size, size})}};
    };
    for (const std::int64_t stride : {1, 2})
        for (const std::int64_t padding : {0, 1}) {
            SCOPED_TRACE(std::to_string(stride) + " " + std::to_string(padding));
            Chain transposed({1, 2, 7, 5});
            transposed
                .convolution(
                    "aten.conv_transpose2d.input", {2, 5, 3, 4}, 5,
                    {{"stride", list({stride, stride})}, {"padding", list({padding, padding})}})
                .then("aten.mul.Tensor", {number("other", 0.5)})
                .then("aten.avg_pool2d.default", pool(2));
            check(transposed.done(), {"pool-into-convolution"});
            Chain convolution({1, 2, 15, 14});
            convolution
                .convolution("aten.conv2d.default", {5, 2, 3, 3}, 5,
                             {{"padding", list({padding, stride - 1})}})
                .then("aten.avg_pool2d.default", pool(2));
            const auto result = check(convolution.done(), {"pool-into-convolution"});
            EXPECT_EQ(raise::stepsOfWeightsAlone(result.program).size() + 1,
                      result.program.steps.size())
                << textOf(result.program);
        }
    // A pool of a pool is one.
    Chain twice({1, 2, 6, 6});
    twice
        .convolution("aten.conv_transpose2d.input", {2, 5, 3, 3}, 5,
                     {{"stride", list({2, 2})}, {"padding", list({1, 1})}})
        .batchNorm(5)
        .then("aten.avg_pool2d.default", pool(2))
        .then("aten.avg_pool2d.default", pool(2));
    check(twice.done(), {"pool-into-convolution", "mean-of-convolution", "batch-norm-folding"});
    // A part that does not divide stays.
    Chain odd({1, 2, 7, 7});
    odd.convolution("aten.conv_transpose2d.input", {2, 5, 3, 3}, 5, {{"stride", list({2, 2})}})
        .then("aten.avg_pool2d.default", pool(3));
    check(odd.done(), {});
}

TEST_F(Simplified, FoldsNormalisations) {
    Chain chain({2, 3, 6, 7});
    chain.convolution("aten.conv2d.default", {4, 3, 3, 3}, 4, {{"padding", list({1, 1})}})
        .batchNorm(4)
        .then("aten.relu.default");
    const auto result = check(chain.done(), {"batch-norm-folding"});
    EXPECT_EQ(raise::stepsOfWeightsAlone(result.program).size(), 2U) << textOf(result.program);
    EXPECT_EQ(result.program.steps.size(), 3U);
}

TEST_F(Simplified, FormsLargeVariancesInOnePass) {
    Chain chain({1, 2, 130, 130});
    chain.parameter("scale", {2}).parameter("shift", {2});
    chain.then("aten.relu.default")
        .then("aten.group_norm.default", "input",
              {{"num_groups", std::int64_t{1}}, value("weight", "scale"), value("bias", "shift")});
    const Program graph = chain.done();
    const auto result = check(graph, {"shifted-variance"});
    EXPECT_EQ(result.program.steps.size(), 2U) << textOf(result.program);
    check(graph, {}, {"shifted-variance"});
    // Small rows are held on the chip.
    Chain small({1, 2, 30, 30});
    small.parameter("scale", {2}).parameter("shift", {2});
    small.then("aten.group_norm.default", "input",
               {{"num_groups", std::int64_t{1}}, value("weight", "scale"), value("bias", "shift")});
    check(small.done(), {});
}

TEST_F(Simplified, FoldsScalesOfWeights) {
    Chain chain({3, 6});
    chain.parameter("scale", {5}).linear(6, 5).then("aten.mul.Tensor", {value("other", "scale")});
    check(chain.done(), {"scale-into-weights"});
    Chain numbers({3, 6});
    numbers.linear(6, 5).then("aten.mul.Tensor", {number("other", 2)});
    check(numbers.done(), {});
}

TEST_F(Simplified, FindsConstantOutputs) {
    // The mean of one element is that element: it is subtracted from itself.
    Chain chain({4, 6});
    chain.linear(6, 5).withIndices("aten.max.dim", {{"dim", std::int64_t{1}}, {"keepdim", true}});
    const std::string most = chain.current();
    chain.then("aten.mean.dim", {dims({1}), {"keepdim", true}});
    const std::string mean = chain.current();
    chain.then("aten.sub.Tensor", "other", {value("self", most)}).then("aten.gelu.default");
    const auto result = check(chain.done(), {"reductions-of-one", "self-difference"});
    ASSERT_EQ(result.constantOutputs.size(), 1U);
    EXPECT_EQ(result.constantOutputs.begin()->second, 0);
    EXPECT_EQ(result.program.steps.size(), 1U);
}

TEST_F(Simplified, FindsBoundsThatMakeConstants) {
    Chain chain({4, 6});
    chain.constant("zero", 0)
        .linear(6, 5)
        .then("aten.min.other", {value("other", "zero")})
        .then("aten.clamp.default", {{"min", 0.0}, {"max", 1.0}});
    const Program graph = chain.done();
    const auto result = check(graph, {"known-constants", "constant-values"});
    EXPECT_EQ(result.constantOutputs.size(), 1U);
    // Without the constant's value nothing is known.
    check(graph, {}, {"known-constants"});
    check(graph, {"known-constants", "redundant-bounds"}, {"constant-values"});
}

TEST_F(Simplified, LeavesOutBounds) {
    Chain chain({4, 6});
    chain.then("aten.sigmoid.default")
        .then("aten.clamp.default", {{"min", 0.0}, {"max", 1.0}})
        .then("aten.relu.default");
    check(chain.done(), {"redundant-bounds"});
    Chain needed({4, 6});
    needed.then("aten.sigmoid.default").then("aten.clamp.default", {{"min", 0.0}, {"max", 0.9}});
    const auto result = check(needed.done(), {"redundant-bounds"});
    EXPECT_NE(textOf(result.program).find("0.9"), std::string::npos);
}

TEST_F(Simplified, UndoesLogarithmsOfOneExponential) {
    Chain chain({4, 6});
    chain.linear(6, 5)
        .then("aten.sum.dim_IntList", {dims({1}), {"keepdim", true}})
        .then("aten.logsumexp.default", {dims({1}), {"keepdim", true}})
        .then("aten.logsumexp.default", {dims({1}), {"keepdim", true}});
    check(chain.done(), {"reductions-of-one", "inverse-functions", "sum-over-linear"});
}

TEST_F(Simplified, SoftmaxOfOneIsOne) {
    Chain chain({4, 6, 1});
    chain.then("aten.softmax.int", {{"dim", std::int64_t{2}}});
    const auto result = check(chain.done(), {"reductions-of-one", "self-difference"});
    ASSERT_EQ(result.constantOutputs.size(), 1U) << textOf(result.program);
    EXPECT_EQ(result.constantOutputs.begin()->second, 1);
}

TEST_F(Simplified, EachKindCanBeSwitchedOff) {
    Chain chain({5, 40});
    chain.linear(40, 30).then("aten.sum.dim_IntList", {dims({1})});
    check(chain.done(), {}, {"sum-over-linear"});
    Chain norm({2, 3, 6, 7});
    norm.convolution("aten.conv2d.default", {4, 3, 3, 3}, 4, {}).batchNorm(4);
    check(norm.done(), {}, {"batch-norm-folding"});
}

TEST(SimplificationKinds, HaveNamesOfTheirOwnAndChallenges) {
    std::set<std::string_view> names;
    for (const SimplificationKind& kind : simplificationKinds()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
        EXPECT_FALSE(kind.obligation.challenges.empty());
    }
}

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks.
TEST(SimplifiedTasks, KeepTheirObligations) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    std::size_t compared = 0;
    for (const auto& archive : archivesIn(folder)) {
        const auto graph = readProgram(archive);
        ASSERT_TRUE(graph) << graph.error().describe();
        const auto task = smallTask(*graph, 7);
        if (!task)
            continue;
        const auto result = simplified(task->raised.program);
        if (result.simplifications.empty())
            continue;
        const std::string why = broken(*task, result, maxElements);
        if (why.contains("too many") || why.contains("library"))
            continue;
        ++compared;
        EXPECT_EQ(why, "") << archive.filename().string() << "\n"
                           << textOf(task->raised.program) << "\n"
                           << textOf(result.program);
    }
    std::cout << compared << " compared\n";
    EXPECT_GE(compared, 10U);
}

} // namespace
} // namespace kernelskill::engine::graph::testing
