// A run that several workers share shows what one worker shows, to the last count.
#include "engine/execution/emulator/emulation_image.h"
#include "engine/execution/emulator/run_parts.h"
#include "tests/engine/execution/emulator/executor_fixture.h"
#include "tests/image_cache.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <set>

namespace kernelskill::engine {
namespace {

using emulator::Counter;
using emulator::mergeParts;
using emulator::PartFindings;
using emulator::Site;
using emulator::WorkerReport;

class RunParts : public ExecutorFixture {
protected:
    void SetUp() override {
        ExecutorFixture::SetUp();
        alone_ = executorOf(1);
        together_ = executorOf(3);
    }

    std::unique_ptr<Executor> executorOf(unsigned workers) {
        EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = imageCache();
        options.workers = workers;
        auto executor = makeEmulatorExecutor(std::move(options), toolchain_);
        EXPECT_TRUE(executor);
        return std::move(*executor);
    }

    static Result<RunResult> runWith(Executor& executor, const ProgramSource& program,
                                     std::optional<std::uint64_t> maxBlocks) {
        const analysis::KernelModel& kernel = program.model->kernels.front();
        auto launches = inferLaunches(*program.model, kernel);
        if (!launches)
            return std::unexpected(launches.error());
        Job job;
        job.launch = launches->front();
        job.wantProfile = true;
        job.maxBlocks = maxBlocks;
        job.limits.time = std::chrono::seconds{60}; // Long enough that no block is left out.
        auto image = executor.build({program, kernel}, job.launch, {});
        if (!image)
            return std::unexpected(image.error());
        return executor.run(**image, job, {});
    }

    /// Whether three workers make one report of it.
    bool isShared(const ProgramSource& program, std::optional<std::uint64_t> maxBlocks) {
        const analysis::KernelModel& kernel = program.model->kernels.front();
        Job job;
        job.launch = inferLaunches(*program.model, kernel)->front();
        job.wantProfile = true;
        job.maxBlocks = maxBlocks;
        ImageOptions options;
        options.hostCompiler = *findHostCompiler({});
        options.preludeInclude = toolchain_.preludeInclude;
        options.cacheDirectory = imageCache();
        const auto image = buildEmulationImage({program, kernel}, job.launch, options, {});
        EXPECT_TRUE(image);
        emulator::WorkerPool workers(paths::testWorker);
        const auto report =
            emulator::runInParts(workers, {image->sharedObject.string(), job, {}}, 3, {});
        return report && *report && !(*report)->failure;
    }

    /// The results of both, which must be equal. `shared`: several workers run it.
    Profile sameProfile(bool shared, const std::string& text,
                        std::optional<std::uint64_t> maxBlocks = {}) {
        const ProgramSource program = parse(source("examples/parts.cu"), text);
        EXPECT_EQ(isShared(program, maxBlocks), shared);
        auto one = runWith(*alone_, program, maxBlocks);
        auto several = runWith(*together_, program, maxBlocks);
        if (!one || !several) {
            EXPECT_FALSE(one || several);
            EXPECT_EQ(one.error().describe(), several.error().describe());
            return {};
        }
        const Profile& a = one->profile;
        const Profile& b = several->profile;
        EXPECT_EQ(a.metrics, b.metrics);
        EXPECT_EQ(a.notes, b.notes);
        EXPECT_EQ(a.blocksRun, b.blocksRun);
        EXPECT_EQ(a.lines.size(), b.lines.size());
        for (std::size_t i = 0; i < a.lines.size() && i < b.lines.size(); ++i) {
            EXPECT_EQ(a.lines[i].line, b.lines[i].line);
            EXPECT_EQ(a.lines[i].metrics, b.lines[i].metrics) << "line " << a.lines[i].line;
        }
        EXPECT_EQ(a.hazards.size(), b.hazards.size());
        for (std::size_t i = 0; i < a.hazards.size() && i < b.hazards.size(); ++i)
            EXPECT_EQ(a.hazards[i].message, b.hazards[i].message);
        for (std::size_t i = 0; i < a.extents.size() && i < b.extents.size(); ++i) {
            EXPECT_EQ(a.extents[i].elements, b.extents[i].elements);
            EXPECT_EQ(a.extents[i].written, b.extents[i].written);
        }
        return b;
    }

    std::unique_ptr<Executor> alone_;
    std::unique_ptr<Executor> together_;
};

TEST_F(RunParts, CountsWhatOneWorkerCounts) {
    const Profile profile = sameProfile(true, R"(
__global__ void blur(int n, const float* in, float* out) {
    __shared__ float tile[258];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x + 1] = in[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (threadIdx.x == 255) tile[257] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i % 3 == 0 && blockIdx.x > 40)
        out[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
    else
        out[i] = tile[threadIdx.x + 1];
}
void launch(float* in, float* out) { blur<<<64, 256>>>(16384, in, out); }
)");
    EXPECT_EQ(profile.blocksRun, 64u);
    EXPECT_TRUE(profile.hazards.empty());
}

TEST_F(RunParts, ScalesASampleOnce) {
    const Profile profile = sameProfile(true, R"(
__global__ void scale(int n, float* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}
void launch(float* data) { scale<<<1000, 256>>>(255990, data); }
)",
                                        100);
    EXPECT_EQ(profile.blocksRun, 100u);
    EXPECT_THAT(profile.notes, testing::Contains(testing::HasSubstr("100 of 1000 blocks")));
}

TEST_F(RunParts, WhatBlocksShareIsNoMoreThanTheBuffer) {
    const Profile profile = sameProfile(true, R"(
__global__ void lookUp(const float* table, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 64; ++k) sum += table[(threadIdx.x + k) % 256];
    out[i] = sum;
}
void launch(float* table, float* out) { lookUp<<<1024, 256>>>(table, out); }
)",
                                        64);
    EXPECT_EQ(profile.metrics.at("kernelskill__global_unique_bytes_ld.sum"), 1024.0);
    EXPECT_EQ(profile.metrics.at("kernelskill__global_unique_bytes_st.sum"), 1048576.0);
}

TEST_F(RunParts, FollowsAChainFromBlockToBlock) {
    // Blocks run in order, each on what the one before it left: a race, but one with a result.
    const Profile profile = sameProfile(false, R"(
__global__ void chain(int* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int steps = i >= 256 ? data[i - 256] % 5 : 1;
    for (int k = 0; k < steps; ++k)
        data[i] = data[i] + k;
}
void launch(int* data) { chain<<<96, 256>>>(data); }
)");
    EXPECT_FALSE(profile.hazards.empty());
}

TEST_F(RunParts, FindsRacesBetweenBlocksOfOtherParts) {
    const Profile profile = sameProfile(false, R"(
__global__ void last(float* data, float* one) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0 && blockIdx.x % 90 == 0) one[0] = i;
    data[i] = i;
}
void launch(float* data, float* one) { last<<<96, 256>>>(data, one); }
)");
    EXPECT_EQ(profile.hazards.size(), 1u);
}

TEST_F(RunParts, LeavesAtomicsToOneWorker) {
    static_cast<void>(sameProfile(false, R"(
__global__ void tickets(const float* in, float* out, int* next) {
    int place = atomicAdd(next, 1);
    if (place % 7 == 0) out[place] = in[place];
}
void launch(float* in, float* out, int* next) { tickets<<<96, 256>>>(in, out, next); }
)"));
}

TEST_F(RunParts, LeavesVariablesOfTheDeviceToOneWorker) {
    static_cast<void>(sameProfile(false, R"(
__device__ int turns;
__global__ void count(float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) turns = turns + 1;
    __syncthreads();
    for (int k = 0; k < turns; ++k) out[i] += 1.0f;
}
void launch(float* out) { count<<<64, 256>>>(out); }
)"));
}

TEST_F(RunParts, FailsAsOneWorkerFails) {
    static_cast<void>(sameProfile(false, R"(
__global__ void divide(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = n / (90 - (int)blockIdx.x);
}
void launch(int* out) { divide<<<96, 256>>>(out, 7); }
)"));
}

// The reports alone.

WorkerReport part(Site site, std::uint64_t sectors, emulator::Interval written) {
    WorkerReport report;
    report.blocksRun = 4;
    report.sites[site][Counter::UniqueBytesLoaded] = sectors * 32;
    report.part.emplace().written = {written};
    report.part->firstTouches = {{site, false, {100, 100 + sectors}}};
    return report;
}

Job eightBlocks() {
    Job job;
    job.launch.grid = {8, 1, 1};
    job.launch.block = {1024, 1, 1};
    job.wantProfile = true;
    return job;
}

TEST(MergeParts, CountsASectorForThePartThatTouchedItFirst) {
    const auto whole = mergeParts({part(1, 10, {0, 5}), part(2, 30, {5, 9})}, eightBlocks());
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->sites.at(1)[Counter::UniqueBytesLoaded], 320u);
    EXPECT_EQ(whole->sites.at(2)[Counter::UniqueBytesLoaded], 640u);
    EXPECT_EQ(whole->totals[Counter::UniqueBytesLoaded], 960u);
    EXPECT_EQ(whole->blocksRun, 8u);
}

TEST(MergeParts, RefusesPartsThatTouchWhatAnotherWrote) {
    EXPECT_FALSE(mergeParts({part(1, 1, {0, 6}), part(2, 1, {5, 9})}, eightBlocks()));
    auto reader = part(2, 1, {7, 9});
    reader.part->read = {{1, 2}};
    EXPECT_FALSE(mergeParts({part(1, 1, {0, 6}), reader}, eightBlocks()));
    reader.part->read = {{6, 7}};
    EXPECT_TRUE(mergeParts({part(1, 1, {0, 6}), reader}, eightBlocks()));
    reader.part->needsOthers = true;
    EXPECT_FALSE(mergeParts({part(1, 1, {0, 6}), reader}, eightBlocks()));
}

TEST(MergeParts, ABranchMayGoTwoWaysInTwoParts) {
    auto one = part(1, 1, {0, 1});
    auto other = part(1, 1, {1, 2});
    one.sites[1][Counter::BranchTargets] = other.sites[1][Counter::BranchTargets] = 3;
    one.part->branches = {{1, 50, false, false}};
    other.part->branches = {{1, 60, false, false}};
    EXPECT_EQ(mergeParts({one, other}, eightBlocks())->totals[Counter::BranchTargets], 6u);
    other.part->branches = {{1, 50, false, false}};
    EXPECT_EQ(mergeParts({one, other}, eightBlocks())->totals[Counter::BranchTargets], 0u);
}

TEST(PartsFor, ASmallRunIsNotShared) {
    Job job = eightBlocks();
    EXPECT_EQ(emulator::partsFor(job, 8), 2u);
    job.launch.grid = {1000, 1, 1};
    EXPECT_EQ(emulator::partsFor(job, 8), 8u);
    job.maxBlocks = 3;
    EXPECT_EQ(emulator::partsFor(job, 8), 1u);
    job.maxBlocks.reset();
    job.wantOutputs = true;
    EXPECT_EQ(emulator::partsFor(job, 8), 1u);
}

} // namespace
} // namespace kernelskill::engine
