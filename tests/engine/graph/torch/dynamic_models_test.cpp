/// Kernels of models with dynamic extents against LibTorch: one set of kernels, on the emulator,
/// for several values of the extents.
#include "engine/graph/check/model_check.h"
#include "engine/graph/read_program.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/dynamic_programs.h"
#include "tests/engine/graph/exported_program.h"
#include "tests/engine/graph/torch/torch_model_reference.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {

void PrintTo(const DynamicProgram& program, std::ostream* stream);
void PrintTo(const DynamicProgram& program, std::ostream* stream) {
    *stream << program.name;
}

namespace {

class DynamicModels : public kernelskill::testing::EmulatorFixture {
protected:
    /// The program as an archive holds it.
    Program written(const DynamicProgram& dynamic) const {
        const std::filesystem::path archive = folder_.path() / (dynamic.name + ".pt2");
        writeExported(dynamic.program, archive);
        auto program = readProgram(archive);
        EXPECT_TRUE(program) << program.error().describe();
        return program ? *std::move(program) : Program{};
    }

    ModelCheck checked(const Program& program, const ModelOptions& options = {}) {
        return checkModel(program, referenceFor(program, 3), {.model = options, .seed = 3},
                          *executor_, bench_.toolchain, {});
    }

    kernelskill::testing::TemporaryFolder folder_;
};

class DynamicModel : public DynamicModels, public ::testing::WithParamInterface<DynamicProgram> {};

TEST_P(DynamicModel, AgreesWithLibTorchForSeveralExtents) {
    const ModelCheck check = checked(written(GetParam()));
    EXPECT_EQ(nameOf(check.outcome), "agrees") << check.why;
    EXPECT_EQ(check.why, "") << "all of the extents are compared";
    EXPECT_EQ(check.shapes.size(), 3U);
}

TEST_P(DynamicModel, AgreesWithTensorCores) {
    for (const MultiplyUnit unit : {MultiplyUnit::TF32Split, MultiplyUnit::BFloat16Split}) {
        ModelOptions options;
        options.kernels.multiply = unit;
        const ModelCheck check = checked(written(GetParam()), options);
        EXPECT_EQ(nameOf(check.outcome), "agrees") << check.why;
        EXPECT_EQ(check.why, "");
    }
}

TEST_P(DynamicModel, AgreesWithProductsLeftToALibrary) {
    ModelOptions options;
    options.usesLibraries = true;
    const ModelCheck check = checked(written(GetParam()), options);
    EXPECT_EQ(nameOf(check.outcome), "agrees") << check.why;
    EXPECT_EQ(check.why, "");
}

/// The task with a symbol for the first extent of its inputs, where that is the same for all; with
/// sizes in arguments that are this extent. nullopt if there is no such extent, or if another one
/// is the same and may have to be.
std::optional<Program> withDynamicBatch(Program program) {
    std::optional<std::int64_t> batch;
    for (const Input& input : program.inputs) {
        const auto type = program.values.find(input.value);
        if (input.kind != Input::Kind::User || type == program.values.end())
            continue;
        if (type->second.sizes.empty() || (batch && *batch != type->second.sizes[0].value))
            return std::nullopt;
        batch = type->second.sizes[0].value;
    }
    if (!batch || *batch < 2)
        return std::nullopt;
    for (const Input& input : program.inputs)
        if (const auto type = program.values.find(input.value); type != program.values.end())
            for (std::size_t i = input.kind == Input::Kind::User ? 1 : 0;
                 i < type->second.sizes.size(); ++i)
                if (type->second.sizes[i].value == *batch)
                    return std::nullopt;
    const Extent dynamic{*batch, "s0"};
    program.symbols["s0"] = {1, {}};
    for (const Input& input : program.inputs)
        if (const auto type = program.values.find(input.value);
            input.kind == Input::Kind::User && type != program.values.end())
            type->second.sizes[0] = dynamic;
    program.symbolicInts["batch"] = dynamic;
    for (Node& node : program.nodes)
        for (NamedArgument& argument : node.arguments) {
            const auto* sizes = std::get_if<std::vector<std::int64_t>>(&argument.value);
            if (argument.name != "size" || sizes == nullptr || sizes->empty() ||
                sizes->front() != *batch)
                continue;
            std::vector<SymbolicInt> numbers(sizes->begin(), sizes->end());
            numbers.front() = ValueName{"batch"};
            argument.value = std::move(numbers);
        }
    auto typed = withRaisedTypes(std::move(program));
    return typed ? std::optional(*std::move(typed)) : std::nullopt;
}

/// Tasks of KernelBench for batches of any size.
class DynamicTask : public DynamicModels, public ::testing::WithParamInterface<const char*> {};

TEST_P(DynamicTask, AgreesWithLibTorchForSeveralBatches) {
    const std::filesystem::path folder =
        std::string(paths::sourceFolder) + "/tests/engine/graph/programs/kernelbench";
    const auto read = readProgram(folder / (std::string(GetParam()) + ".pt2"));
    ASSERT_TRUE(read) << read.error().describe();
    const auto program = withDynamicBatch(*read);
    ASSERT_TRUE(program);
    const ModelCheck check = checked(*program);
    EXPECT_EQ(nameOf(check.outcome), "agrees") << check.why;
    EXPECT_EQ(check.why, "");
    EXPECT_GE(check.shapes.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    OfKernelBench, DynamicTask,
    ::testing::Values("level1-23_Softmax", "level1-36_RMSNorm_", "level1-38_L1Norm_",
                      "level1-95_CrossEntropyLoss", "level2-30_Gemm_GroupNorm_Hardtanh",
                      "level1-55_conv_standard_2D__asymmetric_input__square_kernel"),
    [](const auto& info) {
        std::string name = info.param;
        std::ranges::replace(name, '-', '_');
        return name;
    });

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks, KERNELSKILL_TASK a part of the names
/// of those to take.
TEST_F(DynamicModels, OfAFolderAgreeWithLibTorchForSeveralBatches) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    const char* only = std::getenv("KERNELSKILL_TASK");
    for (const std::filesystem::path& archive : archivesIn(folder)) {
        if (only != nullptr && !archive.string().contains(only))
            continue;
        const auto read = readProgram(archive);
        const auto program = read ? withDynamicBatch(*read) : std::nullopt;
        const std::string name = archive.filename().string();
        if (!program) {
            std::cout << name << ": has no batch" << std::endl;
            continue;
        }
        const ModelCheck check = checked(*program);
        EXPECT_NE(check.outcome, ModelCheck::Outcome::Differs) << name << ": " << check.why;
        std::cout << name << ": " << nameOf(check.outcome) << " for " << check.shapes.size()
                  << " batches " << check.why << std::endl;
    }
}

INSTANTIATE_TEST_SUITE_P(OfTheTests, DynamicModel, ::testing::ValuesIn(dynamicPrograms()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::engine::graph::testing
