#include "engine/execution/sized_launch.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

/// Counts nothing, and keeps what it was asked.
class AskedExecutor final : public Executor {
public:
    [[nodiscard]] std::string_view name() const override { return "asked"; }
    [[nodiscard]] Result<std::shared_ptr<const Image>> build(KernelRef, const LaunchSpec&,
                                                             std::stop_token) override {
        return std::make_shared<const Image>();
    }
    [[nodiscard]] Result<TimedRun> runOrRecall(const Image& image, const Job& job,
                                               std::stop_token stop) override {
        ++recallable;
        return Executor::runOrRecall(image, job, std::move(stop));
    }
    [[nodiscard]] Result<RunResult> run(const Image&, const Job& job, std::stop_token) override {
        ++runs;
        blocks = job.maxBlocks.value_or(0);
        RunResult result;
        result.profile.extents = {{.name = "data", .elements = 4096}};
        return result;
    }

    std::uint64_t blocks = 0;
    int runs = 0;
    int recallable = 0; ///< Counts those that an executor may recall.
};

LaunchSpec launchOf(std::optional<std::uint64_t> elements) {
    LaunchSpec launch;
    launch.grid = {.x = 1 << 16};
    launch.block = {.x = 256};
    BufferSpec data;
    data.name = "data";
    data.elementBytes = 4;
    data.elements = elements;
    launch.arguments = {data};
    return launch;
}

std::uint64_t blocksRun(const LaunchSpec& launch, EmulatedPart part) {
    AskedExecutor executor;
    const ProgramSource program;
    const analysis::KernelModel kernel;
    EXPECT_TRUE(sizedLaunch(executor, {program, kernel}, launch, {}, part));
    return executor.blocks;
}

TEST(SizedLaunch, RunsFewBlocksBesideAGpuOnceLengthsAreKnown) {
    EXPECT_EQ(blocksRun(launchOf(1 << 24), EmulatedPart::Few), 4);
    EXPECT_EQ(blocksRun(launchOf(1 << 24), EmulatedPart::Profiled), 1024);
    EXPECT_EQ(blocksRun(launchOf(std::nullopt), EmulatedPart::Few), 1024)
        << "a length follows from what the blocks touch";
}

TEST(SizedLaunch, AsksForRunsThatAreRecalledForTheNextEditOfTheKernel) {
    AskedExecutor executor;
    const ProgramSource program;
    const analysis::KernelModel kernel;
    EXPECT_TRUE(sizedLaunch(executor, {program, kernel}, launchOf(1 << 24), {}));
    EXPECT_GT(executor.runs, 0);
    EXPECT_EQ(executor.recallable, executor.runs);
}

TEST(SizedLaunch, TakesLengthsFromWhatTheRunTouched) {
    AskedExecutor executor;
    const ProgramSource program;
    const analysis::KernelModel kernel;
    const auto sized = sizedLaunch(executor, {program, kernel}, launchOf(std::nullopt), {});
    ASSERT_TRUE(sized);
    EXPECT_EQ(std::get<BufferSpec>(sized->launch.arguments.at(0)).elements, 4096);
}

} // namespace
} // namespace kernelskill::engine
