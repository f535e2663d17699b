#include "engine/execution/buffer_fill.h"
#include "engine/review/timing_verdict.h"
#include "tests/engine/execution/gpu/child_processes.h"
#include "tests/engine/execution/gpu/runner_fixture.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

namespace kernelskill::engine::gpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* saxpy = R"(
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
})";

constexpr const char* transposes = R"(
extern "C" __global__ void naive(const float* in, float* out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[(size_t)x * n + y] = in[(size_t)y * n + x];
}
extern "C" __global__ void tiled(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[(size_t)y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    out[(size_t)y * n + x] = tile[threadIdx.x][threadIdx.y];
})";

class GpuRunner : public RunnerFixture {
protected:
    static Subject saxpyOf(std::uint32_t n) {
        return subject(saxpy, "saxpy", {(n + 255) / 256, 1, 1}, {256, 1, 1},
                       {scalar("n", static_cast<int>(n)), scalar("a", 2.0f), buffer("x", n),
                        buffer("y", n, true)});
    }
    static Subject transpose(const char* which, std::uint32_t n) {
        return subject(transposes, which, {n / 32, n / 32, 1}, {32, 32, 1},
                       {buffer("in", std::uint64_t{n} * n),
                        buffer("out", std::uint64_t{n} * n, true),
                        scalar("n", static_cast<int>(n))});
    }
    /// After trouble the next job has to be right.
    static void expectWorks() {
        RunRequest request;
        request.subject = saxpyOf(1000);
        request.wantOutputs = true;
        const auto answer = run(request);
        ASSERT_TRUE(answer) << answer.error().describe();
        ASSERT_EQ(answer->outputs.size(), 1u);
    }
};

TEST_F(GpuRunner, DescribesItsDevice) {
    const auto& device = pool_->device();
    EXPECT_GE(device.devices, 1);
    EXPECT_FALSE(device.name.empty());
    EXPECT_TRUE(device.uuid.starts_with("GPU-")) << device.uuid;
    EXPECT_GE(device.capabilityMajor, 7);
    EXPECT_GT(device.multiprocessors, 0u);
    EXPECT_GT(device.l2Bytes, 0u);
    EXPECT_GT(device.memoryBytes, 1u << 30);
    EXPECT_FALSE(device.profilerProblem) << device.profilerProblem->describe();
}

TEST_F(GpuRunner, RunsOnTheInputOfTheEmulator) {
    constexpr std::uint32_t n = 100'003;
    RunRequest request;
    request.subject = saxpyOf(n);
    request.seed = 7;
    request.wantOutputs = true;
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    std::vector<float> x(n);
    std::vector<float> y(n);
    fillBuffer(buffer("x", n), bufferSeed(7, "x"), 0, std::as_writable_bytes(std::span(x)));
    fillBuffer(buffer("y", n), bufferSeed(7, "y"), 0, std::as_writable_bytes(std::span(y)));
    ASSERT_EQ(answer->outputs.size(), 1u);
    ASSERT_EQ(answer->outputs[0].bytes.size(), n * sizeof(float));
    std::vector<float> result(n);
    std::memcpy(result.data(), answer->outputs[0].bytes.data(), n * sizeof(float));
    for (std::uint32_t i = 0; i < n; ++i)
        ASSERT_EQ(result[i], std::fma(2.0f, x[i], y[i])) << i;
    EXPECT_TRUE(answer->notes.empty()) << answer->notes.front();
}

TEST_F(GpuRunner, RepeatsALaunchOnTheSameInput) {
    RunRequest request;
    request.subject = saxpyOf(1000); // Each launch would add to what the last one left.
    request.wantOutputs = true;
    request.launches = 3;
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(answer->outputs.size(), 1u);
    EXPECT_TRUE(answer->otherOutputs.empty());
}

TEST_F(GpuRunner, TellsLaunchesWithOtherResults) {
    constexpr const char* text = R"(
__device__ int launches;
extern "C" __global__ void count(int* out) {
    out[0] = atomicAdd(&launches, 1) / 2;
}
)";
    auto out = buffer("out", 1, true);
    out.element = analysis::ScalarKind::Int32;
    RunRequest request;
    request.subject = subject(text, "count", {1, 1, 1}, {1, 1, 1}, {out});
    request.wantOutputs = true;
    request.launches = 4;
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    ASSERT_EQ(answer->otherOutputs.size(), 2u);
    const auto& last = answer->otherOutputs[1].at(0);
    EXPECT_EQ(last.name, "out");
    EXPECT_EQ(last.bytes.at(0), std::byte{1});
}

TEST_F(GpuRunner, FillsBuffersAsTheEmulatorDoes) {
    constexpr std::uint64_t n = 70'001;
    constexpr const char* text = R"(
extern "C" __global__ void touch(int* unused) { }
)";
    auto wide = buffer("wide", n, true);
    wide.element = analysis::ScalarKind::Int64;
    wide.elementBytes = 8;
    auto words = buffer("words", n, true);
    words.element = analysis::ScalarKind::Int32;
    auto small = words;
    small.integerRange = 37;
    auto bytes = buffer("bytes", n, true);
    bytes.element = analysis::ScalarKind::UInt8;
    bytes.elementBytes = 1;
    auto output = buffer("output", n, true);
    output.isInput = false;
    for (const BufferSpec& spec : {buffer("floats", n, true), buffer("zeros", n, true, Fill::Zero),
                                   wide, words, small, bytes, output}) {
        RunRequest request;
        request.subject = subject(text, "touch", {1, 1, 1}, {32, 1, 1}, {spec});
        request.seed = 11;
        request.wantOutputs = true;
        const auto answer = run(request);
        ASSERT_TRUE(answer) << answer.error().describe();
        std::vector<std::byte> expected(n * spec.elementBytes);
        fillBuffer(spec, bufferSeed(11, spec.name), 0, expected);
        ASSERT_EQ(answer->outputs.size(), 1u);
        EXPECT_TRUE(answer->outputs[0].bytes == expected) << spec.name << " " << spec.integerRange;
    }
}

TEST_F(GpuRunner, SurvivesAnIllegalAddress) {
    RunRequest request;
    request.subject = saxpyOf(1 << 20);
    std::get<BufferSpec>(request.subject.launch.arguments[2]).elements = 1 << 10;
    const auto answer = run(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::Failed);
    EXPECT_THAT(answer.error().what, HasSubstr("outside its buffers"));
    EXPECT_THAT(answer.error().what, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
    expectWorks();
}

TEST_F(GpuRunner, EndsAKernelThatHangs) {
    RunRequest request;
    request.subject = subject(R"(
extern "C" __global__ void hang(volatile int* flag) { while (*flag == 0) {} })",
                              "hang", {1, 1, 1}, {32, 1, 1}, {buffer("flag", 1, true, Fill::Zero)});
    request.time = milliseconds(700);
    const auto begin = steady_clock::now();
    const auto answer = run(request);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("did not end within 700 ms"));
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
    expectWorks();
}

TEST_F(GpuRunner, SaysWhenMemoryIsShort) {
    RunRequest request;
    request.subject = saxpyOf(256);
    std::get<BufferSpec>(request.subject.launch.arguments[2]).elements = std::uint64_t{1} << 41;
    const auto answer = run(request);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("OUT_OF_MEMORY"));
    EXPECT_FALSE(answer.error().remedy.empty());
    expectWorks();
}

TEST_F(GpuRunner, GivesAGuessAtMostHalfOfTheFreeMemory) {
    RunRequest request;
    request.subject = saxpyOf(256);
    request.subject.launch.origin = LaunchOrigin::Guessed;
    auto& elements = std::get<BufferSpec>(request.subject.launch.arguments[2]).elements;
    elements = pool_->device().memoryBytes / 2 / sizeof(float);
    const auto answer = run(request);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("more than half of the"));
    EXPECT_THAT(answer.error().remedy, HasSubstr("pin the launch"));
    expectWorks();
}

TEST_F(GpuRunner, LosesNoJobWhenItIsKilledAtRandom) {
    constexpr int jobs = 200;
    constexpr unsigned jobsPerKill = 16;
    RunRequest request;
    request.subject = saxpyOf(1 << 20);
    request.wantOutputs = true;
    const auto expected = run(request);
    ASSERT_TRUE(expected) << expected.error().describe();
    std::mt19937 random(5);
    int kills = 0;
    for (int job = 0; job < jobs; ++job) {
        std::jthread killer;
        if (random() % jobsPerKill == 0) {
            killer = std::jthread([&kills, delay = std::chrono::microseconds(random() % 8000)] {
                std::this_thread::sleep_for(delay);
                for (const pid_t runner : kernelskill::testing::childProcesses())
                    kills += ::kill(runner, SIGKILL) == 0;
            });
        }
        const auto answer = run(request);
        ASSERT_TRUE(answer) << "job " << job << ": " << answer.error().describe();
        ASSERT_EQ(answer->outputs.size(), 1u);
        ASSERT_TRUE(answer->outputs[0].bytes == expected->outputs[0].bytes) << "job " << job;
    }
    EXPECT_GT(kills, 3);
}

TEST_F(GpuRunner, RefusesCodeOfAnotherArchitecture) {
    RunRequest request;
    request.subject = saxpyOf(256);
    request.subject.cubin =
        compile(saxpy, pool_->device().capabilityMajor == 8 ? "sm_75" : "sm_80");
    const auto answer = run(request);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().remedy, HasSubstr("another architecture"));
    expectWorks();
}

TEST_F(GpuRunner, RefusesALaunchThatIsTooLarge) {
    RunRequest request;
    request.subject = saxpyOf(256);
    request.subject.launch.block = {2048, 1, 1};
    const auto answer = run(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::InvalidInput);
    request.subject.launch.block = {256, 1, 1};
    request.subject.launch.dynamicSharedBytes = 1 << 20;
    const auto shared = run(request);
    ASSERT_FALSE(shared);
    EXPECT_EQ(shared.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(shared.error().what, HasSubstr("shared memory"));
    expectWorks();
}

TEST_F(GpuRunner, SeesWritesBesideABuffer) {
    RunRequest request;
    request.subject =
        subject(R"(
extern "C" __global__ void beside(float* y, int n) { y[n + 1] = 1; y[-2] = 1; })",
                "beside", {1, 1, 1}, {1, 1, 1}, {buffer("y", 1001, true), scalar("n", 1001)});
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_THAT(answer->notes, Contains(HasSubstr("4 bytes past the end of 'y'")));
    EXPECT_THAT(answer->notes, Contains(HasSubstr("8 bytes before the begin of 'y'")));
}

TEST_F(GpuRunner, KeepsWhatKernelsPrint) {
    RunRequest request;
    request.subject = subject(R"(
#include <cstdio>
extern "C" __global__ void speak() { printf("block %d\n", blockIdx.x); })",
                              "speak", {1, 1, 1}, {1, 1, 1}, {});
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(answer->printed, "block 0\n");
}

TEST_F(GpuRunner, FindsAKernelNoFasterThanItselfFiftyTimes) {
    int inconclusive = 0;
    for (int i = 0; i < 50; ++i) {
        const auto size = 1u << (16 + i % 8);
        const auto times = time({saxpyOf(size), saxpyOf(size)});
        ASSERT_TRUE(times) << times.error().describe();
        const auto verdict =
            judgeTimes(times->microseconds[0], times->microseconds[1], std::nullopt);
        inconclusive += verdict.status == VerdictStatus::Inconclusive;
        std::printf("A/A n=2^%d: %s\n", 16 + i % 8, verdict.sentence.c_str());
    }
    EXPECT_EQ(inconclusive, 50);
}

// Between events an empty kernel takes 5 microseconds and more.
TEST_F(GpuRunner, LongKernelsAreTimedInFewRounds) {
    constexpr const char* waits = R"(
extern "C" __global__ void waits(float* x) {
    const long long begin = clock64();
    while (clock64() - begin < 200000000ll) { }
    x[0] = 1;
})";
    const Subject job = subject(waits, "waits", {1, 1, 1}, {1, 1, 1}, {buffer("x", 1, true)});
    TimingPlan plan;
    plan.longest = milliseconds(500);
    const auto begin = steady_clock::now();
    const auto times = time({job}, plan);
    ASSERT_TRUE(times) << times.error().describe();
    EXPECT_GE(times->microseconds.at(0).size(), 1u);
    EXPECT_LT(times->microseconds.at(0).size(), plan.minRounds);
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(4));
}

TEST_F(GpuRunner, AShortKernelIsTimedWithoutItsLaunch) {
    const Subject empty =
        subject(R"(extern "C" __global__ void nothing() {})", "nothing", {1, 1, 1}, {32, 1, 1}, {});
    const auto times = time({empty, saxpyOf(1 << 10)});
    ASSERT_TRUE(times) << times.error().describe();
    EXPECT_TRUE(times->areDurations);
    for (const auto& subject : times->microseconds) {
        const auto summary = summarise(subject);
        EXPECT_GT(summary.median, 0.3);
        EXPECT_LT(summary.median, 3.5);
        std::printf("a short kernel: %.2f us (%.2f to %.2f)\n", summary.median, summary.lower,
                    summary.upper);
    }
}

TEST_F(GpuRunner, TellsFasterFromSlower) {
    const auto times = time({transpose("naive", 4096), transpose("tiled", 4096)});
    ASSERT_TRUE(times) << times.error().describe();
    const auto& [naive, tiled] = std::tie(times->microseconds[0], times->microseconds[1]);
    const auto forward = judgeTimes(naive, tiled, std::nullopt);
    EXPECT_EQ(forward.status, VerdictStatus::Faster) << forward.sentence;
    EXPECT_EQ(judgeTimes(tiled, naive, std::nullopt).status, VerdictStatus::Slower);
    std::printf("transpose 4096: %s\n", forward.sentence.c_str());
    EXPECT_GT(times->before.smMegahertz, 0u);
}

TEST_F(GpuRunner, EndsWhenOneIsClearlyFaster) {
    const auto roundsWith = [](const char* other, double clearRatio) {
        TimingPlan plan;
        plan.clearRatio = clearRatio;
        const auto times = time({transpose("naive", 4096), transpose(other, 4096)}, plan);
        EXPECT_TRUE(times) << times.error().describe();
        return times ? times->microseconds[0].size() : 0;
    };
    EXPECT_EQ(roundsWith("tiled", 1.1), TimingPlan{}.minRounds);
    EXPECT_GT(roundsWith("naive", 1.1), TimingPlan{}.minRounds) << "equal";
    EXPECT_GT(roundsWith("tiled", 0), TimingPlan{}.minRounds) << "not asked for";
}

TEST_F(GpuRunner, RunsJobsOnEachGpuSideBySide) {
    const int devices = pool_->device().devices;
    if (devices < 2)
        GTEST_SKIP() << "one GPU only";
    constexpr int jobs = 64;
    TimingPlan plan;
    plan.maxRounds = plan.minRounds;
    const auto job = saxpyOf(1 << 22);
    const auto seconds = [&](int askers, int count) {
        std::atomic<int> left = count;
        const auto begin = steady_clock::now();
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < askers; ++i)
                threads.emplace_back([&] {
                    while (left.fetch_sub(1) > 0) {
                        const auto times = time({job, job}, plan);
                        EXPECT_TRUE(times) << times.error().describe();
                    }
                });
        }
        return std::chrono::duration<double>(steady_clock::now() - begin).count();
    };
    seconds(devices, 4 * devices); // every runner has started
    const double one = seconds(1, jobs);
    const double all = seconds(devices, jobs);
    std::printf("%d jobs: %.2f s on one GPU, %.2f s on %d: %.2f times as fast\n", jobs, one, all,
                devices, one / all);
    EXPECT_GT(one / all, 0.9 * devices);
}

TEST_F(GpuRunner, CountsWhatTheHardwareDoes) {
    RunRequest request;
    request.subject = transpose("naive", 2048);
    request.metrics = {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                       "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                       "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                       "dram__bytes_read.sum",
                       "gpu__time_duration.sum",
                       "no__such_metric.sum"};
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    const auto& m = answer->metrics;
    ASSERT_TRUE(m.contains("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"));
    EXPECT_EQ(m.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 2048.0 * 2048);
    EXPECT_EQ(m.at("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 2048.0 * 2048 / 32);
    EXPECT_EQ(m.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 2048.0 * 2048 / 8);
    EXPECT_NEAR(m.at("dram__bytes_read.sum"), 4.0 * 2048 * 2048, 0.2 * 4 * 2048 * 2048);
    EXPECT_GT(m.at("gpu__time_duration.sum"), 0);
    EXPECT_THAT(answer->notes, Contains(HasSubstr("no__such_metric.sum")));
    EXPECT_GE(answer->passes, 1u);
    std::printf("passes: %u\n", answer->passes);
}

TEST_F(GpuRunner, WaitsForCountersThatAnotherProcessHas) {
    const auto otherPool = RunnerPool::open(command(), {});
    ASSERT_TRUE(otherPool) << otherPool.error().describe();
    RunRequest request;
    request.subject = transpose("naive", 1024);
    request.metrics = {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"};
    std::atomic<int> counted = 0;
    const auto countOften = [&](RunnerPool& pool) {
        for (int i = 0; i < 5; ++i) {
            const auto answer = pool.ask(request, {});
            counted += answer && !std::get<RunAnswer>(*answer).metrics.empty() ? 1 : 0;
        }
    };
    std::jthread beside([&] { countOften(**otherPool); });
    countOften(*pool_);
    beside.join();
    EXPECT_EQ(counted, 10);
}

TEST_F(GpuRunner, SamplesStallsBySourceLine) {
    RunRequest request;
    request.subject = transpose("naive", 4096);
    request.wantStalls = true;
    const auto answer = run(request);
    ASSERT_TRUE(answer) << answer.error().describe();
    std::uint64_t inKernel = 0;
    for (const auto& line : answer->stalls) {
        EXPECT_THAT(line.file, HasSubstr("kernel.cu"));
        EXPECT_GE(line.line, 1u);
        EXPECT_LE(line.line, 4u);
        for (const auto& [reason, samples] : line.samples) {
            EXPECT_THAT(reason, HasSubstr("stalled_")) << reason;
            inKernel += samples;
        }
    }
    for (const auto& note : answer->notes)
        std::printf("note: %s\n", note.c_str());
    EXPECT_GT(inKernel, 1000u);
}

TEST_F(GpuRunner, ProfilesAKernelAgainAndAgain) {
    RunRequest request;
    request.subject = transpose("naive", 2048);
    request.metrics = {"dram__bytes_read.sum"};
    request.wantStalls = true;
    ASSERT_TRUE(run(request));
    const auto runners = kernelskill::testing::childProcesses();
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(run(request));
    EXPECT_EQ(kernelskill::testing::childProcesses(), runners) << "a runner died and was replaced";
}

TEST_F(GpuRunner, MeasuresCeilings) {
    const auto answer = pool_->ask(CeilingsRequest{}, {});
    ASSERT_TRUE(answer) << answer.error().describe();
    const auto& ceilings = std::get<CeilingsAnswer>(*answer);
    std::printf("copy %.3g B/s, read %.3g B/s, L2 %.3g B/s, fp32 %.3g, fp64 %.3g\n",
                ceilings.copyBytesPerSecond, ceilings.readBytesPerSecond, ceilings.l2BytesPerSecond,
                ceilings.float32PerSecond, ceilings.float64PerSecond);
    EXPECT_GT(ceilings.copyBytesPerSecond, 5e10);
    EXPECT_GT(ceilings.l2BytesPerSecond, ceilings.copyBytesPerSecond);
    EXPECT_GT(ceilings.float32PerSecond, 1e12);
    EXPECT_LE(ceilings.float64PerSecond, ceilings.float32PerSecond);
}

} // namespace
} // namespace kernelskill::engine::gpu
