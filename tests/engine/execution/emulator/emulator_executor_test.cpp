// Tests the path from a .cu file to a profile with its lines.
#include "tests/engine/execution/emulator/executor_fixture.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

constexpr const char* loadSectorsPerRequest =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
constexpr const char* sharedLoadConflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";

using EmulatorExecutorTest = ExecutorFixture;

TEST_F(EmulatorExecutorTest, CountsACoalescedKernelOnItsLine) {
    const ProgramSource program = open(source("examples/saxpy.cu"));
    const auto result = runFirstKernel(program);
    ASSERT_TRUE(result) << result.error().describe();
    const Profile& profile = result->profile;
    EXPECT_EQ(profile.executor, "emulator");
    EXPECT_TRUE(profile.hazards.empty()) << profile.hazards.front().message;
    EXPECT_EQ(profile.metrics.at(loadSectorsPerRequest), 4);
    const LineMetrics* access =
        line(profile, lineOf(program, "y[i] = a * x[i]"), loadSectorsPerRequest);
    ASSERT_NE(access, nullptr);
    EXPECT_EQ(access->file, program.file);
    EXPECT_EQ(access->metrics.at(loadSectorsPerRequest), 4);
}

TEST_F(EmulatorExecutorTest, CountsBankConflictsOnTheLineThatHasThem) {
    const ProgramSource program = open(source("examples/transpose.cu"));
    const auto result = runFirstKernel(program);
    ASSERT_TRUE(result) << result.error().describe();
    const Profile& profile = result->profile;
    EXPECT_TRUE(profile.hazards.empty()) << profile.hazards.front().message;
    const LineMetrics* access =
        line(profile, lineOf(program, "tile[threadIdx.x][threadIdx.y];"), sharedLoadConflicts);
    ASSERT_NE(access, nullptr);
    EXPECT_EQ(access->metrics.at(sharedLoadConflicts) /
                  access->metrics.at("smsp__inst_executed_op_shared_ld.sum"),
              31);
}

TEST_F(EmulatorExecutorTest, CountsBarriersOfAReduction) {
    const ProgramSource program = open(source("examples/reduce.cu"));
    const auto result = runFirstKernel(program);
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_TRUE(result->profile.hazards.empty()) << result->profile.hazards.front().message;
    EXPECT_THAT(result->profile.metrics, Contains(Key("kernelskill__barriers.sum")));
}

TEST_F(EmulatorExecutorTest, NamesTheLinesOfARace) {
    const ProgramSource program = parse(source("examples/racy.cu"), R"(
__global__ void reverse(float* out, const float* in) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[63 - threadIdx.x];
}
void launch(float* out, const float* in) { reverse<<<1, 64>>>(out, in); }
)");
    const auto result = runFirstKernel(program);
    ASSERT_TRUE(result) << result.error().describe();
    ASSERT_FALSE(result->profile.hazards.empty());
    const auto race = std::find_if(result->profile.hazards.begin(), result->profile.hazards.end(),
                                   [](const Hazard& hazard) { return hazard.certain; });
    ASSERT_NE(race, result->profile.hazards.end());
    EXPECT_EQ(race->kind, HazardKind::Race);
    // Whichever of the two the emulator ran first, the race is between these lines.
    EXPECT_THAT((std::vector{race->line, race->otherLine}),
                ::testing::UnorderedElementsAre(lineOf(program, "out[threadIdx.x] ="),
                                                lineOf(program, "s[threadIdx.x] =")));
    EXPECT_EQ(race->otherFile, program.file);
    EXPECT_THAT(race->message, HasSubstr("racy.cu:"));
}

TEST_F(EmulatorExecutorTest, NamesTheLineOfADeadlock) {
    const ProgramSource program = parse(source("examples/stuck.cu"), R"(
__global__ void stuck(float* out) {
    if (threadIdx.x < 16)
        out[0] = __shfl_sync(0xffffffff, out[1], 0);
    else
        __syncthreads();
}
void launch(float* out) { stuck<<<1, 32>>>(out); }
)");
    const auto result = runFirstKernel(program);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Failed);
    EXPECT_THAT(result.error().what, HasSubstr("deadlock"));
    EXPECT_THAT(result.error().what, HasSubstr("stuck.cu:4"));
    EXPECT_THAT(result.error().what, HasSubstr("stuck.cu:6"));
}

/// A worker that cannot run any more, as far as its user can see the same.
void breakWorker(const std::filesystem::path& worker) {
    const auto written = std::filesystem::last_write_time(worker);
    const auto size = std::filesystem::file_size(worker);
    std::filesystem::remove(worker); // It may be running.
    std::ofstream(worker) << std::string(size, '#');
    std::filesystem::last_write_time(worker, written);
}

TEST_F(EmulatorExecutorTest, KeepsAProfileForOtherProcesses) {
    const kernelskill::testing::TemporaryFolder folder;
    EmulatorOptions options;
    options.workerExecutable = folder.path() / "worker";
    options.cacheDirectory = folder.path() / "cache";
    options.keepsReports = true;
    std::filesystem::copy_file(paths::testWorker, options.workerExecutable);
    const ProgramSource program = open(source("examples/saxpy.cu"));
    const analysis::KernelModel& kernel = program.model->kernels.front();
    Job job;
    job.launch = inferLaunches(*program.model, kernel)->front();
    job.wantProfile = true;
    job.maxBlocks = 8;
    const auto profile = [&] {
        auto executor = makeEmulatorExecutor(options, toolchain_);
        auto image = (*executor)->build({program, kernel}, job.launch, {});
        return (*executor)->run(**image, job, {});
    };
    const auto first = profile();
    ASSERT_TRUE(first) << first.error().describe();
    breakWorker(options.workerExecutable);
    const auto again = profile();
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_EQ(again->profile.metrics, first->profile.metrics);
    EXPECT_EQ(again->profile.lines.size(), first->profile.lines.size());
    EXPECT_EQ(again->profile.notes, first->profile.notes);
    EXPECT_EQ(again->profile.blocksRun, 8u);
    job.maxBlocks = 9;
    EXPECT_FALSE(profile()) << "another job is another run";
}

TEST_F(EmulatorExecutorTest, RecallsARun) {
    const kernelskill::testing::TemporaryFolder folder;
    EmulatorOptions options;
    options.workerExecutable = paths::testWorker;
    options.cacheDirectory = folder.path();
    auto executor = makeEmulatorExecutor(options, toolchain_);
    ASSERT_TRUE(executor);
    const ProgramSource program = open(source("examples/saxpy.cu"));
    const analysis::KernelModel& kernel = program.model->kernels.front();
    Job job;
    job.launch = inferLaunches(*program.model, kernel)->front();
    job.wantOutputs = true;
    const auto image = (*executor)->build({program, kernel}, job.launch, {});
    ASSERT_TRUE(image) << image.error().describe();
    const auto runWith = [&](std::uint64_t seed) {
        job.seed = seed;
        return (*executor)->runOrRecall(**image, job, {});
    };
    const auto first = runWith(1);
    const auto other = runWith(2);
    ASSERT_TRUE(first && other);
    EXPECT_NE(valuesOf<float>(first->result, "y"), valuesOf<float>(other->result, "y"));
    for (const auto& item : std::filesystem::directory_iterator(folder.path()))
        if (item.path().extension() == ".so")
            std::filesystem::remove(item.path());
    const auto again = runWith(1);
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_EQ(valuesOf<float>(again->result, "y"), valuesOf<float>(first->result, "y"));
    EXPECT_EQ(again->result.profile.extents.size(), first->result.profile.extents.size());
    EXPECT_EQ(again->took, first->took);
    EXPECT_FALSE(runWith(3)) << "the image is gone";
    job.seed = 1;
    EXPECT_FALSE((*executor)->run(**image, job, {})) << "it has to be run";
}

TEST_F(EmulatorExecutorTest, RefusesAnImageOfAnotherExecutor) {
    class Foreign final : public Image {};
    const auto result = executor_->run(Foreign{}, Job{}, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Internal);
}

/// Correct programs must not be accused, and each of their kernels runs or is refused by name.
class CorpusRun : public EmulatorExecutorTest,
                  public ::testing::WithParamInterface<std::filesystem::path> {};

std::vector<std::filesystem::path> corpus() {
    std::vector<std::filesystem::path> files;
    std::error_code ignored;
    for (const auto& item : std::filesystem::directory_iterator(
             std::filesystem::path(paths::sourceFolder) / "tests/corpus", ignored)) {
        if (item.path().extension() == ".cu")
            files.push_back(item.path());
    }
    std::ranges::sort(files);
    return files;
}

TEST_P(CorpusRun, RunsWithoutFalseAlarms) {
    const ProgramSource program = open(GetParam());
    ASSERT_TRUE(program.model);
    for (const analysis::KernelModel& kernel : program.model->kernels) {
        const auto result = run({program, kernel});
        if (!result) {
            EXPECT_EQ(result.error().kind, ErrorKind::Unsupported)
                << kernel.name << ": " << result.error().describe();
            continue;
        }
        for (const Hazard& hazard : result->profile.hazards) {
            EXPECT_FALSE(hazard.certain)
                << kernel.name << ", line " << hazard.line + 1 << ": " << hazard.message;
        }
        EXPECT_GT(result->profile.blocksRun, 0u) << kernel.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Files, CorpusRun, ::testing::ValuesIn(corpus()), [](const auto& info) {
    std::string name = info.param.stem().string();
    for (char& c : name)
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
});

} // namespace
} // namespace kernelskill::engine
