/// Generated kernels on the emulator: against PyTorch's outputs, and against the raised program in
/// shapes that take every schedule to its edges.
#include "engine/graph/check/emulated_model.h"
#include "engine/graph/check/tensor_numbers.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/read_program.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/lowering/raised_values.h"
#include "tests/engine/graph/sample_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

class EmulatedModel : public kernelskill::testing::EmulatorFixture {
protected:
    /// The elements of each output of the planned model.
    std::vector<std::vector<double>> outputsOf(const Program& graph, const ModelPlan& plan,
                                               const std::vector<TensorData>& inputs) {
        BufferMemory memory(plan.program.buffers.size());
        for (std::size_t i = 0; i < inputs.size(); ++i)
            memory[plan.inputs.at(i).buffer].assign(inputs[i].bytes.begin(), inputs[i].bytes.end());
        for (const ModelTensor& weight : plan.weights) {
            const auto input = std::ranges::find(graph.inputs, weight.source, &Input::value);
            const TensorData& data = graph.tensors.at(input->target);
            memory[weight.buffer].assign(data.bytes.begin(), data.bytes.end());
        }
        std::map<std::string, std::int64_t> sizes;
        for (const auto& [symbol, range] : graph.symbols)
            sizes[symbol] = inputs.at(0).type.sizes.at(0).value;
        const auto done = runModel(plan, sizes, memory, *executor_, bench_.toolchain, {});
        EXPECT_TRUE(done) << done.error().describe();
        std::vector<std::vector<double>> outputs;
        for (const ModelTensor& output : plan.outputs)
            outputs.push_back(
                numbersIn(plan.program.buffers[output.buffer].element, memory[output.buffer]));
        return outputs;
    }

    /// Runs the program, whose inputs are made up, and compares it with its raised program.
    /// `steps`: how many kernels it is to have.
    void check(const ProgramBuilder& builder, std::size_t steps, double tolerance = 2e-5) {
        const Program graph = *builder.build();
        const auto reference = raised(graph);
        ASSERT_TRUE(reference) << reference.error().describe();
        std::vector<TensorData> inputs;
        for (const Input& input : graph.inputs) {
            auto data = seededTensor(graph, input, 5);
            ASSERT_TRUE(data) << data.error().describe();
            inputs.push_back(std::move(*data));
        }
        const auto plan = plannedModel(graph, "model", {});
        ASSERT_TRUE(plan) << plan.error().describe();
        EXPECT_EQ(plan->steps.size(), steps) << textOf(plan->program);
        const auto outputs = outputsOf(graph, *plan, inputs);
        analysis::raise::Memory memory = memoryOf(graph, *reference, inputs);
        const auto interpreted = interpret(reference->program, memory);
        ASSERT_TRUE(interpreted) << interpreted.error();
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const auto& wanted = memory.at(*reference->outputs.at(i));
            ASSERT_EQ(outputs[i].size(), wanted.size());
            for (std::size_t at = 0; at < wanted.size(); ++at)
                ASSERT_NEAR(outputs[i][at], wanted[at],
                            tolerance * std::max(1.0, std::abs(wanted[at])))
                    << "element " << at << " of output " << i;
        }
    }

    static std::vector<std::int64_t> list(std::vector<std::int64_t> values) { return values; }
};

class EmulatedSamples : public EmulatedModel,
                        public ::testing::WithParamInterface<std::pair<const char*, double>> {};

TEST_P(EmulatedSamples, ComputeWhatPyTorchComputed) {
    const auto& [name, tolerance] = GetParam();
    const SampleProgram sample = sampleProgram(name);
    const auto graph = readProgram(sample.archive);
    ASSERT_TRUE(graph) << graph.error().describe();
    const auto plan = plannedModel(*graph, "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    const auto outputs = outputsOf(*graph, *plan, sample.inputs);
    ASSERT_EQ(outputs.at(0).size(), sample.output.size());
    for (std::size_t i = 0; i < sample.output.size(); ++i)
        ASSERT_NEAR(outputs[0][i], static_cast<double>(sample.output[i]),
                    tolerance * std::max(1.0F, std::abs(sample.output[i])))
            << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(Archives, EmulatedSamples,
                         ::testing::Values(std::pair{"mlp", 2e-5}, std::pair{"mlp-dynamic", 2e-5},
                                           std::pair{"conv", 2e-5}, std::pair{"attention", 2e-5},
                                           std::pair{"bf16-product", 8e-3}));

TEST_F(EmulatedModel, NormalisesRowsOfAllLengths) {
    // A thread, a warp and a block a row; kept in registers or read again; with and without
    // vectors.
    for (const std::int64_t length : {1, 7, 31, 32, 33, 100, 1024, 1500, 5000, 41000}) {
        const std::int64_t rows = length > 2000 ? 3 : 9;
        ProgramBuilder builder;
        builder.input("x", {rows, length})
            .node("softmax", "aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{-1}}})
            .type("softmax", {rows, length})
            .output("softmax");
        SCOPED_TRACE(length);
        check(builder, length > 8192 ? 5 : 1);
    }
}

TEST_F(EmulatedModel, NormalisesAcrossColumns) {
    for (const std::int64_t channels : {3, 16, 64, 70}) {
        ProgramBuilder builder;
        builder.input("x", {2, channels, 5, 13})
            .node("softmax", "aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{1}}})
            .type("softmax", {2, channels, 5, 13})
            .output("softmax");
        SCOPED_TRACE(channels);
        check(builder, 1);
    }
}

TEST_F(EmulatedModel, NormalisesGroups) {
    ProgramBuilder builder;
    builder.input("x", {3, 12, 6, 7})
        .input("w", {12})
        .input("b", {12})
        .node("norm", "aten.group_norm.default",
              {value("input", "x"),
               {"num_groups", std::int64_t{4}},
               value("weight", "w"),
               value("bias", "b"),
               {"eps", 1e-5}})
        .type("norm", {3, 12, 6, 7})
        .output("norm");
    check(builder, 1);
}

TEST_F(EmulatedModel, StoresTransposedResultsOfRows) {
    // The rows are read four elements at a time, and written a row's stride apart.
    ProgramBuilder builder;
    builder.input("x", {8, 64})
        .node("softmax", "aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{1}}})
        .type("softmax", {8, 64})
        .node("turned", "aten.permute.default", {value("self", "softmax"), {"dims", list({1, 0})}})
        .type("turned", {64, 8})
        .output("turned");
    check(builder, 1);
}

TEST_F(EmulatedModel, ReducesFarMoreThanItKeeps) {
    // Split into parts: with equal parts, and with a guarded last one.
    for (const Sizes& sizes : {Sizes{256, 256}, Sizes{3, 99, 331}}) {
        ProgramBuilder builder;
        builder.input("x", sizes)
            .input("y", sizes)
            .node("loss", "aten.smooth_l1_loss.default", {value("self", "x"), value("target", "y")})
            .type("loss", {})
            .output("loss");
        SCOPED_TRACE(sizes.size());
        check(builder, 2);
    }
}

TEST_F(EmulatedModel, ReducesWithinAndAcrossRows) {
    for (const std::int64_t axis : {0, 1, 2}) {
        const Sizes sizes = {5, 70, 33};
        Sizes kept = sizes;
        kept.erase(kept.begin() + axis);
        ProgramBuilder builder;
        builder.input("x", sizes)
            .node("mean", "aten.mean.dim", {value("self", "x"), {"dim", list({axis})}})
            .type("mean", kept)
            .nodeWithResults("max", "aten.max.dim", {value("self", "x"), {"dim", axis}},
                             {{"most"}, {"place"}})
            .type("most", kept)
            .type("place", kept, ElementType::Int64)
            .output("mean")
            .output("most")
            .output("place");
        SCOPED_TRACE(axis);
        const Program graph = *builder.build();
        const auto plan = plannedModel(graph, "model", {});
        ASSERT_TRUE(plan) << plan.error().describe();
        check(builder, plan->steps.size());
    }
}

TEST_F(EmulatedModel, ScansAlongEachAxis) {
    for (const std::int64_t length : {1, 31, 1024, 2500})
        for (const std::int64_t axis : {0, 1}) {
            const Sizes sizes = axis == 0 ? Sizes{length, 6} : Sizes{6, length};
            ProgramBuilder builder;
            builder.input("x", sizes)
                .node("sum", "aten.cumsum.default", {value("self", "x"), {"dim", axis}})
                .type("sum", sizes)
                .output("sum");
            SCOPED_TRACE(length);
            check(builder, 1, 1e-4);
        }
}

TEST_F(EmulatedModel, ScansRowsFromTheirEnds) {
    ProgramBuilder builder;
    builder.input("x", {6, 2500})
        .node("turned", "aten.flip.default", {value("self", "x"), {"dims", list({1})}})
        .type("turned", {6, 2500})
        .node("sum", "aten.cumsum.default", {value("self", "turned"), {"dim", std::int64_t{1}}})
        .type("sum", {6, 2500})
        .node("result", "aten.flip.default", {value("self", "sum"), {"dims", list({1})}})
        .type("result", {6, 2500})
        .output("result");
    check(builder, 1, 1e-4);
}

TEST_F(EmulatedModel, PoolsWindows) {
    ProgramBuilder builder;
    builder.input("x", {2, 3, 17, 19})
        .node("pool", "aten.max_pool2d.default",
              {value("self", "x"),
               {"kernel_size", list({3, 2})},
               {"stride", list({2, 2})},
               {"padding", list({1, 1})}})
        .type("pool", {2, 3, 9, 10})
        .node("tanh", "aten.tanh.default", {value("self", "pool")})
        .type("tanh", {2, 3, 9, 10})
        .output("tanh");
    check(builder, 1);
}

TEST_F(EmulatedModel, HandsOneTensorOutTwice) {
    ProgramBuilder builder;
    builder.input("x", {40})
        .node("relu", "aten.relu.default", {value("self", "x")})
        .type("relu", {40})
        .output("relu")
        .output("relu");
    check(builder, 1);
}

TEST_F(EmulatedModel, NamesTheNodeThatALibraryWouldRun) {
    ProgramBuilder builder;
    builder.input("x", {4, 4})
        .node("unknown", "aten.linalg_inv.default", {value("A", "x")})
        .type("unknown", {4, 4})
        .output("unknown");
    const Program graph = *builder.build();
    const auto plan = plannedModel(graph, "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    BufferMemory memory;
    const auto done = runModel(*plan, {}, memory, *executor_, bench_.toolchain, {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::Unsupported);
    EXPECT_TRUE(done.error().describe().contains("unknown is left to a library"))
        << done.error().describe();
}

} // namespace
} // namespace kernelskill::engine::graph::testing
