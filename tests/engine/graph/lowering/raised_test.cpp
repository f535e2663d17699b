/// Raised programs against what PyTorch 2.11 answered.
#include "engine/graph/lowering/raised.h"
#include "engine/graph/operators.h"
#include "engine/graph/read_program.h"
#include "tests/analysis/raise/interpreter.h"
#include "tests/engine/graph/lowering/raised_values.h"
#include "tests/engine/graph/sample_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

using analysis::raise::LibraryCall;

/// "node: reason" of each call that is left to a library.
std::vector<std::string> libraryCalls(const Raised& raised) {
    std::vector<std::string> calls;
    for (const analysis::raise::Step& step : raised.program.steps)
        if (const auto* call = std::get_if<LibraryCall>(&step))
            calls.push_back(call->node + ": " + call->reason);
    return calls;
}

Raised raisedSample(const std::string& name) {
    const auto graph = readProgram(sampleProgram(name).archive);
    EXPECT_TRUE(graph) << graph.error().describe();
    auto result = raised(*graph);
    EXPECT_TRUE(result) << result.error().describe();
    return *std::move(result);
}

TEST(Raised, HasARuleForEachKnownOperator) {
    const std::vector<std::string> rules = raisedOperators();
    for (const Operator& known : knownOperators())
        EXPECT_EQ(std::ranges::count(rules, known.target), 1) << known.target;
    EXPECT_EQ(rules.size(), knownOperators().size());
}

class RaisedSamples : public ::testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(RaisedSamples, ComputeWhatPyTorchComputed) {
    const auto& [name, tolerance] = GetParam();
    const SampleProgram sample = sampleProgram(name);
    const auto graph = readProgram(sample.archive);
    ASSERT_TRUE(graph) << graph.error().describe();
    const auto program = raised(*graph);
    ASSERT_TRUE(program) << program.error().describe();
    EXPECT_EQ(libraryCalls(*program), std::vector<std::string>());
    analysis::raise::Memory memory = memoryOf(*graph, *program, sample.inputs);
    std::map<std::string, std::int64_t> sizes;
    for (const auto& [symbol, range] : graph->symbols)
        sizes[symbol] = sample.inputs.at(0).type.sizes.at(0).value;
    const auto done = interpret(program->program, memory, {.sizes = sizes});
    ASSERT_TRUE(done) << done.error();
    const std::vector<double>& output = memory.at(*program->outputs.at(0));
    ASSERT_EQ(output.size(), sample.output.size());
    for (std::size_t i = 0; i < output.size(); ++i)
        ASSERT_NEAR(output[i], static_cast<double>(sample.output[i]),
                    tolerance * std::max(1.0F, std::abs(sample.output[i])))
            << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(Archives, RaisedSamples,
                         ::testing::Values(std::pair{"mlp", 1e-6}, std::pair{"mlp-dynamic", 1e-6},
                                           std::pair{"conv", 2e-6}, std::pair{"attention", 2e-6},
                                           std::pair{"bf16-product", 8e-3}));

TEST(Raised, LeavesRecurrentLayersToALibrary) {
    const std::vector<std::string> calls = libraryCalls(raisedSample("lstm"));
    EXPECT_TRUE(std::ranges::any_of(
        calls, [](const std::string& call) { return call.contains("recurrent layers"); }));
}

TEST(Raised, NamesOperatorsWithoutARule) {
    const std::vector<std::string> calls = libraryCalls(raisedSample("unusual-operators"));
    ASSERT_FALSE(calls.empty());
    EXPECT_TRUE(calls.front().contains("no rule for ")) << calls.front();
    // Readers of a library's complex numbers are left to it as well.
    EXPECT_TRUE(std::ranges::any_of(
        calls, [](const std::string& call) { return call.contains("elements of complex64"); }));
}

TEST(Raised, WritesWhatIsReadTwiceOnce) {
    ProgramBuilder builder;
    builder.input("x", {4, 8})
        .node("sigmoid", "aten.sigmoid.default", {value("self", "x")})
        .type("sigmoid", {4, 8})
        .node("add", "aten.add.Tensor", {value("self", "sigmoid"), value("other", "sigmoid")})
        .type("add", {4, 8})
        .output("add");
    const auto result = raised(builder.program());
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(result->program.steps.size(), 2U) << textOf(result->program);
}

TEST(Raised, LeavesNothingOfARuleThatFails) {
    // The rule writes the exponentials to a buffer before it sees that an axis is missing.
    ProgramBuilder builder;
    builder.input("x", {2, 12})
        .input("w", {3, 2, 1, 1})
        .node("exp", "aten.exp.default", {value("self", "x")})
        .type("exp", {2, 12})
        .node("conv", "aten.conv2d.default", {value("input", "exp"), value("weight", "w")})
        .type("conv", {3, 12})
        .output("conv");
    const auto result = raised(builder.program());
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(libraryCalls(*result),
              std::vector<std::string>{"conv: a convolution of 2 axes with operands of 3 and 4"});
    std::size_t stored = 0;
    for (const analysis::raise::Step& step : result->program.steps) {
        if (const auto* computation = std::get_if<analysis::raise::Computation>(&step))
            stored += computation->stores.size();
        else
            stored += std::get<LibraryCall>(step).outputs.size();
    }
    // Each buffer but the inputs is written once.
    EXPECT_EQ(stored + 2, result->program.buffers.size()) << textOf(result->program);
}

} // namespace
} // namespace kernelskill::engine::graph::testing
