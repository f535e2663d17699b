/// Verdicts of measurements, from a runner without a GPU whose times the tests choose.
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/execution/metric_names.h"
#include "engine/inputs/launch_inference.h"
#include "engine/review/gpu_measurement.h"
#include "engine/review/reviewer.h"
#include "engine/review/screening.h"
#include "engine/workbench/gpu_profile.h"
#include "tests/engine/breakage.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;
using kernelskill::testing::TemporaryFolder;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

constexpr const char* twice = "__global__ void twice(const float* in, float* out, int n) {\n"
                              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    if (i < n)\n"
                              "        out[i] = 2.0f * in[i];\n"
                              "}\n"
                              "void launch(const float* in, float* out) {\n"
                              "    twice<<<4096, 256>>>(in, out, 1 << 20);\n"
                              "}\n";
constexpr std::string_view product = "2.0f * in[i]";
constexpr std::string_view sum = "in[i] + in[i]";

class GpuMeasurementTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto found = analysis::findToolchain({});
        ASSERT_TRUE(found) << found.error().describe();
        if (!found->toolkit)
            GTEST_SKIP() << "no CUDA toolkit, whose compiler a GPU needs";
        compile_.workerExecutable = paths::compileWorker;
        compile_.preludeInclude = bench_.toolchain.preludeInclude;
        compile_.toolkit = found->toolkit;
        compile_.cacheDirectory = std::filesystem::path(paths::buildFolder) / "test-facts-cache";
        EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = folder_.path() / "images";
        auto emulator = makeEmulatorExecutor(options, bench_.toolchain);
        ASSERT_TRUE(emulator) << emulator.error().describe();
        emulator_ = std::move(*emulator);
    }

    /// A GPU whose memory moves 128 GB/s. test_runner_main.cpp explains `variables`.
    [[nodiscard]] Result<std::unique_ptr<GpuExecutor>>
    open(const std::vector<std::string>& variables) const {
        GpuOptions options;
        options.runner.executable = paths::testRunner;
        options.runner.prefix = {"/usr/bin/env"};
        options.runner.prefix.insert(options.runner.prefix.end(), variables.begin(),
                                     variables.end());
        options.compile = compile_;
        options.computeSanitizer = sanitizer_;
        options.cacheDirectory = folder_.path() / "cache";
        return GpuExecutor::open(std::move(options), {});
    }

    [[nodiscard]] ProgramSource program(const std::string& text) const {
        auto model = std::make_shared<const analysis::FileModel>(bench_.parsed(text));
        return {model->file, text, {}, bench_.command, model};
    }
    [[nodiscard]] static std::string edited() {
        return kernelskill::testing::replaced(twice, product, sum);
    }

    [[nodiscard]] Result<GpuMeasurement> measure(const std::vector<std::string>& variables) const {
        const auto gpu = open(variables);
        if (!gpu)
            return std::unexpected(gpu.error());
        const auto original = program(twice);
        const auto candidate = program(edited());
        const skills::Accuracy accuracy;
        return GpuMeasurer(**gpu, *emulator_, {original, original.model->kernels.at(0)},
                           {candidate, candidate.model->kernels.at(0)}, accuracy)
            .measure(7, {});
    }
    /// Of two candidates, both the same.
    [[nodiscard]] std::vector<Result<Screening>>
    screen(const std::vector<std::string>& variables) const {
        const auto gpu = open(variables);
        if (!gpu)
            return {};
        const auto original = program(twice);
        const auto candidate = program(edited());
        const KernelRef ref{candidate, candidate.model->kernels.at(0)};
        const std::vector<KernelRef> candidates{ref, ref};
        return screenOnGpu(**gpu, *emulator_, {original, original.model->kernels.at(0)}, candidates,
                           7, {});
    }
    [[nodiscard]] VerdictStatus statusWith(const std::string& times) const {
        const auto measured = measure({"TIMES=" + times});
        EXPECT_TRUE(measured) << measured.error().describe();
        EXPECT_TRUE(measured && measured->timing);
        return measured && measured->timing ? measured->timing->status : VerdictStatus::Incorrect;
    }

    [[nodiscard]] Verdict review(GpuSource source) const {
        const auto original = program(twice);
        const auto begin = static_cast<std::uint32_t>(std::string_view(twice).find(product));
        const analysis::EditSet edits{
            {original.file,
             {{{begin, begin + static_cast<std::uint32_t>(product.size())}, std::string(sum)}}}};
        const Reviewer reviewer(emulator_.get(), bench_.toolchain, std::move(source));
        auto verdict = reviewer.review({original, original.model->kernels.at(0)}, edits,
                                       skills::Numerics::Exact, {}, {}, {.seed = testSeed()});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? std::move(*verdict) : Verdict{};
    }

    /// A stand-in for compute-sanitizer whose memcheck reports `before` about the first kernel that
    /// it is asked about, and `after` about the second.
    void sanitizeWith(const std::string& before, const std::string& after) {
        const auto path = [&](const char* name) { return (folder_.path() / name).string(); };
        std::ofstream(path("before")) << before;
        std::ofstream(path("after")) << after;
        std::ofstream(path("compute-sanitizer"))
            << "#!/bin/bash\nlog=$4 tool=$2\nwhile [[ $1 == --* ]]; do shift 2; done\n\"$@\"\n"
            << "[[ $tool == memcheck ]] || { : >\"$log\"; exit; }\n"
            << "cat " << path("before") << " >\"$log\"\nmv " << path("after") << " "
            << path("before") << " 2>/dev/null\n";
        std::filesystem::permissions(path("compute-sanitizer"), std::filesystem::perms::owner_all);
        sanitizer_ = path("compute-sanitizer");
    }

    RepairBench bench_;
    TemporaryFolder folder_;
    std::filesystem::path sanitizer_;
    StaticFactsOptions compile_;
    std::unique_ptr<Executor> emulator_;
};

constexpr const char* invalidRead = "========= Invalid __global__ read of size 4 bytes\n"
                                    "=========     at twice(const float *)+0x90 in unit.cu:4\n";

TEST_F(GpuMeasurementTest, RefusesWhatComputeSanitizerFindsInTheEditAlone) {
    sanitizeWith("========= ERROR SUMMARY: 0 errors\n", invalidRead);
    const auto measured = measure({"TIMES=200,100"});
    ASSERT_TRUE(measured) << measured.error().describe();
    ASSERT_TRUE(measured->sanitized);
    ASSERT_FALSE(*measured->sanitized);
    EXPECT_EQ(measured->sanitized->error().status, VerdictStatus::Incorrect);
    EXPECT_EQ(measured->sanitized->error().detail,
              "memcheck: Invalid __global__ read of size 4 bytes at twice in unit.cu:4");
    EXPECT_FALSE(measured->timing);
}

TEST_F(GpuMeasurementTest, BearsWhatComputeSanitizerFindsInTheOriginalToo) {
    sanitizeWith(invalidRead, invalidRead);
    const auto measured = measure({"TIMES=200,100"});
    ASSERT_TRUE(measured) << measured.error().describe();
    ASSERT_TRUE(measured->sanitized && *measured->sanitized);
    EXPECT_EQ((*measured->sanitized)->detail, "1 in the original, too");
    EXPECT_TRUE(measured->timing);
}

TEST_F(GpuMeasurementTest, SaysThatComputeSanitizerIsMissing) {
    sanitizer_ = "compute-sanitizer";
    const auto measured = measure({"TIMES=200,100"});
    ASSERT_TRUE(measured) << measured.error().describe();
    ASSERT_TRUE(measured->sanitized && *measured->sanitized);
    EXPECT_THAT((*measured->sanitized)->detail, HasSubstr("not found"));
    EXPECT_TRUE(measured->timing);
}

// Reading 4 MB takes 33 microseconds on this GPU.
TEST_F(GpuMeasurementTest, TellsFasterFromSlowerAndFromNeither) {
    EXPECT_EQ(statusWith("200,100"), VerdictStatus::Faster);
    EXPECT_EQ(statusWith("100,200"), VerdictStatus::Slower);
    EXPECT_EQ(statusWith("100,100"), VerdictStatus::Inconclusive);
    EXPECT_EQ(statusWith("100,99.5"), VerdictStatus::Inconclusive) << "less than one percent";
}

TEST_F(GpuMeasurementTest, BelievesNoTimeThatTheTrafficAloneTakes) {
    EXPECT_EQ(statusWith("200,10"), VerdictStatus::Invalid);
}

TEST_F(GpuMeasurementTest, TimesNothingThatIsWrongOnTheGpu) {
    const auto measured = measure({"TIMES=200,100", "WRONG=2"});
    ASSERT_TRUE(measured) << measured.error().describe();
    EXPECT_FALSE(measured->agreement);
    EXPECT_FALSE(measured->timing);
}

TEST_F(GpuMeasurementTest, AGlanceLetsOnlyWhatIsFasterGoOn) {
    const auto seen = screen({"TIMES=200,100,300"});
    ASSERT_EQ(seen.size(), 2u);
    ASSERT_TRUE(seen[0]);
    EXPECT_FALSE(seen[0]->refusal);
    EXPECT_NEAR(seen[0]->speedup, 2, 0.01);
    ASSERT_TRUE(seen[1] && seen[1]->refusal);
    EXPECT_EQ(seen[1]->refusal->status, VerdictStatus::Slower);
    const auto equal = screen({"TIMES=100,100,100"});
    ASSERT_EQ(equal.size(), 2u);
    ASSERT_TRUE(equal[0] && equal[0]->refusal);
    EXPECT_EQ(equal[0]->refusal->status, VerdictStatus::Inconclusive);
}

TEST_F(GpuMeasurementTest, NoticesAResultThatIsWrongInSomeLaunchesOnly) {
    const auto measured = measure({"TIMES=200,100", "WRONG=3"});
    ASSERT_TRUE(measured) << measured.error().describe();
    EXPECT_FALSE(measured->agreement);
}

TEST_F(GpuMeasurementTest, IsInTheVerdictOfAReview) {
    auto gpu = open({"GPUS=H100 9.0", "TIMES=200,100"});
    ASSERT_TRUE(gpu) << gpu.error().describe();
    const auto verdict =
        review([&](const std::stop_token&, const ProgressSink&) { return gpu->get(); });
    EXPECT_EQ(verdict.status, VerdictStatus::Faster) << verdict.summary;
    ASSERT_TRUE(verdict.speedup);
    EXPECT_THAT(*verdict.speedup, DoubleNear(2, 1e-3));
    EXPECT_THAT(verdict.summary, HasSubstr("on the H100"));
    EXPECT_THAT(verdict.summary, HasSubstr("1980 MHz"));
}

TEST_F(GpuMeasurementTest, LeavesAnEditUnmeasuredWhereNoRunnerCanBeHad) {
    const auto none = review({});
    EXPECT_EQ(none.status, VerdictStatus::Unmeasured);
    EXPECT_THAT(none.summary, HasSubstr("No GPU: its time is not known."));
    const auto full =
        review([](const std::stop_token&, const ProgressSink&) -> Result<GpuExecutor*> {
            return std::unexpected(Error{ErrorKind::Failed, "no node of Slurm is free", {}, {}});
        });
    EXPECT_EQ(full.status, VerdictStatus::Unmeasured);
    EXPECT_THAT(full.summary, HasSubstr("Not measured: no node of Slurm is free"));
}

class GpuProfileTest : public GpuMeasurementTest {
protected:
    [[nodiscard]] Profile profile(std::vector<std::string> variables) const {
        const auto source = program(twice);
        variables.push_back("STALLS=3 long_scoreboard 300 1 wait 100");
        variables.push_back("STALLS_FILE=" + source.file);
        variables.push_back("GPUS=H100 9.0");
        variables.push_back("TIMES=50");
        const auto gpu = open(variables);
        EXPECT_TRUE(gpu) << gpu.error().describe();
        const auto& kernel = source.model->kernels.at(0);
        const auto launches = inferLaunches(*source.model, kernel);
        EXPECT_TRUE(launches) << launches.error().describe();
        auto found = measureProfile(**gpu, *emulator_, {source, kernel}, launches->front(), {},
                                    [](std::string_view, double) {});
        EXPECT_TRUE(found) << found.error().describe();
        return found ? std::move(*found) : Profile{};
    }
    [[nodiscard]] static double lineMetric(const Profile& profile, std::uint32_t line,
                                           const char* name) {
        for (const LineMetrics& each : profile.lines) {
            if (each.line == line && each.metrics.contains(name))
                return each.metrics.at(name);
        }
        return -1;
    }
};

TEST_F(GpuProfileTest, HoldsWhatTheHardwareCountedAndWhatTheEmulatorAdds) {
    const auto found = profile({"METRICS=dram__bytes_read.sum=4194304 "
                                "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum=100 "
                                "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum=800 "
                                "nobody__asked.sum=1"});
    EXPECT_EQ(found.executor, "gpu");
    EXPECT_EQ(found.metrics.at("dram__bytes_read.sum"), 4194304);
    EXPECT_FALSE(found.metrics.contains("nobody__asked.sum"));
    // The hardware's 8 sectors a request stand before the emulator's 4.
    EXPECT_EQ(found.metrics.at(metric::load.sectorsPerRequest), 8);
    EXPECT_EQ(found.metrics.at(metric::load.countedSectorsPerRequest), 4);
    EXPECT_NEAR(found.metrics.at(metric::medianTime), 50'000, 50) << "nanoseconds";
    EXPECT_DOUBLE_EQ(lineMetric(found, 3, metric::stallPercent), 75);
    EXPECT_DOUBLE_EQ(lineMetric(found, 1, metric::stallPercent), 25);
    EXPECT_EQ(lineMetric(found, 3, metric::load.sectorsPerRequest), 4);
}

TEST_F(GpuProfileTest, SaysWhyThereAreNoCounters) {
    const auto found = profile({"FORBIDDEN=1", "METRICS=dram__bytes_read.sum=4194304"});
    EXPECT_FALSE(found.metrics.contains("dram__bytes_read.sum"));
    EXPECT_NEAR(found.metrics.at(metric::medianTime), 50'000, 50);
    EXPECT_THAT(found.notes, ::testing::Contains(HasSubstr("counters may not be read")));
    EXPECT_LT(lineMetric(found, 3, metric::stallPercent), 0);
}

TEST_F(GpuMeasurementTest, KeepsCeilingsInTheFolderThatIsNamed) {
    const auto gpu = open({"GPUS=H100 9.0"});
    ASSERT_TRUE(gpu) << gpu.error().describe();
    const auto measured = (*gpu)->ceilings({});
    ASSERT_TRUE(measured) << measured.error().describe();
    EXPECT_EQ(measured->float32PerSecond, 6e13);
    const auto kept = folder_.path() / "cache" / "ceilings" / "GPU-0-13000.json";
    ASSERT_TRUE(std::filesystem::exists(kept));
    std::ofstream(kept) << "[1, 2, 3, 4, 5]";
    const auto known = (*gpu)->ceilings({});
    ASSERT_TRUE(known) << known.error().describe();
    EXPECT_EQ(known->float32PerSecond, 4);
}

} // namespace
} // namespace kernelskill::engine
