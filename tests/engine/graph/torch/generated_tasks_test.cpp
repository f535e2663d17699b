/// Kernels of generated models against LibTorch: on the emulator, on small tensors.
#include "analysis/raise/cost.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/read_program.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/program_run.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/emulated_model.h"
#include "tests/engine/graph/lowering/raised_values.h"
#include "tests/engine/graph/torch/shrunk_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>

namespace kernelskill::engine::graph::testing {
namespace {

/// The result of a comparison.
struct Outcome {
    enum class Kind : std::uint8_t { Agrees, Differs, NotCompared };
    Kind kind = Kind::Agrees;
    std::string why;
};

class GeneratedTasks : public kernelskill::testing::EmulatorFixture {
protected:
    /// Plans, runs and compares the program at its own extents.
    Outcome compared(Program graph) {
        const auto shapes = raised(graph);
        if (!shapes)
            return {Outcome::Kind::NotCompared, shapes.error().describe()};
        if (!withShapes(graph, *shapes))
            return {Outcome::Kind::NotCompared, "an extent is not known"};
        const auto plan = plannedModel(graph, "model", {});
        if (!plan)
            return {Outcome::Kind::NotCompared, plan.error().describe()};
        const auto wanted = reference(graph);
        if (!wanted)
            return {Outcome::Kind::NotCompared, wanted.error().describe()};
        BufferMemory memory(plan->program.buffers.size());
        std::size_t weight = 0;
        std::size_t input = 0;
        for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
            if (!graph.values.contains(graph.inputs[i].value))
                continue;
            const bool isUsers = graph.inputs[i].kind == Input::Kind::User;
            const ModelTensor& tensor =
                isUsers ? plan->inputs.at(input++) : plan->weights.at(weight++);
            const auto data = valuesOf(graph, graph.inputs[i]);
            if (!data)
                return {Outcome::Kind::NotCompared, data.error().describe()};
            memory[tensor.buffer].assign(data->bytes.begin(), data->bytes.end());
        }
        const auto done = runModel(*plan, {}, memory, *executor_, bench_.toolchain, {});
        if (!done)
            return {done.error().kind == ErrorKind::Unsupported ||
                            done.error().what.contains("cut off after")
                        ? Outcome::Kind::NotCompared
                        : Outcome::Kind::Differs,
                    done.error().describe()};
        std::size_t output = 0;
        for (const auto& tensor : wanted->outputs) {
            if (!tensor)
                continue;
            const ModelTensor& given = plan->outputs.at(output++);
            const std::string difference = differenceOf(plan->program.buffers[given.buffer].element,
                                                        memory[given.buffer], elementsOf(*tensor));
            if (!difference.empty())
                return {Outcome::Kind::Differs, given.source + ": " + difference};
        }
        return {};
    }

private:
    static Result<TensorData> valuesOf(const Program& graph, const Input& input) {
        const auto held = graph.tensors.find(input.target);
        if (held != graph.tensors.end() && held->second.owner != nullptr)
            return held->second;
        return seededTensor(graph, input, 3);
    }

    static Result<TorchRun> reference(const Program& graph) {
        TorchSubject subject;
        subject.precision = Precision::Float64;
        subject.seed = 3;
        const auto prepared =
            PreparedProgram::prepare(std::make_shared<const Program>(graph), subject);
        if (!prepared)
            return std::unexpected(prepared.error());
        return runProgram(*prepared, {});
    }

    /// Empty if all elements are near: the kernels compute in float, or round to halves.
    static std::string differenceOf(analysis::ScalarKind element,
                                    const std::vector<std::byte>& bytes,
                                    const std::vector<double>& wanted) {
        const bool isHalf =
            element == analysis::ScalarKind::Half || element == analysis::ScalarKind::BFloat16;
        const std::vector<double> got = elementsOf(element, bytes);
        if (got.size() != wanted.size())
            return std::to_string(got.size()) + " elements, not " + std::to_string(wanted.size());
        const double tolerance = isHalf ? 2e-2 : 2e-4;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const bool isSame =
                got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]));
            const double error = std::abs(got[i] - wanted[i]);
            if (!isSame && !(error <= tolerance * std::max(1.0, std::abs(wanted[i]))))
                return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
                       std::to_string(wanted[i]);
        }
        return "";
    }

    static std::vector<double> elementsOf(analysis::ScalarKind element,
                                          const std::vector<std::byte>& bytes) {
        return testing::elementsOf(
            {contiguousType(elementTypeOf(element),
                            std::vector<std::int64_t>{static_cast<std::int64_t>(
                                bytes.size() / analysis::scalarBytes(element))}),
             bytes, nullptr});
    }
    static std::vector<double> elementsOf(const TensorData& tensor) {
        return testing::elementsOf(tensor);
    }
    static ElementType elementTypeOf(analysis::ScalarKind element) {
        using analysis::ScalarKind;
        switch (element) {
        case ScalarKind::Bool:
            return ElementType::Bool;
        case ScalarKind::Int32:
            return ElementType::Int32;
        case ScalarKind::Int64:
            return ElementType::Int64;
        case ScalarKind::Half:
            return ElementType::Float16;
        case ScalarKind::BFloat16:
            return ElementType::BFloat16;
        case ScalarKind::Double:
            return ElementType::Float64;
        default:
            return ElementType::Float32;
        }
    }
};

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks.
TEST_F(GeneratedTasks, AgreeWithLibTorchOnTheEmulator) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    const char* only = std::getenv("KERNELSKILL_TASK");
    auto archives = archivesIn(folder);
    if (only != nullptr)
        std::erase_if(archives, [&](const std::filesystem::path& archive) {
            return !archive.string().contains(only);
        });
    std::size_t agree = 0;
    for (const std::filesystem::path& archive : archives) {
        const auto graph = readProgram(archive);
        ASSERT_TRUE(graph) << graph.error().describe();
        const Outcome outcome = compared(shrunk(*graph));
        agree += outcome.kind == Outcome::Kind::Agrees ? 1 : 0;
        if (outcome.kind == Outcome::Kind::Differs)
            ADD_FAILURE() << archive.filename().string() << ": " << outcome.why;
        else
            std::cout << archive.filename().string() << ": "
                      << (outcome.why.empty() ? "agrees" : outcome.why) << std::endl;
    }
    std::cout << agree << " of " << archives.size() << " agree\n";
    EXPECT_GE(agree, only == nullptr ? 60U : 1U);
}

} // namespace
} // namespace kernelskill::engine::graph::testing
