/// Each skill's own example with one mistake put into the edit: the Reviewer refuses it. What a
/// skill gets wrong never reaches the user as a verified edit.
#include "engine/review/reviewer.h"
#include "tests/paths.h"
#include "tests/skills/emulator_review.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>

namespace kernelskill::engine {
namespace {

struct Mistake {
    std::string skill;
    std::string right; ///< In after.cu, once.
    std::string wrong;
    VerdictStatus status;
    friend std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
        return out << mistake.skill << ": " << mistake.wrong;
    }
};

class BrokenRewrites : public testing::TestWithParam<Mistake> {};

TEST_P(BrokenRewrites, AreRefused) {
    const Mistake& mistake = GetParam();
    const skills::EmulatorReview review;
    ASSERT_TRUE(review.executor);
    const std::string folder = "skills/" + mistake.skill;
    const auto path = std::filesystem::path(paths::sourceFolder) / folder / "before.cu";
    const ProgramSource program = review.program(path, skills::readSource(folder + "/before.cu"));
    ASSERT_TRUE(program.model);

    std::string broken = skills::readSource(folder + "/after.cu");
    const auto at = broken.find(mistake.right);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(broken.find(mistake.right, at + 1), std::string::npos);
    broken.replace(at, mistake.right.size(), mistake.wrong);
    const analysis::Span whole{0, static_cast<std::uint32_t>(program.text.size())};
    const auto verdict = review.reviewer().review(
        {program, program.model->kernels.front()}, {{program.file, {{whole, broken}}}},
        skills::Numerics::Reassociates, {}, {}, {.seed = testSeed()});
    ASSERT_TRUE(verdict) << verdict.error().describe();
    // Some examples state no launch: a check that fails on a guessed one refuses the edit as well,
    // and holds the guess to blame.
    const bool isGuessed = verdict->summary.contains("with a guessed launch");
    EXPECT_EQ(verdict->isAboutEdit, !isGuessed) << verdict->summary;
    EXPECT_NE(verdict->confidence, Confidence::Proved) << verdict->proof;
    std::string checks;
    for (const Check& check : verdict->checks)
        checks += check.name + ": " + check.detail + "\n";
    EXPECT_EQ(verdict->status, isGuessed ? VerdictStatus::Invalid : mistake.status)
        << verdict->summary << "\n"
        << checks;
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, BrokenRewrites,
    testing::Values(
        // An accumulator forgotten at the end.
        Mistake{"loop-unrolling", "(sum2 + sum3)", "sum2", VerdictStatus::Incorrect},
        // One round too many before the remainder.
        Mistake{"loop-unrolling", "k < columns - 3", "k < columns", VerdictStatus::Incorrect},
        // const on what is written.
        Mistake{"restrict-and-const", "out[2 * i] = x[i]", "x[2 * i] = out[i]",
                VerdictStatus::Invalid},
        // Rows that overlap.
        Mistake{"shared-memory-padding", "[TILE + 1]", "[TILE - 1]", VerdictStatus::Incorrect},
        // Another thread's element, one element for all, and another value than was launched with.
        Mistake{"kernel-fusion", "        y[i] = y[i] + bias[i]",
                "        y[i] = y[i ^ 1] + bias[i]", VerdictStatus::Incorrect},
        Mistake{"kernel-fusion", "        y[i] = y[i] + bias[i]", "        y[i] = y[i] + bias[0]",
                VerdictStatus::Incorrect},
        Mistake{"kernel-fusion", "0.5f, n, bias)", "0.5f, n - 1, bias)", VerdictStatus::Incorrect},
        // A launch that does not follow as it must.
        Mistake{"vectorized-access", "+ 3) / 4, 256", "+ 3) / 8, 256", VerdictStatus::Incorrect},
        // A block that does not follow its kernel.
        Mistake{"coalesced-access", "dim3(block.y, block.x)", "block", VerdictStatus::Incorrect},
        // A grid for blocks of another size.
        Mistake{"launch-tuning", "(rows + 31) / 32", "(rows + 63) / 64", VerdictStatus::Incorrect},
        // One row's result for another.
        Mistake{"thread-coarsening", "= sum1;", "= sum0;", VerdictStatus::Incorrect},
        // Rows that are left out at the edge.
        Mistake{"thread-coarsening", "rowEach < row + 4", "rowEach < row + 2",
                VerdictStatus::Incorrect},
        // A point that stands for another, one that is left out, and a queue that is filled
        // wrongly.
        Mistake{"stencil-tiling", "in1 = in2;", "in1 = in0;", VerdictStatus::Incorrect},
        Mistake{"stencil-tiling", "z < zBegin + 4", "z < zBegin + 3", VerdictStatus::Incorrect},
        Mistake{"stencil-tiling", "in1 = in[at - plane];", "in1 = in[at];",
                VerdictStatus::Incorrect},
        // The elements after the last whole vector.
        Mistake{"vectorized-access", "i <= n / 4", "i < n / 4", VerdictStatus::Incorrect},
        // The last element left out.
        Mistake{"grid-stride-loop", "i < n;", "i < n - 1;", VerdictStatus::Incorrect},
        // An instance for another value, and a round that it leaves out.
        Mistake{"launch-specialization", "filterRows<7>", "filterRows<6>",
                VerdictStatus::Incorrect},
        Mistake{"launch-specialization", "k < width;", "k < width - 1;", VerdictStatus::Incorrect},
        // Blocks that no round takes, and a table that is used before it is there.
        Mistake{"persistent-kernel", "block += gridDim.x)", "block += gridDim.x + 1)",
                VerdictStatus::Incorrect},
        Mistake{"persistent-kernel", "block < blocks;", "block + 1 < blocks;",
                VerdictStatus::Incorrect},
        Mistake{"persistent-kernel", "    __syncthreads();\n", "", VerdictStatus::Incorrect},
        // A part that is left out, one that does another's work, and parts that read what others
        // of them have not written yet.
        Mistake{"block-coarsening", "sums[block] = partial[part][0];",
                "sums[block] = partial[part & 2][0];", VerdictStatus::Incorrect},
        Mistake{"block-coarsening", "((n + 255) / 256 + 3) / 4", "(n + 255) / 256 / 4",
                VerdictStatus::Incorrect},
        Mistake{"block-coarsening",
                "partial[part][t] += partial[part][t + s];\n        }\n        __syncthreads();",
                "partial[part][t] += partial[part][t + s];\n        }", VerdictStatus::Incorrect},
        // A warp beyond the last block, one that does another's work, and threads that are left
        // out.
        Mistake{"warp-per-block", "    if (block >= blocks)\n        return;\n", "",
                VerdictStatus::Incorrect},
        Mistake{"warp-per-block", "blockIdx.x * 8 + warp", "blockIdx.x * 8 + (warp & 6)",
                VerdictStatus::Incorrect},
        Mistake{"warp-per-block",
                "threadIdx.x % 32 + part * 32;\n        int t = thread;\n        int",
                "threadIdx.x % 32 + (part & 6) * 32;\n        int t = thread;\n        int",
                VerdictStatus::Incorrect},
        // Neighbours read before they have been written.
        Mistake{"warp-barriers", "row[t] = costs[blockIdx.x * 16 + t];\n    __syncwarp();",
                "row[t] = costs[blockIdx.x * 16 + t];", VerdictStatus::Incorrect},
        // Work of threads that have none, an entry that nobody takes, and the work of another.
        Mistake{"work-compaction", "if (threadIdx.x < waitingCount) {", "if (threadIdx.x < 32) {",
                VerdictStatus::Incorrect},
        Mistake{"work-compaction", "threadIdx.x < waitingCount", "threadIdx.x + 1 < waitingCount",
                VerdictStatus::Incorrect},
        Mistake{"work-compaction", "waiting[threadIdx.x]", "waiting[0]", VerdictStatus::Incorrect},
        // Rounds beyond the limit, one that is left out, and one that does another's work.
        Mistake{"unroll-and-jam", "first + 3 < clusters", "first < clusters",
                VerdictStatus::Incorrect},
        Mistake{"unroll-and-jam", "int i = first; i <", "int i = first + 1; i <",
                VerdictStatus::Incorrect},
        Mistake{"unroll-and-jam", "if (sum[part] < smallest)", "if (sum[part & 2] < smallest)",
                VerdictStatus::Incorrect},
        // Rounds of another limit, and one that is left out.
        Mistake{"loop-interchange", "int row = 0; row < rows;", "int row = 0; row < columns;",
                VerdictStatus::Incorrect},
        Mistake{"loop-interchange", "column < columns;", "column + 1 < columns;",
                VerdictStatus::Incorrect},
        // A warp's result read before every warp has written its own.
        Mistake{"warp-shuffle-reduction", "partial[tid / 32] = sum;\n    __syncthreads();",
                "partial[tid / 32] = sum;", VerdictStatus::Incorrect},
        // Warps beyond the last one count too.
        Mistake{"warp-shuffle-reduction", "tid < blockDim.x / 32 ? partial[tid] : 0.0f",
                "partial[tid]", VerdictStatus::Incorrect},
        // Warps' sums that are read before they are there, a lane's own value added to itself, the
        // sum of the warp itself added, and an element that is left as it was.
        Mistake{"warp-scan", "        warpSums[tid / 32] = sum;\n    __syncthreads();",
                "        warpSums[tid / 32] = sum;", VerdictStatus::Incorrect},
        Mistake{"warp-scan", "        if (tid % 32 >= offset)\n            sum += lower;",
                "        sum += lower;", VerdictStatus::Incorrect},
        Mistake{"warp-scan", "warpSums[tid / 32 - 1]", "warpSums[tid / 32]",
                VerdictStatus::Incorrect},
        Mistake{"warp-scan", "tid >= 32)", "tid > 32)", VerdictStatus::Incorrect},
        // A table that other threads update before it is cleared.
        Mistake{"atomics-privatization", "        blockBins[entry] = 0;\n    __syncthreads();",
                "        blockBins[entry] = 0;", VerdictStatus::Incorrect},
        // A bin left behind.
        Mistake{"atomics-privatization", "entry < 64; entry += blockDim.x)\n        if",
                "entry < 63; entry += blockDim.x)\n        if", VerdictStatus::Incorrect},
        // A block's sum that is cleared late, that misses lanes or warps, and that is read early.
        Mistake{"block-reduction", "        blockEnergy = 0.0f;\n    __syncthreads();",
                "        blockEnergy = 0.0f;", VerdictStatus::Incorrect},
        Mistake{"block-reduction", "offset = 16", "offset = 8", VerdictStatus::Incorrect},
        Mistake{"block-reduction", "threadIdx.x % 32 == 0", "threadIdx.x % 64 == 0",
                VerdictStatus::Incorrect},
        Mistake{"block-reduction",
                "    __syncthreads();\n    if (threadIdx.x == 0)\n        "
                "atomicAdd(energy",
                "    if (threadIdx.x == 0)\n        atomicAdd(energy", VerdictStatus::Incorrect},
        // Places of another thread, warp or block, and numbers read before they are there.
        Mistake{"warp-aggregated-atomics", "(1u << lane) - 1)", "(2u << lane) - 1)",
                VerdictStatus::Incorrect},
        Mistake{"warp-aggregated-atomics", "= warpStarts[warp] + __popc", "= __popc",
                VerdictStatus::Incorrect},
        Mistake{"warp-aggregated-atomics", "= blockStart + place", "= place",
                VerdictStatus::Incorrect},
        Mistake{"warp-aggregated-atomics", "    __syncthreads();\n    if (threadIdx.x == 0) {",
                "    if (threadIdx.x == 0) {", VerdictStatus::Incorrect},
        Mistake{"warp-aggregated-atomics", "    __syncthreads();\n    if (takesPlace) {",
                "    if (takesPlace) {", VerdictStatus::Incorrect},
        // Elements that no step reaches, or one more than it should.
        Mistake{"sequential-addressing", "blockDim.x / 2", "blockDim.x / 4",
                VerdictStatus::Incorrect},
        Mistake{"sequential-addressing", "s > 0", "s > 1", VerdictStatus::Incorrect},
        Mistake{"sequential-addressing", "tid < s", "tid <= s", VerdictStatus::Incorrect},
        // A lane that is left out, a row that begins twice, and a row that is a block's.
        Mistake{"row-per-warp", "offset = 16", "offset = 8", VerdictStatus::Incorrect},
        Mistake{"row-per-warp", "column = lane", "column = 0", VerdictStatus::Incorrect},
        Mistake{"row-per-warp", "/ 128 * 32,", "/ 128,", VerdictStatus::Incorrect},
        // A turn whose sum another lane gets, rounds that all lanes take, and another lane's row.
        Mistake{"rows-in-turn", "lane == turn", "lane == 0", VerdictStatus::Incorrect},
        Mistake{"rows-in-turn", "column = lane", "column = 0", VerdictStatus::Incorrect},
        Mistake{"rows-in-turn", "shfl(row, turn)", "shfl(row, 0)", VerdictStatus::Incorrect},
        // The neighbour's sum, and a difference.
        Mistake{"native-atomics", "(double*)(place)", "(double*)(place + 1)",
                VerdictStatus::Incorrect},
        Mistake{"native-atomics", ", value));", ", -value));", VerdictStatus::Incorrect},
        // Every lane with the target updates it, lanes of all targets together.
        Mistake{"segmented-reduction", "if (alike.thread_rank() == 0)", "if (true)",
                VerdictStatus::Incorrect},
        Mistake{"segmented-reduction", "target);", "0);", VerdictStatus::Incorrect},
        // A sum so far that counts in each lane, a lane's own sum added to itself, and a sum so far
        // that lacks the last column.
        Mistake{"hierarchical-scan", "lane > 0", "lane > 31", VerdictStatus::Incorrect},
        Mistake{"hierarchical-scan", "lane >= offset", "lane >= 0", VerdictStatus::Incorrect},
        Mistake{"hierarchical-scan", "sum = __shfl_sync(0xffffffff, sum, 31);",
                "sum = __shfl_sync(0xffffffff, sum, 30);", VerdictStatus::Incorrect},
        // A tile that is read before it is there, one that is not turned, a bound of the other
        // axis, and a grid for blocks as they were.
        Mistake{"shared-memory-transpose", "    __syncthreads();\n", "", VerdictStatus::Incorrect},
        Mistake{"shared-memory-transpose", "= tile[threadIdx.x][threadIdx.y + step]",
                "= tile[threadIdx.y + step][threadIdx.x]", VerdictStatus::Incorrect},
        Mistake{"shared-memory-transpose", "const int y = yBegin + threadIdx.x",
                "const int y = yBegin + threadIdx.y", VerdictStatus::Incorrect},
        Mistake{"shared-memory-transpose", "(grid.x + 1) / 2", "grid.x / 2",
                VerdictStatus::Incorrect},
        // Records that others have not loaded yet, that are stored too soon, and that lie
        // elsewhere.
        Mistake{"aos-staging", "    __syncthreads();\n    Body& body", "    Body& body",
                VerdictStatus::Incorrect},
        Mistake{"aos-staging", "    }\n    __syncthreads();\n", "    }\n",
                VerdictStatus::Incorrect},
        Mistake{"aos-staging", "bodiesWords[9 * threadIdx.x]", "bodiesWords[8 * threadIdx.x]",
                VerdictStatus::Incorrect},
        // A load by the read-only path of what the kernel writes, and a stream that is another.
        Mistake{"read-only-path", "__ldcs(&weight[i])", "__ldg(&out[i])", VerdictStatus::Incorrect},
        Mistake{"read-only-path", "__stcs(&out[i]", "__stcs(&out[n - 1 - i]",
                VerdictStatus::Incorrect},
        // Elements that several threads add, and that none does.
        Mistake{"algorithm-cascading", "i += blockDim.x * gridDim.x", "i += blockDim.x",
                VerdictStatus::Incorrect},
        Mistake{"algorithm-cascading", "i < n; i +=", "i < n - 1; i +=", VerdictStatus::Incorrect},
        // A tile that is overwritten while others use it, a rest and blocks that are left out.
        Mistake{"register-tiling", "        __syncthreads();\n    }\n", "    }\n",
                VerdictStatus::Incorrect},
        Mistake{"register-tiling", "min(terms - k0, 8)", "(terms - k0) / 8 * 8",
                VerdictStatus::Incorrect},
        Mistake{"register-tiling", "(grid.x + 3) / 4", "grid.x / 4", VerdictStatus::Incorrect},
        Mistake{"shared-memory-tiling", "min(terms - k0, 16)", "(terms - k0) / 16 * 16",
                VerdictStatus::Incorrect},
        // A warp that is left out, a lane that adds twice, and warps that do not wait for others.
        Mistake{"row-per-block", "warp = 1", "warp = 2", VerdictStatus::Incorrect},
        Mistake{"row-per-block", "column = threadIdx.x", "column = 0", VerdictStatus::Incorrect},
        Mistake{"row-per-block", "    __syncthreads();\n", "", VerdictStatus::Incorrect},
        Mistake{"row-per-block", "4 * 128, 128", "4, 128", VerdictStatus::Incorrect},
        // A part that is left out, parts that do not wait for others, and columns that nobody has.
        Mistake{"split-reduction", "other = 1", "other = 2", VerdictStatus::Incorrect},
        Mistake{"split-reduction", "    __syncthreads();\n", "", VerdictStatus::Incorrect},
        Mistake{"split-reduction", "/ 256 * 8,", "/ 256,", VerdictStatus::Incorrect},
        // The sum of another row, or none at all.
        Mistake{"scalar-promotion", "y[i] = sum;", "y[i] += sum;", VerdictStatus::Incorrect},
        Mistake{"scalar-promotion", "sum = 0.0f", "sum = y[i]", VerdictStatus::Incorrect},
        // Another power, and a value that is not the same in all rounds.
        Mistake{"invariant-hoisting", "powf(base, rate)", "powf(rate, base)",
                VerdictStatus::Incorrect},
        Mistake{"invariant-hoisting", "sum * factor", "sum * (factor + r)",
                VerdictStatus::Incorrect},
        // A dividend that does not fit, and a quotient for a remainder.
        Mistake{"index-narrowing", "rest = (unsigned)rest", "rest = (unsigned short)rest",
                VerdictStatus::Incorrect},
        Mistake{"index-narrowing", "(unsigned)rest % width", "(unsigned)rest % chunks",
                VerdictStatus::Incorrect},
        // An approximation of the wrong function.
        Mistake{"fast-math-intrinsics", "rsqrtf(squared)", "__fdividef(1.0f, squared)",
                VerdictStatus::Incorrect},
        // The value of another round.
        Mistake{"memory-level-parallelism", "value = inAhead[ahead]", "value = inAhead[0]",
                VerdictStatus::Incorrect},
        // All four rounds store to the first one's place.
        Mistake{"memory-level-parallelism", "out[i] = value", "out[first] = value",
                VerdictStatus::Incorrect},
        // A row that is one pixel too long.
        Mistake{"address-strength-reduction", "remainder >= columns", "remainder > columns",
                VerdictStatus::Incorrect},
        // The same tile again.
        Mistake{"software-prefetch", "next = k + TILE;", "next = k;", VerdictStatus::Incorrect},
        // The same tile again, a wait for too few copies, and a copy over what others still read.
        Mistake{"async-copy", "next = k + 4;", "next = k;", VerdictStatus::Incorrect},
        Mistake{"async-copy", "wait_prior(1)", "wait_prior(2)", VerdictStatus::Incorrect},
        Mistake{"async-copy", "        __syncthreads();\n        stage ^= 1;",
                "        stage ^= 1;", VerdictStatus::Incorrect},
        // One factor for another.
        Mistake{"vectorized-math", "__half2half2(rate)", "__half2half2(decay)",
                VerdictStatus::Incorrect},
        // A last group of more rows than the grid has left.
        Mistake{"block-swizzle", "min(16u, gridDim.y - groupRow)", "16u", VerdictStatus::Incorrect},
        // A graph that is launched too seldom, that ends in the middle of an exchange, and that
        // does not wait for what was there before.
        Mistake{"cuda-graph-replay", "1000 / 20", "1000 / 25", VerdictStatus::Incorrect},
        Mistake{"cuda-graph-replay", "step < 20;", "step < 25;", VerdictStatus::Incorrect},
        Mistake{"cuda-graph-replay", "Launch(replay, 0)", "Launch(replay, capturing)",
                VerdictStatus::Incorrect},
        // A launch that begins too early, one that nothing waits for, one in its old place too, and
        // one that writes what its neighbour writes.
        Mistake{"stream-overlap", "    cudaStreamWaitEvent(beside, forked, 0);\n", "",
                VerdictStatus::Incorrect},
        Mistake{"stream-overlap", "    cudaStreamWaitEvent(0, joined, 0);\n", "",
                VerdictStatus::Incorrect},
        Mistake{"stream-overlap", "(table, sums, rows);",
                "(table, sums, rows);\n    columnMaxima<<<32, 128>>>(table, maxima, rows);",
                VerdictStatus::Incorrect},
        Mistake{"stream-overlap", "beside>>>(table, maxima", "beside>>>(table, sums",
                VerdictStatus::Incorrect},
        // The first element twice.
        Mistake{"vectorization-refinement", "float2 s = spectrum1", "float2 s = spectrum0",
                VerdictStatus::Incorrect},
        // The work of too few threads.
        Mistake{"warp-uniform-control-flow", "tid * (2 * s)", "tid * (4 * s)",
                VerdictStatus::Incorrect}));

} // namespace
} // namespace kernelskill::engine
