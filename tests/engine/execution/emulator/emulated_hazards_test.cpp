// Faults of a user's kernel, by name and line, after the host compiler had its way with it.
#include "engine/inputs/launch_inference.h"
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;

class EmulatedHazards : public ExecutorFixture {
protected:
    ProgramSource program(const std::string& text) {
        return parse(source("examples/hazard.cu"), text);
    }

    static const Hazard* hazardOf(const Profile& profile, HazardKind kind) {
        const auto found = std::ranges::find(profile.hazards, kind, &Hazard::kind);
        return found == profile.hazards.end() ? nullptr : &*found;
    }
};

TEST_F(EmulatedHazards, SeesARaceInAVariableThatIsOnlyWrittenInTheEnd) {
    // The load is forwarded from the store, so that the store alone is left to be seen.
    const ProgramSource racy = program(R"(
__global__ void lastWriter(int* out) {
    __shared__ int last;
    last = threadIdx.x;
    out[threadIdx.x] = last;
}
void launch(int* out) { lastWriter<<<1, 64>>>(out); }
)");
    const auto result = runFirstKernel(racy);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* race = hazardOf(result->profile, HazardKind::Race);
    ASSERT_NE(race, nullptr);
    EXPECT_TRUE(race->certain);
    EXPECT_EQ(race->line, lineOf(racy, "last = threadIdx.x"));
    EXPECT_EQ(race->otherLine, race->line);
    EXPECT_EQ(race->thread, (Dim3{32, 0, 0}));
    EXPECT_THAT(race->message, HasSubstr("shared 'last'"));
    EXPECT_THAT(race->message, HasSubstr("thread (31,0,0)"));
}

TEST_F(EmulatedHazards, SeesTwoLinesThatStoreDifferentValues) {
    const ProgramSource racy = program(R"(
__global__ void twoLines(int* out) {
    __shared__ int winner;
    if (threadIdx.x == 0)
        winner = 1;
    if (threadIdx.x == 40)
        winner = 2;
    out[threadIdx.x] = 0;
}
void launch(int* out) { twoLines<<<1, 64>>>(out); }
)");
    const auto result = runFirstKernel(racy);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* race = hazardOf(result->profile, HazardKind::Race);
    ASSERT_NE(race, nullptr);
    EXPECT_TRUE(race->certain);
    EXPECT_EQ(race->line, lineOf(racy, "winner = 2"));
    EXPECT_EQ(race->otherLine, lineOf(racy, "winner = 1"));
}

TEST_F(EmulatedHazards, AcceptsThreadsThatAllStoreOneValue) {
    const auto result = runFirstKernel(program(R"(
__global__ void anyPositive(const float* in, int* out) {
    __shared__ int found;
    if (in[threadIdx.x] > 0)
        found = 1;
    out[threadIdx.x] = 0;
}
void launch(const float* in, int* out) { anyPositive<<<1, 256>>>(in, out); }
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(hazardOf(result->profile, HazardKind::Race), nullptr);
}

TEST_F(EmulatedHazards, SeesThreadsOfABlockMeetInABuffer) {
    const ProgramSource racy = program(R"(
__global__ void shift(float* data) {
    data[threadIdx.x] = data[threadIdx.x + 1] * 2.0f;
}
void launch(float* data) { shift<<<1, 64>>>(data); }
)");
    const auto result = runFirstKernel(racy);
    ASSERT_TRUE(result) << result.error().describe();
    const auto race = std::ranges::find_if(result->profile.hazards, [](const Hazard& hazard) {
        return hazard.kind == HazardKind::Race && hazard.certain;
    });
    ASSERT_NE(race, result->profile.hazards.end());
    EXPECT_THAT(race->message, HasSubstr("of 'data'"));
}

TEST_F(EmulatedHazards, NamesTheSharedArrayThatIsOverrunAndGoesOn) {
    const ProgramSource wrong = program(R"(
__global__ void tile(float* out) {
    __shared__ float first[9][9];
    __shared__ float second[9][9];
    if (threadIdx.x < 9 && threadIdx.y < 9)
        second[threadIdx.y][threadIdx.x] = 7;
    __syncthreads();
    first[threadIdx.y][threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = second[threadIdx.y % 9][threadIdx.x % 9];
}
void launch(float* out) { tile<<<1, dim3(16, 16)>>>(out); }
)");
    const auto result = runFirstKernel(wrong);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* hazard = hazardOf(result->profile, HazardKind::OutOfBounds);
    ASSERT_NE(hazard, nullptr);
    EXPECT_TRUE(hazard->certain);
    EXPECT_EQ(hazard->line, lineOf(wrong, "first[threadIdx.y][threadIdx.x] = 1"));
    EXPECT_THAT(hazard->message, HasSubstr("shared 'first', which has 324 bytes"));
    // The neighbour is as it was.
    EXPECT_THAT(valuesOf<float>(*result, "out"), testing::Each(7.0f));
}

TEST_F(EmulatedHazards, SaysOfOneAccessThatItIsOutOfBoundsOnBothSides) {
    const ProgramSource wrong = program(R"(
__global__ void spread(float* out) {
    out[(int)threadIdx.x * 8 - 16] = 1;
}
void launch() {
    float* out;
    cudaMalloc(&out, 64 * sizeof(float));
    spread<<<1, 32>>>(out);
}
)");
    const auto result = runFirstKernel(wrong);
    ASSERT_TRUE(result) << result.error().describe();
    std::vector<bool> sides;
    for (const Hazard& hazard : result->profile.hazards)
        if (hazard.kind == HazardKind::OutOfBounds)
            sides.push_back(hazard.details.isInFront());
    EXPECT_THAT(sides, testing::UnorderedElementsAre(true, false));
}

/// Two functions that are too large for the host compiler to inline them by itself, since each is
/// called twice. They take and return objects by value.
constexpr const char* functionsOfObjects = R"(
__device__ float weighted(float4 body, float weight) {
    float sum = 0;
    for (int i = 0; i < 10; ++i) {
        sum += body.x * weight + sqrtf(body.y * sum + body.w);
        for (int j = 0; j < i; ++j)
            sum = sum * body.z + j;
    }
    return sum;
}
__device__ float4 moved(float4 body, float step) {
    for (int i = 0; i < 10; ++i) {
        body.x += sqrtf(step * i + body.w);
        for (int j = 0; j < i; ++j)
            body.y = body.y * step + body.z * j;
    }
    return body;
}
)";

TEST_F(EmulatedHazards, SeesReadsOfObjectsThatArePassedByValue) {
    const ProgramSource wrong = program(std::string(functionsOfObjects) + R"(
__global__ void forces(const float4* bodies, float* out) {
    __shared__ float4 tile[32];
    tile[threadIdx.x] = bodies[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = weighted(bodies[threadIdx.x], 2.0f);
    out[threadIdx.x] += weighted(tile[threadIdx.x + 1], 3.0f);
}
void launch(const float4* bodies, float* out) { forces<<<1, 32>>>(bodies, out); }
)");
    const auto result = runFirstKernel(wrong);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* hazard = hazardOf(result->profile, HazardKind::OutOfBounds);
    ASSERT_NE(hazard, nullptr);
    EXPECT_EQ(hazard->line, lineOf(wrong, "tile[threadIdx.x + 1]"));
    const LineMetrics* read = line(result->profile, lineOf(wrong, "weighted(bodies[threadIdx.x]"),
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 16);
}

TEST_F(EmulatedHazards, SeesWritesOfObjectsThatAreReturnedByValue) {
    const ProgramSource wrong = program(std::string(functionsOfObjects) + R"(
__global__ void step(const float4* bodies, float4* out) {
    __shared__ float4 next[32];
    next[threadIdx.x + 1] = moved(bodies[threadIdx.x], 2.0f);
    __syncthreads();
    next[threadIdx.x / 32] = moved(next[threadIdx.x], 3.0f);
    out[threadIdx.x] = next[threadIdx.x];
}
void launch(const float4* bodies, float4* out) { step<<<1, 32>>>(bodies, out); }
)");
    const auto result = runFirstKernel(wrong);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* beyond = hazardOf(result->profile, HazardKind::OutOfBounds);
    ASSERT_NE(beyond, nullptr);
    EXPECT_EQ(beyond->line, lineOf(wrong, "next[threadIdx.x + 1]"));
    const Hazard* race = hazardOf(result->profile, HazardKind::Race);
    ASSERT_NE(race, nullptr);
    EXPECT_EQ(race->line, lineOf(wrong, "next[threadIdx.x / 32]"));
}

TEST_F(EmulatedHazards, NamesTheSharedArrayThatIsReadBeforeItsStart) {
    const ProgramSource wrong = program(R"(
__global__ void left(float* out) {
    __shared__ float row[64];
    row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = row[(int)threadIdx.x - 1];
}
void launch(float* out) { left<<<1, 64>>>(out); }
)");
    const auto result = runFirstKernel(wrong);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* hazard = hazardOf(result->profile, HazardKind::OutOfBounds);
    ASSERT_NE(hazard, nullptr);
    EXPECT_EQ(hazard->line, lineOf(wrong, "row[(int)threadIdx.x - 1]"));
    EXPECT_THAT(hazard->message, HasSubstr("4 bytes before shared 'row'"));
}

TEST_F(EmulatedHazards, StopsAtReadsBehindAVariableOfTheFile) {
    const auto readsUpTo = [&](int count) {
        return runFirstKernel(program("__constant__ float weights[8];\n__device__ int changed;\n"
                                      "__global__ void k(float* out) {\n"
                                      "    out[threadIdx.x] = weights[threadIdx.x] + changed;\n}\n"
                                      "void launch(float* out) { k<<<1, " +
                                      std::to_string(count) + ">>>(out); }\n"));
    };
    EXPECT_TRUE(readsUpTo(8));
    const auto behind = readsUpTo(9);
    ASSERT_FALSE(behind);
    EXPECT_THAT(behind.error().what, HasSubstr("behind the end of a variable of the file"));
}

TEST_F(EmulatedHazards, SeesUpdatesOfSharedMemoryThatNobodyHasSet) {
    for (const std::string update : {"atomicAdd(&sum[threadIdx.x], 1)", "sum[threadIdx.x]++"}) {
        const ProgramSource wrong = program("__global__ void tally(int* out) {\n"
                                            "    __shared__ int sum[64];\n"
                                            "    " +
                                            update +
                                            ";\n"
                                            "    __syncthreads();\n"
                                            "    out[threadIdx.x] = sum[63 - threadIdx.x];\n"
                                            "}\n"
                                            "void launch(int* out) { tally<<<2, 64>>>(out); }\n");
        const auto result = runFirstKernel(wrong);
        ASSERT_TRUE(result) << result.error().describe();
        const Hazard* hazard = hazardOf(result->profile, HazardKind::UninitializedRead);
        ASSERT_NE(hazard, nullptr) << update;
        EXPECT_TRUE(hazard->certain);
        EXPECT_EQ(hazard->line, 2u);
        EXPECT_EQ(hazard->details.object, "sum");
    }
}

TEST_F(EmulatedHazards, NamesBothThreadsOfARaceAndTheArrayOnce) {
    const ProgramSource racy = program(R"(
__global__ void reverse(const float* in, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
void launch(const float* in, float* out) { reverse<<<3, 64>>>(in, out); }
)");
    const auto result = runFirstKernel(racy);
    ASSERT_TRUE(result) << result.error().describe();
    // Seen as a read after a write and as a write after a read: one race of two lines.
    ASSERT_EQ(result->profile.hazards.size(), 1u);
    const Hazard& race = result->profile.hazards.front();
    EXPECT_EQ(race.line, lineOf(racy, "out[threadIdx.x] ="));
    EXPECT_EQ(race.otherLine, lineOf(racy, "tile[threadIdx.x] ="));
    EXPECT_EQ(race.details.object, "tile");
    EXPECT_EQ(race.details.scope, RaceScope::Block);
    ASSERT_TRUE(race.details.other.has_value());
    EXPECT_EQ(race.details.other->block, race.block);
    EXPECT_NE(race.details.other->thread, race.thread);
}

TEST_F(EmulatedHazards, PutsErrorsBeforeSuspicions) {
    const ProgramSource wrong = program(R"(
__global__ void several(int* out, int n) {
    out[0] = blockIdx.x;
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x + 1] = tile[63 - threadIdx.x];
}
// kernelskill: launch several<<<2, 64>>>(n=8, out=zero[64])
)");
    const auto result = runFirstKernel(wrong);
    ASSERT_TRUE(result) << result.error().describe();
    const auto& hazards = result->profile.hazards;
    ASSERT_GE(hazards.size(), 3u);
    EXPECT_TRUE(hazards.front().certain);
    EXPECT_FALSE(hazards.back().certain);
    EXPECT_TRUE(std::ranges::is_sorted(hazards, std::greater{}, &Hazard::certain));
    const Hazard* past = hazardOf(result->profile, HazardKind::OutOfBounds);
    ASSERT_NE(past, nullptr);
    EXPECT_EQ(past->details.element, 64);
    EXPECT_EQ(past->details.object, "out");
}

TEST_F(EmulatedHazards, SaysWhoWaitsForWhomInADeadlock) {
    const auto lanes = runFirstKernel(program(R"(
__global__ void halves(int* out) {
    if (threadIdx.x % 32 < 16)
        __syncwarp(0xffffffff);
    __syncthreads();
    out[threadIdx.x] = 1;
}
void launch(int* out) { halves<<<1, 64>>>(out); }
)"));
    ASSERT_FALSE(lanes);
    EXPECT_THAT(lanes.error().what, HasSubstr("deadlock in block (0,0,0)"));
    EXPECT_THAT(lanes.error().what, HasSubstr("32 of 64 threads wait at the block's barrier for "
                                              "the other 32 at hazard.cu:5"));
    EXPECT_THAT(lanes.error().what,
                HasSubstr("16 of 64 threads wait in a warp operation of mask 0xffffffff for 16 "
                          "other lanes, lane 16 first, at hazard.cu:4"));
    const auto named = runFirstKernel(program(R"(
__global__ void two(int* out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = 1;
}
void launch(int* out) { two<<<1, 64>>>(out); }
)"));
    ASSERT_FALSE(named);
    EXPECT_THAT(named.error().what, HasSubstr("32 of 64 threads wait at barrier 1, which 32 of 64 "
                                              "threads have reached, at hazard.cu:4"));
    EXPECT_THAT(named.error().what, HasSubstr("wait at barrier 2"));
}

TEST_F(EmulatedHazards, SaysWhichBlocksHaveNotBegunWhereALockIsWaitedFor) {
    const auto result = runFirstKernel(program(R"(
__global__ void lockUp(int* lock, int* out) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    out[0] += 1;
}
// kernelskill: launch lockUp<<<3, 64>>>(lock=zero[1], out=zero[1])
)"),
                                       std::chrono::milliseconds{300});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what, HasSubstr("63 of 64 threads run; 1 have exited"));
    EXPECT_THAT(result.error().what, HasSubstr("2 of 3 blocks have not begun"));
}

TEST_F(EmulatedHazards, CountsNoBranchOfThePrelude) {
    // Lanes whose partner is not there take the other way, but inside of __shfl_down_sync.
    const auto result = runFirstKernel(program(R"(
#include <cuda_fp16.h>
__global__ void warpSum(const float* in, float* out, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset, 8);
    out[threadIdx.x] = __half2float(__float2half(sum));
}
void launch(const float* in, float* out) { warpSum<<<1, 48>>>(in, out, 480); }
)"));
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(result->profile.metrics.at("smsp__sass_average_branch_targets_threads_uniform.pct"),
              100);
}

TEST_F(EmulatedHazards, EndsAtADivisionThatNothingNeedsWhereDivisionsAreChecked) {
    ProgramSource divides = program(R"(
__global__ void parts(int* out, int of) {
    int part = threadIdx.x / of;
    out[threadIdx.x] = 1;
}
void launch(int* out) { parts<<<1, 32>>>(out, 0); }
)");
    const auto unchecked = runFirstKernel(divides);
    EXPECT_TRUE(unchecked) << unchecked.error().describe();
    divides.checksDivisions = true;
    const auto checked = runFirstKernel(divides);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().what, HasSubstr("trapped"));
}

/// Runs the first kernel with its locals followed and all that is tolerated suspected.
class StrictlyEmulated : public EmulatedHazards {
protected:
    std::vector<Hazard> hazardsOf(const std::string& text) {
        ProgramSource strict = program(text);
        strict.followsLocals = true;
        const KernelRef kernel{strict, strict.model->kernels.front()};
        auto launches = inferLaunches(kernel.file(), kernel.kernel);
        EXPECT_TRUE(launches);
        Job job;
        job.launch = launches->front();
        job.wantTolerated = true;
        auto image = executor_->build(kernel, job.launch, {});
        EXPECT_TRUE(image) << image.error().describe();
        if (!image)
            return {};
        auto result = executor_->run(**image, job, {});
        EXPECT_TRUE(result) << result.error().describe();
        return result ? std::move(result->profile.hazards) : std::vector<Hazard>{};
    }

    static std::string sums(const std::string& last) {
        return R"(
struct Pair { float a[2]; float b; };
__device__ void fill(float* row, int count) {
    for (int j = 0; j < count; ++j)
        row[j] = j;
}
__global__ void sums(const float* in, float* out, int n) {
    float part[4], other[4];
    Pair pair;
    fill(other, n);
    for (int j = 0; j < 4; ++j)
        part[j] = in[threadIdx.x * 4 + j];
    for (int j = 0; j < n; ++j)
        part[)" +
               last + R"(] += other[j];
    pair.a[n & 1] = part[n - 1];
    out[threadIdx.x] = pair.a[n & 1] + part[0];
}
void launch(const float* in, float* out) { sums<<<1, 32>>>(in, out, 4); }
)";
    }
};

TEST_F(StrictlyEmulated, SeesAnElementBehindALocalArray) {
    EXPECT_TRUE(hazardsOf(sums("j")).empty());
    for (const char* index : {"j + 1", "j - 1", "n - j"}) {
        const auto hazards = hazardsOf(sums(index));
        ASSERT_FALSE(hazards.empty()) << index;
        EXPECT_EQ(hazards.front().kind, HazardKind::OutOfBounds);
        EXPECT_TRUE(hazards.front().certain);
        EXPECT_EQ(hazards.front().line, lineOf(program(sums(index)), "+= other[j]"));
        EXPECT_THAT(hazards.front().message, HasSubstr("an array of its own"));
    }
}

TEST_F(StrictlyEmulated, SeesAnAccessBehindALocalArrayByAPointer) {
    const auto best = [](const std::string& use) {
        return R"(
__device__ void push(float* held, int count, float value) {
    for (int k = 0; k < count; ++k)
        held[k] += value;
}
__global__ void collect(const float* in, float* out, int n) {
    __shared__ float part[32];
    float held[4] = {0, 1, 2, 3};
    part[threadIdx.x] = in[threadIdx.x];
    const float* values = held;
    )" + use + R"(
    out[threadIdx.x] = values[n / 4] + part[threadIdx.x];
}
void launch(const float* in, float* out) { collect<<<1, 32>>>(in, out, 4); }
)";
    };
    EXPECT_TRUE(hazardsOf(best("push(held, n, part[threadIdx.x]);")).empty());
    for (const char* use :
         {"out[threadIdx.x] = values[n];", "out[threadIdx.x] = (&held[1])[n - 1];",
          "out[threadIdx.x] = reinterpret_cast<const float2*>(held + 3)->y;"}) {
        const auto hazards = hazardsOf(best(use));
        ASSERT_FALSE(hazards.empty()) << use;
        EXPECT_EQ(hazards.front().kind, HazardKind::OutOfBounds) << use;
        EXPECT_TRUE(hazards.front().certain) << use;
        EXPECT_THAT(hazards.front().message, HasSubstr("beyond an array of its own")) << use;
    }
}

TEST_F(StrictlyEmulated, SeesAPointerThatLeavesALocalArrayWhichTheCompilerLosesSightOf) {
    const auto collect = [](const std::string& use) {
        return R"(
__attribute__((noinline)) __device__ void push(float* held, int& top, float v) { held[top++] = v; }
__device__ float sum(const float* begin, const float* end) {
    float total = 0;
    for (; begin != end; ++begin)
        total += *begin;
    return total;
}
__global__ void collect(const float* in, float* out, int n) {
    float held[6] = {1, 2, 3}, last = 0;
    int top = n;
    const float table[2][3] = {{1, 2, 3},
                               {4, 5, 6}};
    )" + use + R"(
    out[threadIdx.x] = in[threadIdx.x] + held[0] + last + top + table[1][n % 3];
}
void launch(const float* in, float* out) { collect<<<1, 32>>>(in, out, 0); }
)";
    };
    for (const char* use :
         {"", "for (int i = 0; i < 6; ++i) push(held, top, i);", "last = sum(held, held + 6);",
          "for (float* p = held + 5; p >= held; --p) *p = n;",
          "last = sum(table[1], table[1] + 3);", "push(&last, n, 2);"})
        EXPECT_TRUE(hazardsOf(collect(use)).empty()) << use;
    for (const char* use :
         {"for (int i = 0; i < 7; ++i) push(held, top, i);", "last = sum(held, held + 7);",
          "top = -1; push(held, top, n);", "for (float* p = held; p <= held + 6; ++p) *p = n;",
          "for (float* p = held + 5; p >= held - 1; --p) *p = n;",
          "last = sum(table[1], table[1] + 4);", "last = sum(table[0] - 1, table[1]);"}) {
        const auto hazards = hazardsOf(collect(use));
        ASSERT_FALSE(hazards.empty()) << use;
        EXPECT_EQ(hazards.front().kind, HazardKind::OutOfBounds) << use;
        EXPECT_TRUE(hazards.front().certain) << use;
        EXPECT_THAT(hazards.front().message, HasSubstr("beyond an array of its own")) << use;
    }
}

TEST_F(StrictlyEmulated, SuspectsABarrierThatThreadsEndedWithout) {
    const std::string text = R"(
__global__ void twice(const float* in, float* out, int n) {
    __shared__ float part[64];
    int i = threadIdx.x;
    if (i >= n) return;
    part[i] = in[i];
    __syncthreads();
    out[i] = part[i] + part[n - 1 - i];
}
void launch(const float* in, float* out) { twice<<<1, 64>>>(in, out, 50); }
)";
    const auto hazards = hazardsOf(text);
    ASSERT_EQ(hazards.size(), 1u);
    EXPECT_EQ(hazards.front().kind, HazardKind::BarrierDivergence);
    EXPECT_FALSE(hazards.front().certain);
    EXPECT_THAT(hazards.front().message, HasSubstr("14 threads of the block have ended without"));
    const auto usual = runFirstKernel(program(text));
    ASSERT_TRUE(usual);
    EXPECT_TRUE(usual->profile.hazards.empty());
}

} // namespace
} // namespace kernelskill::engine
