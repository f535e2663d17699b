/// Raised programs against LibTorch, in float64 on small tensors, where both compute nearly the
/// same.
#include "engine/graph/check/model_check.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/read_program.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/reference/smaller_program.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/program_run.h"
#include "tests/analysis/raise/interpreter.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/lowering/raised_values.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/engine/graph/torch/torch_model_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

/// The result of a comparison of a raised program.
struct Outcome {
    enum class Kind : std::uint8_t {
        Agrees,
        Differs,
        NotRaised, ///< A node is left to a library, or takes too long.
        NotRun,    ///< LibTorch does not take the program on these tensors.
    };
    Kind kind = Kind::Agrees;
    std::string why;
};

bool isNear(double one, double other) {
    if (std::isnan(one) || std::isnan(other))
        return std::isnan(one) && std::isnan(other);
    return one == other || std::abs(one - other) <= 1e-8 * std::max(1.0, std::abs(other));
}

Outcome compared(Program graph) {
    const auto program = raised(graph);
    if (!program)
        return {Outcome::Kind::NotRaised, program.error().describe()};
    for (const auto& step : program->program.steps)
        if (const auto* call = std::get_if<analysis::raise::LibraryCall>(&step))
            return {Outcome::Kind::NotRaised, call->node + ": " + call->reason};
    auto typed = withRaisedTypes(std::move(graph));
    if (!typed)
        return {Outcome::Kind::NotRun, typed.error().describe()};
    graph = *std::move(typed);
    analysis::raise::Memory memory(program->program.buffers.size());
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        if (!program->inputs[i])
            continue;
        const auto held = graph.tensors.find(graph.inputs[i].target);
        const bool isHeld = held != graph.tensors.end() && held->second.owner != nullptr;
        const auto tensor =
            isHeld ? Result<TensorData>(held->second) : seededTensor(graph, graph.inputs[i], 3);
        if (!tensor)
            return {Outcome::Kind::NotRun, tensor.error().describe()};
        memory[*program->inputs[i]] = numbersIn(*tensor);
    }
    TorchSubject subject;
    subject.precision = Precision::Float64;
    subject.seed = 3;
    const auto prepared = PreparedProgram::prepare(std::make_shared<const Program>(graph), subject);
    if (!prepared)
        return {Outcome::Kind::NotRun, prepared.error().describe()};
    const auto run = runProgram(*prepared, {});
    if (!run)
        return {Outcome::Kind::NotRun, run.error().describe()};
    const auto done =
        interpret(program->program, memory,
                  {.precision = analysis::raise::Precision::Double, .maxElements = 1'000'000});
    if (!done)
        return {done.error().contains("too many") ? Outcome::Kind::NotRaised
                                                  : Outcome::Kind::Differs,
                done.error()};
    for (std::size_t i = 0; i < run->outputs.size(); ++i) {
        if (!run->outputs[i] || !program->outputs[i])
            continue;
        const std::vector<double> wanted = numbersIn(*run->outputs[i]);
        const std::vector<double>& got = memory.at(*program->outputs[i]);
        if (wanted.size() != got.size())
            return {Outcome::Kind::Differs,
                    std::to_string(got.size()) + " elements, not " + std::to_string(wanted.size())};
        for (std::size_t at = 0; at < got.size(); ++at)
            if (!isNear(got[at], wanted[at]))
                return {Outcome::Kind::Differs,
                        "output " + std::to_string(i) + ", element " + std::to_string(at) + ": " +
                            std::to_string(got[at]) + ", not " + std::to_string(wanted[at])};
    }
    return {};
}

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks.
TEST(RaisedTasks, AgreeWithLibTorchOnSmallTensors) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    const auto archives = archivesIn(folder);
    std::size_t agree = 0;
    for (const std::filesystem::path& archive : archives) {
        const auto graph = readProgram(archive);
        ASSERT_TRUE(graph) << graph.error().describe();
        const Outcome outcome = compared(withExtents(*graph, 12));
        agree += outcome.kind == Outcome::Kind::Agrees ? 1 : 0;
        if (outcome.kind == Outcome::Kind::Differs)
            ADD_FAILURE() << archive.filename().string() << ": " << outcome.why;
        else if (outcome.kind != Outcome::Kind::Agrees)
            std::cout << archive.filename().string() << " is not compared: " << outcome.why
                      << std::endl;
    }
    std::cout << agree << " of " << archives.size() << " agree\n";
    EXPECT_GE(agree, 40U);
}

// Operators in forms that few programs have.

class RaisedOperator : public kernelskill::testing::EmulatorFixture {
protected:
    using Arguments = std::vector<NamedArgument>;

    /// The node's results are outputs. `types`: their element types.
    void check(const std::string& target, const Arguments& arguments,
               const std::vector<ElementType>& types = {ElementType::Float32}) {
        std::vector<std::vector<std::string>> names;
        for (std::size_t i = 0; i < types.size(); ++i) {
            names.push_back({"result" + std::to_string(i)});
            builder.type(names.back().front(), {}, types[i]);
        }
        builder.nodeWithResults("node", target, arguments, names);
        for (const auto& name : names)
            builder.output(name.front());
        const Program& program = builder.program();
        const Outcome outcome = compared(program);
        EXPECT_EQ(outcome.kind, Outcome::Kind::Agrees) << target << ": " << outcome.why;
        const ModelCheck generated =
            checkModel(program, referenceFor(program, 3), {.model = {}, .seed = 3}, *executor_,
                       bench_.toolchain, {});
        EXPECT_EQ(generated.outcome, ModelCheck::Outcome::Agrees)
            << "kernels of " << target << ": " << generated.why;
        builder = {};
    }
    static std::vector<std::int64_t> list(std::vector<std::int64_t> values) { return values; }

    ProgramBuilder builder;
};

TEST_F(RaisedOperator, ConvolvesGroups) {
    builder.input("x", {2, 6, 7, 8}).parameter("w", {4, 3, 3, 2}).parameter("b", {4});
    check("aten.conv2d.default", {value("input", "x"),
                                  value("weight", "w"),
                                  value("bias", "b"),
                                  {"stride", list({2, 1})},
                                  {"padding", list({1, 2})},
                                  {"dilation", list({1, 3})},
                                  {"groups", std::int64_t{2}}});
    builder.input("x", {5, 9}).parameter("w", {5, 1, 3});
    check("aten.conv1d.default", {value("input", "x"),
                                  value("weight", "w"),
                                  {"padding", list({1})},
                                  {"groups", std::int64_t{5}}});
    builder.input("x", {1, 2, 4, 5, 6}).parameter("w", {3, 2, 2, 3, 1});
    check("aten.conv3d.default", {value("input", "x"),
                                  value("weight", "w"),
                                  {"stride", list({2, 2, 1})},
                                  {"padding", list({1, 0, 1})}});
}

TEST_F(RaisedOperator, TransposesConvolutions) {
    builder.input("x", {2, 4, 5, 6}).parameter("w", {4, 3, 3, 2}).parameter("b", {6});
    check("aten.conv_transpose2d.input", {value("input", "x"),
                                          value("weight", "w"),
                                          value("bias", "b"),
                                          {"stride", list({3, 2})},
                                          {"padding", list({1, 1})},
                                          {"output_padding", list({2, 1})},
                                          {"groups", std::int64_t{2}},
                                          {"dilation", list({2, 3})}});
    builder.input("x", {1, 2, 7}).parameter("w", {2, 3, 4});
    check("aten.conv_transpose1d.default",
          {value("input", "x"), value("weight", "w"), {"stride", list({2})}});
    builder.input("x", {1, 2, 3, 4, 3}).parameter("w", {2, 1, 2, 3, 3});
    check("aten.conv_transpose3d.input", {value("input", "x"),
                                          value("weight", "w"),
                                          {"stride", list({2, 1, 2})},
                                          {"padding", list({0, 1, 1})}});
}

TEST_F(RaisedOperator, Pools) {
    for (const bool roundsUp : {false, true}) {
        builder.input("x", {2, 3, 7, 9});
        check("aten.max_pool2d.default", {value("self", "x"),
                                          {"kernel_size", list({3, 2})},
                                          {"stride", list({2, 2})},
                                          {"padding", list({1, 1})},
                                          {"dilation", list({1, 2})},
                                          {"ceil_mode", roundsUp}});
        for (const bool counts : {false, true}) {
            builder.input("x", {2, 3, 7, 9});
            check("aten.avg_pool2d.default", {value("self", "x"),
                                              {"kernel_size", list({3, 2})},
                                              {"stride", list({2, 3})},
                                              {"padding", list({1, 1})},
                                              {"ceil_mode", roundsUp},
                                              {"count_include_pad", counts}});
        }
    }
    builder.input("x", {2, 10});
    check("aten.avg_pool1d.default", {value("self", "x"), {"kernel_size", list({3})}});
    builder.input("x", {1, 2, 5, 6, 7});
    check("aten.avg_pool3d.default", {value("self", "x"),
                                      {"kernel_size", list({2, 3, 2})},
                                      {"divisor_override", std::int64_t{7}}});
    builder.input("x", {2, 5, 7});
    check("aten.adaptive_avg_pool2d.default", {value("self", "x"), {"output_size", list({3, 4})}});
    builder.input("x", {2, 5, 12});
    check("aten.adaptive_avg_pool1d.default", {value("self", "x"), {"output_size", list({4})}});
}

TEST_F(RaisedOperator, MultipliesVectorsAndBatches) {
    const std::vector<std::pair<Sizes, Sizes>> shapes{{{4}, {4}},         {{3, 4}, {4}},
                                                      {{4}, {4, 5}},      {{2, 3, 4}, {4}},
                                                      {{4}, {2, 4, 5}},   {{2, 1, 3, 4}, {5, 4, 2}},
                                                      {{3, 4}, {2, 4, 5}}};
    for (const auto& [left, right] : shapes) {
        builder.input("x", left).input("y", right);
        check("aten.matmul.default", {value("self", "x"), value("other", "y")});
    }
    builder.input("x", {4}).parameter("w", {3, 4});
    check("aten.linear.default", {value("input", "x"), value("weight", "w")});
}

TEST_F(RaisedOperator, ReadsEquations) {
    builder.input("x", {2, 3, 4}).input("y", {4, 5, 2});
    check("aten.einsum.default", {{"equation", std::string("bij,jkb->kbi")},
                                  {"tensors", std::vector<ValueName>{{"x"}, {"y"}}}});
    builder.input("x", {3, 3}).input("y", {3});
    check("aten.einsum.default",
          {{"equation", std::string("ij, j")}, {"tensors", std::vector<ValueName>{{"x"}, {"y"}}}});
    builder.input("x", {3}).input("y", {4});
    check("aten.einsum.default", {{"equation", std::string("i,j->ji")},
                                  {"tensors", std::vector<ValueName>{{"x"}, {"y"}}}});
}

TEST_F(RaisedOperator, MultipliesManyTensorsPairByPair) {
    const auto product = [&](const std::string& equation, const std::vector<ValueName>& tensors) {
        check("aten.einsum.default", {{"equation", equation}, {"tensors", tensors}});
    };
    builder.input("x", {8, 7}).input("y", {7, 9}).input("z", {9, 6});
    product("ij,jk,kl->il", {{"x"}, {"y"}, {"z"}});
    builder.input("x", {8, 7}).parameter("y", {7, 9}).parameter("z", {9, 6});
    product("ij,jk,kl->li", {{"x"}, {"y"}, {"z"}});
    builder.input("x", {8, 1}).input("y", {7, 9}).input("z", {9, 6});
    product("ij,jk,kl->il", {{"x"}, {"y"}, {"z"}});
    builder.input("x", {3, 2, 5, 4, 6})
        .parameter("y", {3, 2, 7, 4, 6})
        .input("z", {3, 4, 2, 5, 7})
        .input("u", {3, 2, 7, 4, 8});
    product("bclhn,bcshn,bhcls,bcshp->bclhp", {{"x"}, {"y"}, {"z"}, {"u"}});
}

TEST_F(RaisedOperator, Reduces) {
    for (const bool keeps : {false, true}) {
        builder.input("x", {2, 3, 4});
        check("aten.sum.dim_IntList",
              {value("self", "x"), {"dim", list({-1, 0})}, {"keepdim", keeps}});
        builder.input("x", {2, 3, 4});
        check("aten.logsumexp.default",
              {value("self", "x"), {"dim", list({1, 2})}, {"keepdim", keeps}});
        builder.input("x", {2, 3, 4});
        check("aten.max.dim", {value("self", "x"), {"dim", std::int64_t{-2}}, {"keepdim", keeps}},
              {ElementType::Float32, ElementType::Int64});
        builder.input("x", {2, 3, 4});
        check("aten.argmin.default",
              {value("self", "x"), {"dim", std::int64_t{1}}, {"keepdim", keeps}},
              {ElementType::Int64});
    }
    builder.input("x", {2, 3, 4});
    check("aten.argmax.default", {value("self", "x")}, {ElementType::Int64});
    builder.input("x", {2, 3, 4});
    check("aten.mean.default", {value("self", "x")});
    for (const double order : {0.0, 1.0, 2.0, 3.0, static_cast<double>(INFINITY)}) {
        builder.input("x", {2, 3, 4});
        check("aten.linalg_vector_norm.default",
              {value("self", "x"), {"ord", order}, {"dim", list({1})}});
    }
    builder.input("x", {2, 3, 4});
    check("aten.log_softmax.int", {value("self", "x"), {"dim", std::int64_t{1}}});
    builder.input("x", {2, 3, 4});
    check("aten.cumprod.default", {value("self", "x"), {"dim", std::int64_t{-1}}});
}

TEST_F(RaisedOperator, MovesElements) {
    builder.input("x", {2, 3, 8});
    check("aten.slice.Tensor", {value("self", "x"),
                                {"dim", std::int64_t{2}},
                                {"start", std::int64_t{-6}},
                                {"end", std::int64_t{-1}},
                                {"step", std::int64_t{2}}});
    builder.input("x", {2, 3, 4});
    check("aten.roll.default",
          {value("self", "x"), {"shifts", list({5, -1})}, {"dims", list({1, 2})}});
    builder.input("x", {2, 3, 4});
    check("aten.roll.default", {value("self", "x"), {"shifts", list({7})}});
    builder.input("x", {2, 3, 4});
    check("aten.flip.default", {value("self", "x"), {"dims", list({0, -1})}});
    builder.input("x", {2, 9});
    check("aten.unfold.default", {value("self", "x"),
                                  {"dimension", std::int64_t{1}},
                                  {"size", std::int64_t{4}},
                                  {"step", std::int64_t{3}}});
    builder.input("x", {4, 5});
    check("aten.tril.default", {value("self", "x"), {"diagonal", std::int64_t{-1}}});
    builder.input("x", {2, 5, 4});
    check("aten.triu.default", {value("self", "x"), {"diagonal", std::int64_t{1}}});
    builder.input("x", {3, 4});
    check("aten.pad.default", {value("self", "x"), {"pad", list({1, 2, -1, 3})}, {"value", 0.5}});
    builder.input("x", {3, 4}).input("y", {3, 2}).input("z", {3, 1});
    check("aten.cat.default",
          {{"tensors", std::vector<ValueName>{{"x"}, {"y"}, {"z"}}}, {"dim", std::int64_t{-1}}});
    builder.input("x", {3, 4}).input("y", {3, 4});
    check("aten.stack.default",
          {{"tensors", std::vector<ValueName>{{"x"}, {"y"}}}, {"dim", std::int64_t{1}}});
    builder.input("x", {2, 3, 4});
    check("aten.flatten.using_ints", {value("self", "x"), {"start_dim", std::int64_t{1}}});
    builder.input("x", {2, 12});
    check("aten.unflatten.int",
          {value("self", "x"), {"dim", std::int64_t{1}}, {"sizes", list({3, -1})}});
    builder.input("x", {3, 1});
    check("aten.expand.default", {value("self", "x"), {"size", list({2, -1, 4})}});
}

TEST_F(RaisedOperator, TakesTensorsWithoutElements) {
    builder.input("x", {0, 16}).parameter("w", {8, 16});
    check("aten.linear.default", {value("input", "x"), value("weight", "w")});
    builder.input("x", {4, 0}).parameter("w", {8, 0});
    check("aten.linear.default", {value("input", "x"), value("weight", "w")});
    builder.input("x", {4, 0, 3});
    check("aten.sum.dim_IntList", {value("self", "x"), {"dim", list({1})}});
    builder.input("x", {0, 5});
    check("aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{-1}}});
}

TEST_F(RaisedOperator, Gathers) {
    using Indices = std::vector<std::optional<ValueName>>;
    builder.input("x", {4, 5, 6})
        .held(Input::Kind::Constant, "i", integers({2, 1}, {3, -1}))
        .held(Input::Kind::Constant, "j", integers({3}, {0, 4, 2}));
    check("aten.index.Tensor",
          {value("self", "x"), {"indices", Indices{ValueName{"i"}, ValueName{"j"}}}});
    builder.input("x", {4, 5, 6}).held(Input::Kind::Constant, "j", integers({3}, {0, 4, 2}));
    check("aten.index.Tensor",
          {value("self", "x"), {"indices", Indices{std::nullopt, ValueName{"j"}}}});
    builder.input("x", {4, 5, 6})
        .held(Input::Kind::Constant, "i", integers({2}, {3, 1}))
        .held(Input::Kind::Constant, "j", integers({2}, {0, 5}));
    check("aten.index.Tensor",
          {value("self", "x"), {"indices", Indices{ValueName{"i"}, std::nullopt, ValueName{"j"}}}});
}

TEST_F(RaisedOperator, Attends) {
    for (const bool isCausal : {false, true}) {
        builder.input("q", {2, 3, 5, 4}).input("k", {2, 3, 5, 4}).input("v", {2, 3, 5, 6});
        check(
            "aten.scaled_dot_product_attention.default",
            {value("query", "q"), value("key", "k"), value("value", "v"), {"is_causal", isCausal}});
    }
}

TEST_F(RaisedOperator, ComputesLosses) {
    for (const std::int64_t averaging : {0, 1, 2}) {
        builder.input("x", {4, 5}).input("y", {4, 5});
        check("aten.smooth_l1_loss.default",
              {value("self", "x"), value("target", "y"), {"reduction", averaging}, {"beta", 0.3}});
        builder.input("x", {4, 5}).held(Input::Kind::Constant, "t", integers({4}, {0, 4, -100, 2}));
        check("aten.cross_entropy_loss.default",
              {value("self", "x"), value("target", "t"), {"reduction", averaging}});
        builder.input("a", {4, 5}).input("p", {4, 5}).input("n", {4, 5});
        check("aten.triplet_margin_loss.default", {value("anchor", "a"),
                                                   value("positive", "p"),
                                                   value("negative", "n"),
                                                   {"reduction", averaging}});
    }
}

TEST_F(RaisedOperator, Normalises) {
    builder.input("x", {2, 6, 5}).parameter("w", {6}).parameter("b", {6});
    check("aten.group_norm.default", {value("input", "x"),
                                      {"num_groups", std::int64_t{3}},
                                      value("weight", "w"),
                                      value("bias", "b")});
    builder.input("x", {2, 3, 4, 5}).parameter("w", {4, 5});
    check("aten.layer_norm.default",
          {value("input", "x"), {"normalized_shape", list({4, 5})}, value("weight", "w")});
}

TEST_F(RaisedOperator, WorksOnEachElement) {
    const std::vector<std::pair<std::string, Arguments>> operators{
        {"aten.gelu.default", {}},
        {"aten.gelu.default", {{"approximate", std::string("tanh")}}},
        {"aten.mish.default", {}},
        {"aten.softplus.default", {{"beta", 30.0}}},
        {"aten.selu.default", {}},
        {"aten.elu.default", {{"alpha", 0.7}}},
        {"aten.hardswish.default", {}},
        {"aten.hardsigmoid.default", {}},
        {"aten.hardtanh.default", {{"min_val", -0.2}, {"max_val", 0.3}}},
        {"aten.leaky_relu.default", {{"negative_slope", 0.2}}},
        {"aten.clamp.default", {{"max", 0.1}}},
        {"aten.pow.Tensor_Scalar", {{"exponent", 3.0}}},
        {"aten.rsub.Scalar", {{"other", 2.0}, {"alpha", 3.0}}}};
    for (const auto& [target, others] : operators) {
        builder.input("x", {3, 7});
        Arguments arguments{value("self", "x")};
        arguments.insert(arguments.end(), others.begin(), others.end());
        check(target, arguments);
    }
    builder.input("x", {3, 7}).input("y", {7});
    check("aten.add.Tensor", {value("self", "x"), value("other", "y"), {"alpha", 0.5}});
    builder.input("x", {3, 1}).input("y", {4});
    check("aten.div.Tensor", {value("self", "x"), value("other", "y")});
}

} // namespace
} // namespace kernelskill::engine::graph::testing
