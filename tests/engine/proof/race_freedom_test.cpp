/// Proves kernels free of races, and does not prove their racy twins.
#include "engine/proof/race_freedom.h"
#include "tests/engine/proof/proof_subject.h"
#include "tests/gate/planted_file.h"
#include "tests/paths.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The sentence or the reason, for the first kernel on blocks of that size.
std::string raceText(const std::string& text, Dim3 grid = {64, 1, 1}, Dim3 block = {256, 1, 1}) {
    EditedProgram program(text);
    EXPECT_FALSE(hasErrors(program.original()));
    LaunchSpec launch;
    launch.grid = grid;
    launch.block = block;
    const auto free =
        proveNoRace({program.original(), program.original().model->kernels.at(0)}, launch, {});
    return free ? free->sentence() : "unproved: " + free.error().reason;
}

const std::string scaled = R"(
__global__ void scaled(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
}
)";

TEST(RaceFreedom, HoldsWhereEachThreadWritesItsOwnElement) {
    EXPECT_EQ(raceText(scaled), "shown for all inputs and sizes, if in, out do not overlap");
}

/// The same for the one launch, with its integers.
std::string raceTextAt(const std::string& text, const std::vector<std::int64_t>& integers,
                       Dim3 grid, Dim3 block) {
    EditedProgram program(text);
    EXPECT_FALSE(hasErrors(program.original()));
    LaunchSpec launch;
    launch.grid = grid;
    launch.block = block;
    for (const std::int64_t integer : integers)
        launch.arguments.emplace_back(ScalarSpec{"", {}, integer, std::nullopt});
    launch.arguments.emplace_back(BufferSpec{});
    const auto free = proveNoRace({program.original(), program.original().model->kernels.at(0)},
                                  launch, {}, ProvedLaunches::ThisLaunch);
    EXPECT_TRUE(!free || free->needsOnlyDistinctArrays);
    return free ? free->sentence() : "unproved: " + free.error().reason;
}

TEST(RaceFreedom, TakesTheNumbersOfOneLaunch) {
    // Rows have 128 elements, and only the launch tells that no thread goes beyond its own.
    const std::string rows = R"(
__global__ void rows(int n, int m, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < m)
        out[y * 128 + x] += 1.0f;
}
)";
    const std::string shown = "shown for all inputs of this launch";
    EXPECT_THAT(raceText(rows, {8, 8, 1}, {32, 8, 1}), Not(StartsWith("shown")));
    EXPECT_EQ(raceTextAt(rows, {128, 64}, {5, 8, 1}, {32, 8, 1}), shown);
    EXPECT_THAT(raceTextAt(rows, {129, 64}, {5, 8, 1}, {32, 8, 1}), StartsWith("unproved"));
    EXPECT_EQ(raceTextAt(rows, {129, 64}, {4, 8, 1}, {32, 8, 1}), shown) << "the grid ends before";
    EXPECT_EQ(raceTextAt(rows, {200, 1}, {5, 8, 1}, {32, 8, 1}), shown) << "there is one row";
    // The distance between blocks follows from a parameter.
    const std::string strides = R"(
__global__ void strides(int stride, float* out) {
    out[blockIdx.x * stride + threadIdx.x] = 1.0f;
}
)";
    EXPECT_EQ(raceTextAt(strides, {256}, {9, 1, 1}, {256, 1, 1}), shown);
    EXPECT_THAT(raceTextAt(strides, {255}, {9, 1, 1}, {256, 1, 1}), StartsWith("unproved"));
    // A number that the kernel shares with an object of the same name is not taken.
    const std::string shared = R"(
__constant__ int stride;
__device__ int distance() { return stride; }
__global__ void strides(int stride, float* out) {
    out[blockIdx.x * distance() + threadIdx.x] = 1.0f;
}
)";
    EXPECT_THAT(raceTextAt(shared, {256}, {9, 1, 1}, {256, 1, 1}), StartsWith("unproved"));
    // Threads of a block read what others write, with a barrier between them and without.
    const std::string turned = R"(
__global__ void turned(int n, float* out) {
    __shared__ float part[256];
    part[threadIdx.x] = n;
    BARRIER
    out[blockIdx.x * n + threadIdx.x] = part[n - 1 - threadIdx.x];
}
)";
    EXPECT_EQ(
        raceTextAt(replaced(turned, "BARRIER", "__syncthreads();"), {256}, {9, 1, 1}, {256, 1, 1}),
        shown);
    EXPECT_THAT(raceTextAt(replaced(turned, "BARRIER", ""), {256}, {9, 1, 1}, {256, 1, 1}),
                StartsWith("unproved"));
}

TEST(RaceFreedom, TellsOverlapsFromOtherConditions) {
    const auto needsOnlyDistinctArrays = [](const std::string& text) {
        EditedProgram program(text);
        LaunchSpec launch;
        launch.grid = {64, 1, 1};
        launch.block = {256, 1, 1};
        const auto free =
            proveNoRace({program.original(), program.original().model->kernels.at(0)}, launch, {});
        EXPECT_TRUE(free) << free.error().reason;
        return free && free->needsOnlyDistinctArrays;
    };
    EXPECT_TRUE(needsOnlyDistinctArrays(scaled));
    EXPECT_FALSE(needsOnlyDistinctArrays(R"(
__global__ void blocks(float* out) { out[blockIdx.x * 256 + threadIdx.x] = 1; }
void run(float* out) { blocks<<<64, 256>>>(out); }
)")) << "blocks of more threads would write each other's elements";
}

TEST(RaceFreedom, IsNotShownWhereTwoThreadsWriteOneElement) {
    EXPECT_THAT(raceText(replaced(scaled, "out[i]", "out[i / 2]")), StartsWith("unproved"));
    EXPECT_THAT(raceText(replaced(scaled, "out[i]", "out[threadIdx.x]")), StartsWith("unproved"));
}

TEST(RaceFreedom, IsNotShownForThreadsThatNothingTellsApart) {
    EXPECT_THAT(raceText(scaled, {64, 1, 1}, {32, 8, 1}), HasSubstr("apart along y"));
    EXPECT_THAT(raceText(scaled, {64, 2, 1}), HasSubstr("blocks apart along y"));
}

const std::string turned = R"(
__global__ void turned(float* out, const float* in) {
    __shared__ float tile[256];
    tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
void run(float* out, const float* in) { turned<<<64, 256>>>(out, in); }
)";

TEST(RaceFreedom, NeedsTheBarrierBetweenThreads) {
    EXPECT_THAT(raceText(turned), StartsWith("shown"));
    EXPECT_THAT(raceText(replaced(turned, "    __syncthreads();\n", "")), StartsWith("unproved"));
}

TEST(RaceFreedom, NeedsTheBarrierFromRoundToRound) {
    const std::string rounds = R"(
__global__ void rounds(float* out, const float* in, int n) {
    __shared__ float tile[256];
    float sum = 0;
    for (int r = 0; r < n; ++r) {
        tile[threadIdx.x] = in[r * 256 + threadIdx.x];
        __syncthreads();
        sum += tile[255 - threadIdx.x];
        __syncthreads(); // before the next round
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}
void run(float* out, const float* in) { rounds<<<64, 256>>>(out, in, 9); }
)";
    EXPECT_THAT(raceText(rounds), StartsWith("shown"));
    EXPECT_THAT(
        raceText(replaced(rounds, "        __syncthreads(); // before the next round\n", "")),
        StartsWith("unproved"));
}

const std::string tree = R"(
__global__ void tree(float* out, const float* in) {
    __shared__ float part[256];
    part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads(); // of the round
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
void run(float* out, const float* in) { tree<<<64, 256>>>(out, in); }
)";

TEST(RaceFreedom, HoldsWithinEachRoundOfATree) {
    EXPECT_THAT(raceText(tree), StartsWith("shown"));
    EXPECT_THAT(raceText(replaced(tree, "        __syncthreads(); // of the round\n", "")),
                StartsWith("unproved"));
    EXPECT_THAT(raceText(replaced(tree, "threadIdx.x < s", "threadIdx.x <= s")),
                StartsWith("unproved"));
    EXPECT_THAT(raceText(replaced(tree, "int s = blockDim.x / 2", "int s = threadIdx.x / 2 + 9")),
                StartsWith("unproved"))
        << "threads have rounds of other strides";
    EXPECT_THAT(raceText(replaced(tree, "s >>= 1", "s >>= 1 + threadIdx.x / 99")),
                StartsWith("unproved"));
}

TEST(RaceFreedom, NeedsBothBarriersOfARound) {
    // Each thread writes after the barrier, and another may read before the next round's barrier.
    const std::string shifted = R"(
__global__ void shifted(float* out, int n) {
    __shared__ float part[256];
    float sum = 0;
    part[threadIdx.x] = 1;
    __syncthreads();
    for (int r = 0; r < n; ++r) {
        sum += part[255 - threadIdx.x];
        __syncthreads();
        part[threadIdx.x] = sum;
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}
void run(float* out) { shifted<<<64, 256>>>(out, 9); }
)";
    EXPECT_THAT(raceText(shifted), StartsWith("unproved"));
    EXPECT_THAT(raceText(replaced(shifted, "part[threadIdx.x] = sum;",
                                  "part[threadIdx.x] = sum; __syncthreads();")),
                StartsWith("shown"));
}

TEST(RaceFreedom, LeavesAtomicsToEachOther) {
    const std::string counted = R"(
__global__ void counted(unsigned* bins, const unsigned* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1u);
}
)";
    EXPECT_THAT(raceText(counted), StartsWith("shown"));
    EXPECT_THAT(raceText(replaced(counted, "atomicAdd(&bins[in[i]], 1u)", "bins[in[i]] += 1u")),
                StartsWith("unproved"));
}

TEST(RaceFreedom, IsNotShownOfTheExampleThatRaces) {
    EXPECT_THAT(raceText(skills::readSource("examples/hazards/race.cu")), StartsWith("unproved"));
}

/// No edit that was planted as a race may be shown to have none.
TEST(RaceFreedom, IsNotShownOfPlantedRaces) {
    int races = 0;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(paths::sourceFolder) / "tests/gate/planted")) {
        const auto programs = kernelskill::testing::readPlanted(entry.path());
        ASSERT_TRUE(programs) << programs.error().describe();
        for (const kernelskill::testing::PlantedProgram& program : *programs)
            for (const kernelskill::testing::PlantedCase& one : program.cases) {
                if (one.mistake != "races")
                    continue;
                ++races;
                const auto edited = applyEdits(program.text, one.edits);
                ASSERT_TRUE(edited) << edited.error().describe();
                EXPECT_THAT(raceText(*edited, {4, 1, 1}, {64, 1, 1}), StartsWith("unproved"))
                    << program.name << ": " << one.name;
            }
    }
    EXPECT_GT(races, 10);
}

/// The kernels of examples/ and of the programs that the precision of skills is measured on.
TEST(RaceFreedom, IsShownForMostKernelsOfTheRepository) {
    namespace fs = std::filesystem;
    int kernels = 0;
    int proved = 0;
    double seconds = 0;
    double slowest = 0;
    for (const char* folder : {"examples", "examples/naive", "tests/precision"})
        for (const auto& entry : fs::directory_iterator(fs::path(paths::sourceFolder) / folder)) {
            if (entry.path().extension() != ".cu")
                continue;
            EditedProgram program(
                skills::readSource(std::string(folder) + "/" + entry.path().filename().string()));
            for (const analysis::KernelModel& kernel : program.original().model->kernels) {
                LaunchSpec launch;
                launch.grid = {64, 1, 1};
                launch.block = {256, 1, 1};
                const auto begin = std::chrono::steady_clock::now();
                const auto free = proveNoRace({program.original(), kernel}, launch, {});
                const std::chrono::duration<double> taken =
                    std::chrono::steady_clock::now() - begin;
                seconds += taken.count();
                slowest = std::max(slowest, taken.count());
                ++kernels;
                proved += free ? 1 : 0;
                if (std::getenv("PROOF_DETAILS") != nullptr)
                    std::cout << entry.path().filename().string() << " " << kernel.name << ": "
                              << (free ? free->sentence() : free.error().reason) << "\n";
            }
        }
    std::cout << proved << " of " << kernels << " kernels in " << seconds << " s, the slowest "
              << slowest << " s\n";
    EXPECT_GT(proved * 2, kernels);
}

} // namespace
} // namespace kernelskill::engine
