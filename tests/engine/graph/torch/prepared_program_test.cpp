#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/program_run.h"
#include "engine/graph/torch/timing.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using ::testing::HasSubstr;
using testing::integers;
using ::testing::Not;
using testing::ProgramBuilder;
using testing::value;
using testing::valuesOf;

TorchSubject subjectWith(std::vector<TensorData> inputs,
                         Precision precision = Precision::AsWritten) {
    TorchSubject subject;
    subject.inputs = std::move(inputs);
    subject.precision = precision;
    return subject;
}

Result<TorchRun> run(const ProgramBuilder& builder, const TorchSubject& subject,
                     const KeptValues& kept = {}) {
    const auto prepared = PreparedProgram::prepare(builder.build(), subject);
    if (!prepared)
        return std::unexpected(prepared.error());
    return runProgram(*prepared, kept);
}

/// The error of a program that does not run.
Error errorOf(const ProgramBuilder& builder, const TorchSubject& subject,
              const KeptValues& kept = {}) {
    const auto outcome = run(builder, subject, kept);
    EXPECT_FALSE(outcome) << "it ran";
    return outcome ? Error{} : outcome.error();
}

/// The elements of the only output.
template <typename T = float>
std::vector<T> outputOf(const ProgramBuilder& builder, const TorchSubject& subject) {
    const auto outcome = run(builder, subject);
    if (!outcome) {
        ADD_FAILURE() << outcome.error().describe();
        return {};
    }
    return valuesOf<T>(*outcome->outputs.at(0));
}

ProgramBuilder perceptron() {
    ProgramBuilder builder;
    builder.input("x", {1, 2})
        .held(Input::Kind::Parameter, "w", floats({2, 2}, {1, 2, -3, -4}))
        .held(Input::Kind::Parameter, "b", floats({2}, {0.5f, 1}))
        .node("linear", "aten.linear.default",
              {value("input", "x"), value("weight", "w"), value("bias", "b")}, "layers.0")
        .node("relu", "aten.relu.default", {value("self", "linear")})
        .output("relu");
    return builder;
}

TEST(PreparedProgram, RunsNodesInTheirOrder) {
    EXPECT_THAT(outputOf(perceptron(), subjectWith({floats({1, 2}, {1, 2})})),
                ElementsAre(5.5f, 0));
}

TEST(PreparedProgram, FillsWhatANodeDoesNotGiveFromTheSchema) {
    ProgramBuilder builder;
    builder.input("x", {3}).node("y", "aten.leaky_relu.default", {value("self", "x")}).output("y");
    EXPECT_THAT(outputOf(builder, subjectWith({floats({3}, {-100, 0, 1})})), ElementsAre(-1, 0, 1));
}

TEST(PreparedProgram, KeepsWhatIsAskedForAndNothingElse) {
    const TorchSubject subject = subjectWith({floats({1, 2}, {1, 2})});
    const auto prepared = PreparedProgram::prepare(perceptron().build(), subject);
    ASSERT_TRUE(prepared) << prepared.error().describe();
    EXPECT_FALSE(prepared->run(prepared->begin(), {})->contains("linear"));
    const auto kept = runProgram(*prepared, {{"linear"}, false});
    ASSERT_TRUE(kept) << kept.error().describe();
    EXPECT_THAT(valuesOf<float>(kept->values.at("linear")), ElementsAre(5.5f, -10));
    EXPECT_EQ(kept->values.size(), 1u);
    EXPECT_EQ(runProgram(*prepared, {{}, true})->values.size(), 2u);
    const auto unknown = runProgram(*prepared, {{"nothing"}, false});
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().what, HasSubstr("nothing"));
}

TEST(PreparedProgram, ComputesInFloat64WhatIsWrittenInFloat32) {
    ProgramBuilder builder;
    builder.input("x", {1})
        .node("third", "aten.div.Tensor", {value("self", "x"), {"other", 3.0}})
        .node("cast", "aten.to.dtype",
              {value("self", "third"),
               {"dtype",
                EnumValue{EnumValue::Kind::ScalarType, static_cast<int>(ElementType::BFloat16)}}})
        .node("y", "aten.exp.default", {value("self", "cast")})
        .output("y");
    const auto input = floats({1}, {1});
    const auto wide = run(builder, subjectWith({input}, Precision::Float64));
    ASSERT_TRUE(wide) << wide.error().describe();
    EXPECT_EQ(wide->outputs[0]->type.element, ElementType::Float64);
    EXPECT_DOUBLE_EQ(valuesOf<double>(*wide->outputs[0])[0], std::exp(1.0 / 3));
    const auto single = run(builder, subjectWith({input}, Precision::Float32));
    ASSERT_TRUE(single) << single.error().describe();
    EXPECT_EQ(single->outputs[0]->type.element, ElementType::Float32);
    const float difference =
        static_cast<float>(valuesOf<float>(*single->outputs[0])[0] - std::exp(1.0 / 3));
    EXPECT_NE(difference, 0);
    EXPECT_NEAR(difference, 0, 1e-6);
    EXPECT_EQ(run(builder, subjectWith({input}))->outputs[0]->type.element, ElementType::BFloat16);
}

TEST(PreparedProgram, DrawsTheSameRandomNumbersInEachPrecision) {
    ProgramBuilder builder;
    builder
        .node("y", "aten.randn.default",
              {{"size", std::vector<std::int64_t>{8}}, {"device", Device{"cpu", std::nullopt}}})
        .output("y");
    TorchSubject subject = subjectWith({}, Precision::Float32);
    const auto single = outputOf(builder, subject);
    subject.precision = Precision::Float64;
    const auto wide = outputOf<double>(builder, subject);
    EXPECT_THAT(wide, ::testing::ElementsAreArray(single));
    subject.seed = 2;
    EXPECT_THAT(outputOf<double>(builder, subject), Not(::testing::ElementsAreArray(single)));
}

TEST(PreparedProgram, LetsANumberNotDecideTheType) {
    ProgramBuilder builder;
    builder.input("x", {2}, ElementType::Int64)
        .node("y", "aten.add.Tensor", {value("self", "x"), {"other", std::int64_t{2}}})
        .output("y");
    EXPECT_THAT(outputOf<std::int64_t>(builder, subjectWith({integers({2}, {1, 2})})),
                ElementsAre(3, 4));
}

TEST(PreparedProgram, TakesListsOfTensorsAndGivesThem) {
    ProgramBuilder builder;
    builder.input("x", {4})
        .nodeWithResults(
            "split", "aten.split.Tensor",
            {value("self", "x"), {"split_size", std::int64_t{3}}, {"dim", std::int64_t{0}}},
            {{"head", "tail"}})
        .node("y", "aten.cat.default",
              {{"tensors", std::vector<ValueName>{{"tail"}, {"head"}}}, {"dim", std::int64_t{0}}})
        .output("y");
    EXPECT_THAT(outputOf(builder, subjectWith({floats({4}, {1, 2, 3, 4})})),
                ElementsAre(4, 1, 2, 3));
}

TEST(PreparedProgram, TakesListsWithGaps) {
    ProgramBuilder builder;
    builder.input("x", {2, 2})
        .input("i", {2}, ElementType::Int64)
        .node("y", "aten.index.Tensor",
              {value("self", "x"),
               {"indices", std::vector<std::optional<ValueName>>{std::nullopt, ValueName{"i"}}}})
        .output("y");
    EXPECT_THAT(
        outputOf(builder, subjectWith({floats({2, 2}, {1, 2, 3, 4}), integers({2}, {1, 0})})),
        ElementsAre(2, 1, 4, 3));
}

TEST(PreparedProgram, GivesEachOfSeveralResults) {
    ProgramBuilder builder;
    builder.input("x", {3})
        .nodeWithResults("max", "aten.max.dim", {value("self", "x"), {"dim", std::int64_t{0}}},
                         {{"largest"}, {"place"}})
        .output("largest")
        .output("place");
    const auto outcome = run(builder, subjectWith({floats({3}, {1, 5, 2})}));
    ASSERT_TRUE(outcome) << outcome.error().describe();
    EXPECT_THAT(valuesOf<float>(*outcome->outputs[0]), ElementsAre(5));
    EXPECT_THAT(valuesOf<std::int64_t>(*outcome->outputs[1]), ElementsAre(1));
}

TEST(PreparedProgram, ComputesExtentsWhileItRuns) {
    ProgramBuilder builder;
    builder.dynamicInput("x", {4, 2}, "s0", {2, 100})
        .node("rows", "aten.sym_size.int", {value("self", "x"), {"dim", std::int64_t{0}}})
        .node("half", "_operator.floordiv",
              {{"a", SymbolicInt(ValueName{"rows"})}, {"b", std::int64_t{2}}})
        .node("y", "aten.view.default",
              {value("self", "x"),
               {"size", std::vector<SymbolicInt>{ValueName{"half"}, std::int64_t{4}}}})
        .output("y")
        .output("half");
    const auto outcome = run(builder, subjectWith({floats({6, 2}, std::vector<float>(12, 1))}));
    ASSERT_TRUE(outcome) << outcome.error().describe();
    EXPECT_EQ(outcome->outputs[0]->type.sizes.at(0).value, 3);
    EXPECT_THAT(valuesOf<std::int64_t>(*outcome->outputs[1]), ElementsAre(3));
}

TEST(PreparedProgram, GivesOutputsWithoutElements) {
    ProgramBuilder builder;
    builder.input("x", {0, 3}).node("y", "aten.relu.default", {value("self", "x")}).output("y");
    const auto outcome = run(builder, subjectWith({floats({0, 3}, {})}));
    ASSERT_TRUE(outcome) << outcome.error().describe();
    EXPECT_TRUE(outcome->outputs[0]->bytes.empty());
    EXPECT_EQ(outcome->outputs[0]->type.sizes.at(1).value, 3);
}

TEST(PreparedProgram, ReadsInputsByTheirStrides) {
    ProgramBuilder builder;
    builder.input("x", {2, 2}).node("y", "aten.relu.default", {value("self", "x")}).output("y");
    auto input = floats({2, 2}, {9, 1, 2, 3, 4});
    input.type.strides = {{1, {}}, {2, {}}};
    input.type.offset.value = 1;
    EXPECT_THAT(outputOf(builder, subjectWith({input})), ElementsAre(1, 3, 2, 4));
    input.type.offset.value = 2;
    EXPECT_EQ(errorOf(builder, subjectWith({input})).kind, ErrorKind::InvalidInput);
}

TEST(PreparedProgram, GivesInputsTheStridesOfTheProgram) {
    ProgramBuilder builder;
    builder.input("x", {2, 2}).node("y", "aten.relu.default", {value("self", "x")}).output("x");
    builder.program().values["x"].strides = {{1, {}}, {2, {}}};
    const auto prepared =
        PreparedProgram::prepare(builder.build(), subjectWith({floats({2, 2}, {1, 2, 3, 4})}));
    ASSERT_TRUE(prepared) << prepared.error().describe();
    const auto values = prepared->run(prepared->begin(), {});
    ASSERT_TRUE(values) << values.error().describe();
    EXPECT_EQ(values->at("x").toTensor().stride(0), 1);
    EXPECT_THAT(outputOf(builder, subjectWith({floats({2, 2}, {1, 2, 3, 4})})),
                ElementsAre(1, 2, 3, 4));
}

TEST(PreparedProgram, NamesAllOperatorsThatItDoesNotRun) {
    ProgramBuilder builder;
    builder.input("x", {1})
        .node("a", "aten.frobnicate.default", {value("self", "x")}, "layers.3")
        .node("b", "aten.add_.Tensor", {value("self", "x"), value("other", "x")})
        .node("c", "higher_order.cond", {value("", "x")})
        .output("c");
    const Error error = errorOf(builder, subjectWith({floats({1}, {1})}));
    EXPECT_EQ(error.kind, ErrorKind::Unsupported);
    EXPECT_THAT(error.what, HasSubstr("aten.frobnicate.default is unknown to LibTorch"));
    EXPECT_THAT(error.what, HasSubstr("aten.add_.Tensor changes an argument"));
    EXPECT_THAT(error.what, HasSubstr("higher_order.cond runs a subgraph"));
    EXPECT_EQ(error.where, "node a of layers.3");
}

TEST(PreparedProgram, NamesAnArgumentThatTheOperatorLacks) {
    ProgramBuilder builder;
    builder.input("x", {1})
        .node("y", "aten.relu.default", {value("self", "x"), {"slope", 1.0}})
        .output("y");
    const Error error = errorOf(builder, subjectWith({floats({1}, {1})}));
    EXPECT_EQ(error.kind, ErrorKind::Unsupported);
    EXPECT_THAT(error.what, HasSubstr("'slope'"));
    EXPECT_EQ(error.where, "node y");
}

TEST(PreparedProgram, NamesAnArgumentThatIsMissingOrOfAnotherKind) {
    ProgramBuilder missing;
    missing.input("x", {1}).node("y", "aten.matmul.default", {value("self", "x")}).output("y");
    EXPECT_THAT(errorOf(missing, subjectWith({floats({1}, {1})})).what, HasSubstr("other"));
    ProgramBuilder other;
    other.input("x", {1})
        .node("y", "aten.cumsum.default", {value("self", "x"), {"dim", std::string("first")}})
        .output("y");
    EXPECT_THAT(errorOf(other, subjectWith({floats({1}, {1})})).what,
                HasSubstr("dim of aten.cumsum.default does not fit"));
    ProgramBuilder unbound;
    unbound.node("y", "aten.relu.default", {value("self", "ghost")}).output("y");
    EXPECT_THAT(errorOf(unbound, subjectWith({})).what, HasSubstr("ghost"));
}

TEST(PreparedProgram, SaysWhichOperatorFailed) {
    ProgramBuilder builder;
    builder.input("x", {2, 3})
        .node("y", "aten.matmul.default", {value("self", "x"), value("other", "x")}, "head")
        .output("y");
    const Error error = errorOf(builder, subjectWith({floats({2, 3}, {1, 2, 3, 4, 5, 6})}));
    EXPECT_EQ(error.kind, ErrorKind::Failed);
    EXPECT_THAT(error.what, HasSubstr("aten.matmul.default failed"));
    EXPECT_THAT(error.what, HasSubstr("cannot be multiplied"));
    EXPECT_EQ(error.where, "node y of head");
}

TEST(PreparedProgram, RefusesResultsOfAnotherElementTypeThanTheProgramSays) {
    ProgramBuilder builder;
    builder.input("x", {2}).node("y", "aten.relu.default", {value("self", "x")});
    builder.type("y", {2}, ElementType::Int64).output("y");
    EXPECT_THAT(errorOf(builder, subjectWith({floats({2}, {1, 2})})).what,
                HasSubstr("y, which has elements of Float instead of int64"));
    builder.type("y", {2}, ElementType::BFloat16);
    EXPECT_THAT(outputOf(builder, subjectWith({floats({2}, {1, 2})}, Precision::Float32)),
                ElementsAre(1, 2));
}

TEST(PreparedProgram, GivesTheStatesOfAnLstmTheShapesOfExport) {
    const auto programFor = [](const testing::Sizes& stateSizes) {
        ProgramBuilder builder;
        builder.input("x", {5, 1, 2}).input("h", {1, 1, 1}).input("c", {1, 1, 1});
        builder.parameter("wx", {4, 2}).parameter("wh", {4, 1});
        builder.nodeWithResults("lstm", "aten.lstm.input",
                                {value("input", "x"),
                                 {"hx", std::vector<ValueName>{{"h"}, {"c"}}},
                                 {"params", std::vector<ValueName>{{"wx"}, {"wh"}}},
                                 {"has_biases", false},
                                 {"num_layers", std::int64_t{1}},
                                 {"dropout", 0.0},
                                 {"train", false},
                                 {"bidirectional", false},
                                 {"batch_first", false}},
                                {{}, {"state"}, {}});
        builder.type("state", stateSizes).output("state");
        return builder;
    };
    const auto run =
        runProgram(*PreparedProgram::prepare(programFor({1, 1, 1, 1}).build(), TorchSubject{}), {});
    ASSERT_TRUE(run) << run.error().describe();
    EXPECT_EQ(run->outputs[0]->type.sizes.size(), 4u);
    EXPECT_THAT(errorOf(programFor({1, 1, 2}), TorchSubject{}).what, HasSubstr("the shape"));
}

TEST(PreparedProgram, LeavesOutResultsWithoutNames) {
    ProgramBuilder builder;
    builder.input("x", {2})
        .nodeWithResults("max", "aten.max.dim", {value("self", "x"), {"dim", std::int64_t{0}}},
                         {{"y"}, {}})
        .output("y");
    EXPECT_THAT(outputOf(builder, subjectWith({floats({2}, {1, 2})})), ElementsAre(2));
}

TEST(PreparedProgram, RefusesResultsOfAnotherShapeThanTheProgramSays) {
    ProgramBuilder builder;
    builder.input("x", {2}).node("y", "aten.relu.default", {value("self", "x")});
    builder.type("y", {3}).output("y");
    const Error error = errorOf(builder, subjectWith({floats({2}, {1, 2})}));
    EXPECT_EQ(error.kind, ErrorKind::Failed);
    EXPECT_THAT(error.what, HasSubstr("y, which has the shape [2] instead of [3]"));
}

TEST(PreparedProgram, RefusesInputsThatDoNotFit) {
    const auto builder = perceptron();
    const auto messageOf = [&](std::vector<TensorData> inputs) {
        const Error error = errorOf(builder, subjectWith(std::move(inputs)));
        EXPECT_EQ(error.kind, ErrorKind::InvalidInput);
        return error.what;
    };
    EXPECT_THAT(messageOf({floats({1, 3}, {1, 2, 3})}),
                HasSubstr("the input x has the shape [1, 3] instead of [1, 2]"));
    EXPECT_THAT(messageOf({integers({1, 2}, {1, 2})}), HasSubstr("int64 instead of float32"));
    EXPECT_THAT(messageOf({}), HasSubstr("takes 1 input tensors, and there are 0"));
    EXPECT_THAT(messageOf({floats({1, 2}, {1, 2}), floats({1}, {1})}), HasSubstr("there are 2"));
    EXPECT_THAT(messageOf({floats({1, 2}, {1})}), HasSubstr("the tensor x"));
    auto negative = floats({1, 2}, {1, 2});
    negative.type.sizes[1].value = -2;
    EXPECT_FALSE(messageOf({negative}).empty());
}

TEST(PreparedProgram, HoldsDynamicExtentsToTheirSymbols) {
    ProgramBuilder builder;
    builder.dynamicInput("x", {4, 1}, "s0", {2, 8})
        .dynamicInput("y", {4, 1}, "s0", {2, 8})
        .node("z", "aten.add.Tensor", {value("self", "x"), value("other", "y")})
        .output("z");
    const auto of = [](std::int64_t rows) {
        return floats({rows, 1}, std::vector<float>(static_cast<std::size_t>(rows), 1));
    };
    EXPECT_EQ(outputOf(builder, subjectWith({of(5), of(5)})).size(), 5u);
    EXPECT_THAT(errorOf(builder, subjectWith({of(5), of(6)})).what, HasSubstr("s0"));
    EXPECT_THAT(errorOf(builder, subjectWith({of(9), of(9)})).what, HasSubstr("outside"));
}

TEST(PreparedProgram, MakesUpWhatTheArchiveDoesNotHold) {
    ProgramBuilder builder;
    builder.input("x", {4, 8})
        .parameter("w", {8, 8})
        .node("y", "aten.linear.default", {value("input", "x"), value("weight", "w")})
        .output("y");
    TorchSubject subject;
    const auto first = outputOf(builder, subject);
    EXPECT_EQ(first, outputOf(builder, subject));
    subject.seed = 2;
    EXPECT_NE(first, outputOf(builder, subject));
    ProgramBuilder constant;
    constant
        .held(Input::Kind::Constant, "c",
              {contiguousType(ElementType::Float32, testing::Sizes{1}), {}, nullptr})
        .output("c");
    EXPECT_THAT(errorOf(constant, subject).what, HasSubstr("does not hold the constant module.c"));
}

TEST(PreparedProgram, IsMissingADeviceThatLibTorchLacks) {
    TorchSubject subject = subjectWith({floats({1, 2}, {1, 2})});
    subject.device = "cuda:99";
    EXPECT_EQ(errorOf(perceptron(), subject).kind, ErrorKind::Missing);
    subject.device = "abacus";
    EXPECT_FALSE(errorOf(perceptron(), subject).what.empty());
}

TEST(Tf32Limit, HoldsWhileItLives) {
    const auto isAllowed = [] {
        return std::pair(at::globalContext().allowTF32CuBLAS(),
                         at::globalContext().allowTF32CuDNN());
    };
    for (const bool products : {false, true}) {
        useTf32(products);
        {
            const Tf32Limit limit(true);
            EXPECT_EQ(isAllowed(), std::pair(false, false));
            const Tf32Limit none(false);
            EXPECT_EQ(isAllowed(), std::pair(false, false));
        }
        EXPECT_EQ(isAllowed(), std::pair(products, true));
        const Tf32Limit none(false);
        EXPECT_EQ(isAllowed(), std::pair(products, true));
    }
    useTf32(false);
}

TEST(PreparedProgram, IsTimed) {
    TorchTimingRequest request;
    request.subject = subjectWith({floats({1, 2}, {1, 2})});
    request.rounds = 7;
    const auto prepared = PreparedProgram::prepare(perceptron().build(), request.subject);
    ASSERT_TRUE(prepared) << prepared.error().describe();
    const auto timing = timeProgram(*prepared, request);
    ASSERT_TRUE(timing) << timing.error().describe();
    EXPECT_EQ(timing->microseconds.size(), 7u);
    EXPECT_GT(timing->median(), 0);
    EXPECT_FALSE(timing->areDeviceTimes);
    request.longest = std::chrono::milliseconds(0);
    EXPECT_EQ(timeProgram(*prepared, request)->microseconds.size(), 1u);
}

} // namespace
} // namespace kernelskill::engine::graph
