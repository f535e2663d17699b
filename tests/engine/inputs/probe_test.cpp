#include "engine/inputs/launch_pair.h"
#include "engine/inputs/probe.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

const std::string kernelText = "__global__ void k(const float* x, float* y, float a, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) y[i] = a * x[i];\n"
                               "}\n";
std::string launchedFor(const std::string& size, const std::string& block) {
    return kernelText + "int main(int argc, char** argv) { int n = " + size +
           "; float *x, *y; int block = " + block +
           "; k<<<(n + block - 1) / block, block>>>(x, y, 2.0f, n); }\n";
}

/// The probes of an edit, given as the whole program before and after it.
ProbePlan probesOfEdit(const std::string& before, const std::string& after,
                       const std::map<std::string, std::int64_t>& passed = {}) {
    const auto originalModel = parsedProgram(before);
    const auto candidateModel = parsedProgram(after);
    const KernelInFile original{originalModel, originalModel.kernels.at(0)};
    const KernelInFile candidate{candidateModel, candidateModel.kernels.at(0)};
    const auto plan = planTrials(original, candidate);
    EXPECT_TRUE(plan) << plan.error().describe();
    return planProbes(original, candidate, *plan, skills::Numerics::Exact, 7, passed);
}

ProbePlan probesOf(const std::string& text) {
    return probesOfEdit(text, text);
}

std::set<std::int64_t> sizesOf(const ProbePlan& plan) {
    std::set<std::int64_t> sizes;
    for (const Trial& probe : plan.probes)
        sizes.insert(*scalarNamed(probe.original, "n")->integer);
    return sizes;
}

/// The probes whose blocks differ from those that the launch passes on.
std::vector<Trial> withOtherBlocks(const ProbePlan& plan) {
    std::vector<Trial> probes = plan.probes;
    std::erase_if(probes, [](const Trial& probe) { return !probe.label.contains(", blocks of "); });
    return probes;
}

TEST(Probes, TakeTheSmallIntegersOfAProgramThatPassesThem) {
    const std::string text =
        "__global__ void k(float* x, int n, int steps, int pad) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n - steps * 0)\n"
        "        for (int step = 0; step < steps; ++step) x[i + pad] += step;\n"
        "}\n"
        "void run(float* x, int argc) { int n = 1000, steps = 1, pad = argc;\n"
        "    k<<<(n + 127) / 128, 128>>>(x, n, steps, pad); }\n";
    const auto withSteps = [&](const ProbePlan& plan, std::int64_t steps, std::int64_t pad) {
        return std::ranges::count_if(plan.probes, [&](const Trial& probe) {
            return scalarNamed(probe.original, "steps")->integer == steps &&
                   scalarNamed(probe.original, "pad")->integer == pad;
        });
    };
    const std::map<std::string, std::int64_t> passed{{"n", 40}, {"steps", 2}, {"pad", 11}};
    EXPECT_EQ(withSteps(probesOfEdit(text, text), 2, 11), 0);
    const ProbePlan plan = probesOfEdit(text, text, passed);
    EXPECT_EQ(withSteps(plan, 2, 11), 2);
    EXPECT_THAT(plan.varied, ::testing::Contains("the program's own integers"));
    EXPECT_EQ(withSteps(probesOfEdit(text, text, {{"steps", 5000}, {"pad", 11}}), 5000, 11), 0);
}

TEST(Probes, CoverEveryRemainderOfAWarpAndSizesBelowOne) {
    const auto sizes = sizesOf(probesOf(launchedFor("1 << 20", "256")));
    std::set<std::int64_t> rests;
    for (const std::int64_t size : sizes)
        rests.insert(size % 32);
    EXPECT_EQ(rests.size(), 32u);
    for (const std::int64_t size : {1, 31, 33, 255, 256, 1026})
        EXPECT_TRUE(sizes.contains(size)) << size;
    EXPECT_TRUE(sizes.contains(4 * 256 + 1)) << "a loop over blocks may take four at once";
}

TEST(Probes, HaveWholeBlocksAlongEachAxisWhereNothingBoundsTheThreads) {
    const std::string text =
        "__global__ void k(const float* a, float* c, int n) {\n"
        "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    c[row * n + col] = a[col * n + row];\n}\n"
        "int main(int argc, char** argv) { int n = 1 << 10; float *a, *c;\n"
        "    dim3 threads(32, 32), blocks(n / 32, n / 32); k<<<blocks, threads>>>(a, c, n); }\n";
    const auto sizes = sizesOf(probesOf(text));
    for (const std::int64_t blocks : {1, 2, 3})
        EXPECT_TRUE(sizes.contains(32 * blocks)) << blocks;
}

TEST(Probes, TrySizesAroundTheConstantsOfAnEdit) {
    const std::string before = launchedFor("1 << 20", "256");
    std::string after = before;
    after.replace(after.find("i < n"), 5, "i < (n < 700 ? n : n - 1)");
    const auto sizes = sizesOf(probesOfEdit(before, after));
    for (const std::int64_t size : {699, 700, 701})
        EXPECT_TRUE(sizes.contains(size)) << size;
}

TEST(Probes, SayThatAFunctionsGridIsTakenToBeInProportion) {
    const std::string before = "dim3 gridOf(int count);\n" + kernelText +
                               "void run(float* x, float* y, int n) {\n"
                               "    k<<<gridOf(n), 256>>>(x, y, 2.0f, n);\n}\n";
    std::string after = before;
    after.replace(after.find("gridOf(n)"), 9, "gridOf(n * 32)");
    const auto said = HasSubstr("what the host's function makes of another number");
    EXPECT_THAT(describe(probesOfEdit(before, after), 0), said);
    EXPECT_THAT(describe(probesOf(before), 0), ::testing::Not(said));
}

TEST(Probes, TryValuesNearZeroWhereResultsAreFloats) {
    const auto hasTiny = [](const std::string& text) {
        return std::ranges::any_of(probesOf(text).probes, [](const Trial& probe) {
            return probe.label.contains("values near zero");
        });
    };
    const std::string floats = launchedFor("1 << 20", "256");
    EXPECT_TRUE(hasTiny(floats));
    std::string integers = floats;
    for (std::size_t at = 0; (at = integers.find("float", at)) != std::string::npos; ++at)
        integers.replace(at, 5, "int");
    EXPECT_FALSE(hasTiny(integers));
}

TEST(Probes, ReachBlocksFarBeyondWhatTheEmulatorRuns) {
    const auto plan = probesOf(launchedFor("1 << 20", "256"));
    const auto distant = std::ranges::find_if(plan.distant, [](const Trial& probe) {
        return probe.maxBlocks && threadsOf(probe.original) > 1e9;
    });
    ASSERT_NE(distant, plan.distant.end());
    EXPECT_TRUE(plan.sameBlocks);
    EXPECT_THAT(distant->label, HasSubstr("blocks"));
}

TEST(Probes, DoNotOverflowACounterThatGoesOnByTheGrid) {
    const auto plan = probesOf("__global__ void k(int* x, int n) {\n"
                               "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                               "         i += blockDim.x * gridDim.x) x[i] = 1;\n"
                               "}\n"
                               "void run(int* x, int n) { k<<<(n + 255) / 256, 256>>>(x, n); }\n"
                               "int main() { int* x; cudaMalloc(&x, 40000); run(x, 10000); }\n");
    double most = 0;
    for (const Trial& probe : plan.distant)
        most = std::max(most, static_cast<double>(*scalarNamed(probe.original, "n")->integer) +
                                  threadsOf(probe.original));
    EXPECT_GT(most, 2e9);
    EXPECT_LT(most, 0x1p31);
}

TEST(Probes, PassBothKernelsTheSameScalars) {
    bool isVaried = false;
    for (const Trial& probe : probesOf(launchedFor("1 << 20", "256")).probes) {
        EXPECT_EQ(scalarNamed(probe.original, "a")->bytes,
                  scalarNamed(probe.candidate, "a")->bytes);
        EXPECT_EQ(probe.original.grid, probe.candidate.grid);
        isVaried |= scalarNamed(probe.original, "a")->floating != 2.0;
    }
    EXPECT_TRUE(isVaried);
}

TEST(Probes, HaveBlocksThatAreNoPowerOfTwoWhereThreadsAreIndependent) {
    const auto hasBlockOf = [](const ProbePlan& plan, std::uint32_t threads) {
        return std::ranges::any_of(
            plan.probes, [&](const Trial& probe) { return probe.original.block.x == threads; });
    };
    const std::string text = launchedFor("1 << 20", "argc > 1 ? 128 : 256");
    EXPECT_TRUE(hasBlockOf(probesOf(text), 96));
    std::string meeting = text;
    meeting.replace(meeting.find("    if (i < n)"), 0, "    __syncthreads();\n");
    EXPECT_TRUE(hasBlockOf(probesOf(meeting), 64));
    EXPECT_FALSE(hasBlockOf(probesOf(meeting), 96));
}

TEST(Probes, GiveBothKernelsGridsForOneSize) {
    const std::string head = kernelText + "int main() { float *x, *y; int width = 256; dim3 "
                                          "block(width); dim3 grid((4096 + width - 1) / width);\n";
    const ProbePlan plan = probesOfEdit(
        head + "k<<<grid, block>>>(x, y, 2.0f, 4096); }\n",
        head + "k<<<dim3(grid.x * 8, grid.y, grid.z), dim3(32)>>>(x, y, 2.0f, 4096); }\n");
    std::set<std::int64_t> sizes;
    for (const Trial& probe : plan.probes) {
        const std::int64_t n = *scalarNamed(probe.original, "n")->integer;
        sizes.insert(n);
        const auto threads = static_cast<std::int64_t>(threadsOf(probe.original));
        EXPECT_GE(static_cast<std::int64_t>(threadsOf(probe.candidate)), std::min(threads, n))
            << probe.label;
    }
    EXPECT_GT(*sizes.rbegin(), 512);
    EXPECT_GT(sizes.size(), 10u);
}

TEST(Probes, GiveBothKernelsGridsForOneOfTwoEqualSizes) {
    const std::string kernel = "__global__ void k(float* x, int rows, int n) {\n    int i = "
                               "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] = "
                               "rows;\n}\nint main() { float* x;";
    const ProbePlan plan = probesOfEdit(kernel + " k<<<2, 256>>>(x, 512, 512); }\n",
                                        kernel + " k<<<2 * 8, 32>>>(x, 512, 512); }\n");
    EXPECT_GT(plan.probes.size(), 10u);
    for (const Trial& probe : plan.probes)
        EXPECT_EQ(threadsOf(probe.candidate), threadsOf(probe.original)) << probe.label;
}

TEST(Probes, GiveACandidateOfSmallerBlocksAThreadForEachPosition) {
    const std::string kernel = "__global__ void k(float* x, int n) {\n    int i = blockIdx.x * "
                               "blockDim.x + threadIdx.x;\n    if (i < n) x[i] *= 2;\n}\n"
                               "int main() { float* x;";
    const ProbePlan plan = probesOfEdit(kernel + " k<<<(300 + 127) / 128, 128>>>(x, 300); }\n",
                                        kernel + " k<<<(300 + 63) / 64, 64>>>(x, 300); }\n");
    EXPECT_GT(plan.probes.size(), 10u);
    for (const Trial& probe : plan.probes) {
        const auto n = static_cast<double>(*scalarNamed(probe.original, "n")->integer);
        EXPECT_GE(threadsOf(probe.candidate), std::min(threadsOf(probe.original), n))
            << probe.label;
    }
}

TEST(Probes, ShiftTheBuffersOfLargeLaunches) {
    // A warp a row: the smallest trial keeps too many threads for a probe.
    const auto plan = probesOf("__global__ void k(const float* x, float* y, int rows, int n) {\n"
                               "    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
                               "    if (row >= rows) return;\n"
                               "    bool aligned = reinterpret_cast<size_t>(x) % 16 == 0;\n"
                               "    for (int j = threadIdx.x % 32; j < n; j += 32)\n"
                               "        y[row * n + j] = x[row * n + j] + aligned;\n"
                               "}\n"
                               "int main() { const int rows = 8192, n = 256; float *x, *y;\n"
                               "    cudaMalloc(&x, rows * n * 4); cudaMalloc(&y, rows * n * 4);\n"
                               "    k<<<(rows + 127) / 128 * 32, 128>>>(x, y, rows, n); }\n");
    EXPECT_THAT(plan.varied, ::testing::Contains("the alignment of buffers"));
    EXPECT_TRUE(std::ranges::any_of(plan.probes, [](const Trial& probe) {
        return probe.label.contains("at odd addresses") && threadsOf(probe.original) > 256;
    }));
}

TEST(Probes, HaveBlocksOfOtherShapesWhereTheLaunchDoesNotStateThem) {
    const auto shapesOf = [](const std::string& shared) {
        const auto plan = probesOf(
            "__global__ void k(float* x, int rows, int n) {\n"
            "    " +
            shared +
            "\n    for (int r = blockIdx.x * blockDim.y + threadIdx.y; r < rows; r += gridDim.x * "
            "blockDim.y)\n"
            "        for (int i = threadIdx.x; i < n; i += blockDim.x) x[r * n + i] = h[i % 8];\n"
            "}\n"
            "void run(float* x, int rows, int n, dim3 block) {\n"
            "    k<<<(rows + block.y - 1) / block.y, block, 8 * sizeof(float)>>>(x, rows, n); }\n"
            "int main() { float* x; cudaMalloc(&x, 4000); run(x, 50, 20, dim3(16, 4)); }\n");
        std::set<std::pair<std::uint32_t, std::uint32_t>> shapes;
        for (const Trial& probe : plan.probes) {
            shapes.emplace(probe.original.block.x, probe.original.block.y);
            EXPECT_EQ(probe.original.block, probe.candidate.block);
            if (probe.label.contains(", blocks of "))
                EXPECT_GE(probe.original.grid.x * probe.original.block.y, 50u) << probe.label;
        }
        return shapes;
    };
    using Shapes = std::set<std::pair<std::uint32_t, std::uint32_t>>;
    EXPECT_EQ(shapesOf("extern __shared__ float h[];"), (Shapes{{16, 4}, {8, 8}, {8, 4}, {32, 2}}));
    EXPECT_EQ(shapesOf("__shared__ float h[8];"), (Shapes{{16, 4}}));
}

TEST(Probes, KeepTheRowsOfAGridOfFlatBlocks) {
    const auto plan =
        probesOf("__global__ void k(float* x, int n) {\n"
                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "    if (i < n) x[blockIdx.y * n + i] = 1;\n"
                 "}\n"
                 "void run(float* x, int n, int threads) {\n"
                 "    k<<<dim3((n + threads - 1) / threads, 5), threads>>>(x, n); }\n"
                 "int main() { float* x; cudaMalloc(&x, 5 * 1000 * 4); run(x, 1000, 128); }\n");
    std::set<std::uint32_t> threads;
    for (const Trial& probe : withOtherBlocks(plan)) {
        threads.insert(probe.original.block.x);
        EXPECT_EQ(probe.original.grid.y, 5u) << probe.label;
    }
    EXPECT_EQ(threads, (std::set<std::uint32_t>{64, 96, 512}));
}

TEST(Probes, CoverAsManyThreadsInBothAxesWithOtherBlocks) {
    const auto plan = probesOf(
        "__global__ void k(float* x, int rows, int n) {\n"
        "    int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (r < rows && i < n) x[r * n + i] = 1;\n"
        "}\n"
        "void run(float* x, int rows, int n, dim3 block) {\n"
        "    k<<<dim3((n + block.x - 1) / block.x, (rows + block.y - 1) / block.y), block>>>"
        "(x, rows, n); }\n"
        "int main() { float* x; cudaMalloc(&x, 4000); run(x, 8, 30, dim3(32, 8)); }\n");
    std::set<std::uint32_t> widths;
    for (const Trial& probe : withOtherBlocks(plan)) {
        const Dim3& grid = probe.original.grid;
        const Dim3& block = probe.original.block;
        widths.insert(block.x);
        EXPECT_GE(grid.x * block.x, 30u) << probe.label;
        EXPECT_GE(grid.y * block.y, 8u) << probe.label;
    }
    EXPECT_EQ(widths, (std::set<std::uint32_t>{16, 64}));
}

TEST(Probes, FollowAGuessedGridToWhichAnEditAddsItsSize) {
    const auto launched = [](const std::string& parameter, const std::string& position,
                             const std::string& grid, const std::string& argument) {
        return "__global__ void k(float* x, int n" + parameter + ") {\n    x[" + position +
               " * 64 + threadIdx.x] *= n;\n}\ndim3 gridOf(int n);\n"
               "void run(float* x, int n) {\n    dim3 grid = gridOf(n);\n    k<<<" +
               grid + ", 64>>>(x, n" + argument + ");\n}\n";
    };
    const ProbePlan plan =
        probesOfEdit(launched("", "blockIdx.x", "grid", ""),
                     launched(", unsigned int blocks", "min(blockIdx.x * 4, blocks)",
                              "dim3((grid.x + 3) / 4, grid.y, grid.z)", ", grid.x"));
    ASSERT_FALSE(plan.probes.empty());
    bool hasRest = false;
    for (const Trial& probe : plan.probes) {
        EXPECT_EQ(probe.candidate.grid.x, (probe.original.grid.x + 3) / 4) << probe.label;
        EXPECT_EQ(scalarNamed(probe.candidate, "blocks")->integer, probe.original.grid.x);
        hasRest = hasRest || probe.original.grid.x % 4 != 0;
    }
    EXPECT_TRUE(hasRest);
}

TEST(Probes, LaunchAllBlocksOfASizeWhereTheGridFollowsFromIt) {
    const auto launched = [](const std::string& parameter, const std::string& body,
                             const std::string& grid, const std::string& argument) {
        return "__global__ void k(const float* x, float* y, int n" + parameter + ") {\n" + body +
               "}\nvoid run(const float* x, float* y, int n) {\n    k<<<" + grid +
               ", 256>>>(x, y, n" + argument + ");\n}\n";
    };
    const ProbePlan plan =
        probesOfEdit(launched("",
                              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    float f = i < n ? x[i] : 0.0f;\n    y[blockIdx.x] = f;\n",
                              "(n + 255) / 256", ""),
                     launched(", unsigned int blocks",
                              "    for (unsigned int part = 0; part < 4; ++part) {\n"
                              "        unsigned int block = blockIdx.x * 4 + part;\n"
                              "        int i = block * blockDim.x + threadIdx.x;\n"
                              "        float f = i < n ? x[i] : 0.0f;\n"
                              "        if (block < blocks) y[block] = f;\n    }\n",
                              "((n + 255) / 256 + 3) / 4", ", (n + 255) / 256"));
    bool hasRest = false;
    for (const Trial& probe : plan.probes) {
        EXPECT_GE(probe.original.grid.x * 256, *scalarNamed(probe.original, "n")->integer)
            << probe.label;
        hasRest = hasRest || probe.original.grid.x % 4 != 0;
    }
    EXPECT_TRUE(hasRest);
}

TEST(Probes, SayWhatTheyDidNotVary) {
    const auto plan = probesOf(kernelText + "int main() { float *x, *y; "
                                            "k<<<4, 256>>>(x, y, 2.0f, 1000); }\n");
    EXPECT_THAT(describe(plan, 0), HasSubstr("the block size: the launch states 256"));
}

TEST(Probes, HaveFewerBlocksOnlyWhereBothKernelsLoopOverTheGrid) {
    const std::string loop = "__global__ void k(const float* x, float* y, int n) {\n"
                             "    const int step = gridDim.x * blockDim.x;\n"
                             "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
                             "step) y[i] = x[i];\n}\n";
    const std::string main = "int main() { float *x, *y; k<<<40, 64>>>(x, y, 3000); }\n";
    const auto hasFewBlocks = [](const ProbePlan& plan) {
        return std::ranges::any_of(plan.probes, [](const Trial& probe) {
            return probe.original.grid.x < 10 && *scalarNamed(probe.original, "n")->integer > 640;
        });
    };
    EXPECT_TRUE(hasFewBlocks(probesOf(loop + main)));
    EXPECT_FALSE(hasFewBlocks(probesOf(launchedFor("3000", "64"))));
}

TEST(Probes, VaryTheLengthOfALoopOverALargeLiteralGrid) {
    const auto plan = probesOf("__global__ void k(float* x, int n) {\n"
                               "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i "
                               "+= blockDim.x * gridDim.x)\n"
                               "        x[i] *= 2;\n"
                               "}\n"
                               "void run(float* x, int n) { k<<<264, 256>>>(x, n); }\n");
    EXPECT_GT(sizesOf(plan).size(), 2u);
    EXPECT_TRUE(std::ranges::any_of(plan.varied,
                                    [](const std::string& what) { return what.contains("'n'"); }));
}

TEST(Probes, VaryOneExtentWhereNotAllCanBeVaried) {
    const auto plan =
        probesOf("__global__ void k(const float* x, float* y, int m, int n, int k) {\n"
                 "    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + "
                 "threadIdx.y;\n"
                 "    float sum = 0;\n"
                 "    if (r < m && c < n) for (int i = 0; i < k; ++i) sum += x[r * k + i];\n"
                 "    y[r * n + c] = sum;\n}\n"
                 "int main() { const int m = 128, n = 128, k = 128; float *x, *y;\n"
                 "    k<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(x, y, m, n, k); }\n");
    std::set<std::int64_t> lengths;
    for (const Trial& probe : plan.probes)
        lengths.insert(*scalarNamed(probe.original, "k")->integer);
    EXPECT_GE(lengths.size(), 4u);
}

TEST(Probes, VaryValuesWhereLittleElseVaries) {
    const auto plan = probesOf("__global__ void k(const float* x, float* y) {\n"
                               "    y[threadIdx.x] = x[threadIdx.x];\n}\n"
                               "int main() { float *x, *y; k<<<1, 64>>>(x, y); }\n");
    EXPECT_GE(plan.probes.size(), 10u);
}

TEST(Probes, VaryALiteralSizeBesideAVariableThatTheLaunchDoesNotFollow) {
    const auto plan =
        probesOf(kernelText + "int main() { const int count = 2048; float *x, *y, *z;\n"
                              "    cudaMalloc(&z, count * sizeof(float));\n"
                              "    cudaMalloc(&x, count * sizeof(float));\n"
                              "    k<<<4, 256>>>(x, y, 2.0f, 1000); }\n");
    EXPECT_GT(sizesOf(plan).size(), 10u);
}

TEST(Probes, VaryALiteralLengthWithItsGrid) {
    const auto plan = probesOf(kernelText + "int main() { float *x, *y; "
                                            "k<<<4, 256>>>(x, y, 2.0f, 1000); }\n");
    const auto sizes = sizesOf(plan);
    for (const std::int64_t size : {1, 31, 257, 514})
        EXPECT_TRUE(sizes.contains(size)) << size;
    EXPECT_FALSE(plan.distant.empty());
}

} // namespace
} // namespace kernelskill::engine
