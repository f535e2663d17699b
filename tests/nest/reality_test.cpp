// Nests against reality: kernels run on the emulator, which records each access.
#include "analysis/command/compile_command.h"
#include "analysis/nest/nest_text.h"
#include "engine/inputs/launch_inference.h"
#include "tests/file_parameters.h"
#include "tests/nest/agreement.h"
#include "tests/paths.h"
#include "tests/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

namespace kernelskill::testing {
namespace {

using namespace analysis;
using engine::LaunchSpec;
using engine::ProgramSource;

/// So that each access of the text is one at run time.
constexpr std::string_view unoptimised = "#pragma GCC optimize (\"O0\")\n";

class Reality {
public:
    Reality() {
        auto toolchain = findToolchain({.cudaPath = {}, .ignoreToolkit = true});
        EXPECT_TRUE(toolchain);
        toolchain_ = std::move(*toolchain);
        auto recorder = makeRecordingExecutor(toolchain_);
        EXPECT_TRUE(recorder);
        recorder_ = std::move(*recorder);
    }

    ProgramSource parse(const std::filesystem::path& path, std::string text) const {
        ProgramSource program;
        program.file = path.string();
        program.text = std::move(text);
        program.command = CompileCommands().inferred(path, path.parent_path());
        auto model = analyzeFile(program.file, program.text, program.command, toolchain_);
        EXPECT_TRUE(model) << model.error().describe();
        if (model)
            program.model = std::make_shared<FileModel>(std::move(*model));
        return program;
    }

    engine::Executor& recorder() const { return *recorder_; }

private:
    Toolchain toolchain_;
    std::unique_ptr<engine::Executor> recorder_;
};

NestSizes sizesOf(const LaunchSpec& launch) {
    NestSizes sizes;
    sizes.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
    sizes.block = {launch.block.x, launch.block.y, launch.block.z};
    for (const engine::ArgumentSpec& argument : launch.arguments)
        if (const auto* scalar = std::get_if<engine::ScalarSpec>(&argument);
            scalar != nullptr && scalar->integer)
            sizes.parameters[scalar->name] = *scalar->integer;
    return sizes;
}

/// The number's bytes, and itself, become `value`.
void setInteger(engine::ScalarSpec& scalar, std::int64_t value) {
    scalar.integer = value;
    for (std::size_t i = 0; i < scalar.bytes.size(); ++i) {
        constexpr unsigned bits = 8;
        scalar.bytes[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (bits * i));
    }
}

/// A guessed launch with other numbers, so small that each access can be looked at.
LaunchSpec made(LaunchSpec launch, const engine::Dim3& grid, const engine::Dim3& block,
                const std::vector<std::int64_t>& numbers) {
    launch.grid = grid;
    launch.block = block;
    std::size_t next = 0;
    for (engine::ArgumentSpec& argument : launch.arguments) {
        if (auto* scalar = std::get_if<engine::ScalarSpec>(&argument);
            scalar != nullptr && scalar->integer)
            setInteger(*scalar, numbers[std::min(next++, numbers.size() - 1)]);
        else if (auto* buffer = std::get_if<engine::BufferSpec>(&argument))
            buffer->elements.reset();
    }
    return launch;
}

std::vector<LaunchSpec> launchesOf(const engine::KernelRef& kernel) {
    auto inferred = engine::inferLaunches(kernel.file(), kernel.kernel);
    if (!inferred)
        return {};
    const LaunchSpec& first = inferred->front();
    if (first.origin != engine::LaunchOrigin::Guessed)
        return {first};
    const engine::Dim3 plane = first.block.z > 1   ? engine::Dim3{8, 2, 2}
                               : first.block.y > 1 ? engine::Dim3{8, 4, 1}
                                                   : engine::Dim3{32, 1, 1};
    const engine::Dim3 few{3, std::min(first.grid.y, 3U), std::min(first.grid.z, 2U)};
    return {made(first, few, first.block, {300, 11, 7}),
            made(first, {2, std::min(first.grid.y, 2U), std::min(first.grid.z, 2U)}, plane,
                 {75, 13, 5})};
}

/// The blocks of a record.
std::vector<Index3> blocksOf(const std::vector<RecordedAccess>& seen, const LaunchSpec& launch,
                             std::uint64_t sampled) {
    std::vector<Index3> blocks;
    if (launch.grid.count() <= sampled) {
        for (std::int64_t z = 0; z < launch.grid.z; ++z)
            for (std::int64_t y = 0; y < launch.grid.y; ++y)
                for (std::int64_t x = 0; x < launch.grid.x; ++x)
                    blocks.push_back({x, y, z});
        return blocks;
    }
    std::set<Index3> found;
    for (const RecordedAccess& access : seen)
        found.insert(access.block);
    blocks.assign(found.begin(), found.end());
    return blocks;
}

struct Comparison {
    std::string skipped; ///< Why there is none.
    bool isExact = false;
    std::vector<std::string> disagreements;
};

Comparison compare(const Reality& reality, const engine::KernelRef& kernel,
                   const LaunchSpec& launch) {
    Comparison result;
    constexpr std::uint64_t maxBlocks = 12;
    const auto seen = recordRun(reality.recorder(), kernel, launch, maxBlocks);
    if (!seen) {
        result.skipped = seen.error().describe();
        return result;
    }
    const Nest nest = buildNest(kernel.file(), kernel.kernel);
    const NestSizes sizes = sizesOf(launch);
    const std::vector<Index3> blocks = blocksOf(*seen, launch, maxBlocks);
    const NestRun run = runNest(nest, sizes, blocks);
    if (run.isCutOff) {
        result.skipped = "too many accesses";
        return result;
    }
    result.isExact = run.isExact;
    result.disagreements = accessDisagreements(nest, run, *seen);
    Polyhedra polyhedra;
    for (const auto& further :
         {setDisagreements(nest, sizes, run, blocks),
          dependenceDisagreements(nest, dependencesOf(nest, polyhedra), run, *seen)})
        result.disagreements.insert(result.disagreements.end(), further.begin(), further.end());
    if (!result.disagreements.empty())
        result.disagreements.push_back(nestText(nest, kernel.file(), kernel.kernel));
    return result;
}

std::vector<std::filesystem::path> kernelFiles() {
    return cudaFiles(paths::sourceFolder,
                     {"tests/nest/kernels", "tests/nest/hard", "tests/corpus", "examples"});
}

class NestReality : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(NestReality, KernelsDoWhatTheirNestsTell) {
    std::ifstream stream(GetParam());
    std::ostringstream text;
    text << stream.rdbuf();
    const Reality reality;
    const ProgramSource plain = reality.parse(GetParam(), std::string(unoptimised) + text.str());
    const ProgramSource optimised = reality.parse(GetParam(), text.str());
    ASSERT_TRUE(plain.model && optimised.model);
    for (std::size_t i = 0; i < plain.model->kernels.size(); ++i) {
        const bool isPlain = usesNumbersAlone(buildNest(*plain.model, plain.model->kernels[i]));
        const ProgramSource& program = isPlain ? plain : optimised;
        const KernelModel& kernel = program.model->kernels[i];
        const engine::KernelRef ref{program, kernel};
        for (const LaunchSpec& launch : launchesOf(ref)) {
            const Comparison found = compare(reality, ref, launch);
            std::cout << "kernel " << kernel.name << " grid " << launch.grid.count() << " block "
                      << launch.block.count() << ": "
                      << (!found.skipped.empty() ? "skipped, " + found.skipped
                          : found.isExact        ? "exact"
                                                 : "bounded")
                      << "\n";
            EXPECT_THAT(found.disagreements, ::testing::IsEmpty()) << kernel.name;
            const bool isOwn = GetParam().string().find("tests/nest") != std::string::npos;
            EXPECT_TRUE(found.skipped.empty() || !isOwn) << kernel.name;
        }
    }
}

/// What is found wrong with a nest and dependences of another kernel than the one that runs.
std::vector<std::string> foundWith(const std::string& ran, const std::string& told) {
    const auto textOf = [](const std::string& body) {
        return std::string(unoptimised) +
               "__global__ void k(float* a, float* b, int n) {\n"
               "  __shared__ float tile[64];\n"
               "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n" +
               body + "\n}\nvoid run(float* a, float* b) { k<<<2, 32>>>(a, b, 50); }\n";
    };
    const Reality reality;
    const auto path = std::filesystem::path(paths::sourceFolder) / "told.cu";
    const ProgramSource program = reality.parse(path, textOf(ran));
    const ProgramSource other = reality.parse(path, textOf(told));
    const engine::KernelRef ref{program, program.model->kernels.at(0)};
    const LaunchSpec launch = launchesOf(ref).at(0);
    const auto seen = recordRun(reality.recorder(), ref, launch, 2);
    EXPECT_TRUE(seen);
    const Nest nest = buildNest(*other.model, other.model->kernels.at(0));
    const std::vector<Index3> blocks = {{0, 0, 0}, {1, 0, 0}};
    const NestRun run = runNest(nest, sizesOf(launch), blocks);
    return accessDisagreements(nest, run, *seen);
}

TEST(NestAgreement, FindsWhatDiffers) {
    const std::string ran = "if (i < n) a[i] += b[i];";
    EXPECT_THAT(foundWith(ran, ran), ::testing::IsEmpty());
    for (const char* told :
         {"if (i < n) a[i] += b[i + 1];", "if (i <= n) a[i] += b[i];", "if (i < n) a[i] = b[i];",
          "if (i < n) a[i] += b[i] + b[i];", "if (i < n) a[i] += 1.0f;", "if (i < n) b[i] += a[i];",
          "if (i < n) atomicAdd(&a[i], b[i]);"})
        EXPECT_THAT(foundWith(ran, told), ::testing::Not(::testing::IsEmpty())) << told;
}

TEST(NestAgreement, FindsDependencesThatAreNotTold) {
    const std::string head = "__global__ void k(float* a, float* b, int n) {\n"
                             "  __shared__ float tile[64];\n  int t = threadIdx.x;\n";
    const std::string tail = "\n}\nvoid run(float* a, float* b) { k<<<2, 32>>>(a, b, 50); }\n";
    for (const char* body :
         {"a[t + 1] = a[t];", "a[0] = b[t];", "tile[t] = b[t]; b[t] = tile[31 - t];",
          "for (int j = 1; j < 5; ++j) a[64 * blockIdx.x + 2048 * t + j] += a[64 * blockIdx.x + "
          "2048 * t + j - 1];"}) {
        const Reality reality;
        const ProgramSource program =
            reality.parse(std::filesystem::path(paths::sourceFolder) / "told.cu",
                          std::string(unoptimised) + head + body + tail);
        const engine::KernelRef ref{program, program.model->kernels.at(0)};
        const LaunchSpec launch = launchesOf(ref).at(0);
        const auto seen = recordRun(reality.recorder(), ref, launch, 2);
        ASSERT_TRUE(seen);
        const Nest nest = buildNest(ref.file(), ref.kernel);
        const NestRun run = runNest(nest, sizesOf(launch), {{0, 0, 0}, {1, 0, 0}});
        Polyhedra polyhedra;
        NestDependences dependences = dependencesOf(nest, polyhedra);
        EXPECT_THAT(dependenceDisagreements(nest, dependences, run, *seen), ::testing::IsEmpty());
        dependences.dependences.clear();
        EXPECT_THAT(dependenceDisagreements(nest, dependences, run, *seen),
                    ::testing::Not(::testing::IsEmpty()))
            << body;
    }
}

INSTANTIATE_TEST_SUITE_P(Files, NestReality, ::testing::ValuesIn(sampleOf(kernelFiles(), 8)),
                         fileTestName);

} // namespace
} // namespace kernelskill::testing
