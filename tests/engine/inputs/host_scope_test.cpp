#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A kernel for one block of threads, up to n.
const std::string bounded =
    "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[0] = 1; }\n";

TEST(HostScope, DoesNotTakeAKernelsCallForACallOfTheHostsFunction) {
    const LaunchSpec launch =
        bestLaunch("namespace cg { __device__ float reduce(int lanes, float v) { return v * lanes; "
                   "} }\n" +
                   bounded +
                   "__global__ void other(float* x) { x[0] = cg::reduce(1, x[0]); }\n"
                   "void reduce(int size, float* x) { k<<<4, 64>>>(x, size); }\n");
    EXPECT_GT(*scalarNamed(launch, "n")->integer, 1);
}

TEST(HostScope, TakesTheBranchOfAnIfThatIsCompiled) {
    const LaunchSpec launch =
        bestLaunch("#ifdef SMALL\n#define N 1024\n#else\n#define N 4096\n#endif\n" + bounded +
                   "#ifdef SMALL\nconst int block = 32;\n#else\nconst int block = 256;\n#endif\n"
                   "void run(float* x) {\n    int n = N;\n"
                   "#ifdef SMALL\n    n = 7;\n#endif\n"
                   "    k<<<(n + block - 1) / block, block>>>(x, n);\n}\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Evaluated);
    EXPECT_EQ(scalarNamed(launch, "n")->integer, 4096);
    EXPECT_EQ(launch.block.x, 256u);
    EXPECT_EQ(launch.grid.x, 16u);
}

TEST(HostScope, KnowsAMacroThatIsDefinedInNoOtherBranch) {
    const LaunchSpec launch = bestLaunch("#ifdef ON_HOST\n#define N 4096\n#endif\n" + bounded +
                                         "void run(float* x) { k<<<16, 256>>>(x, N); }\n");
    EXPECT_EQ(scalarNamed(launch, "n")->integer, 4096);
}

TEST(HostScope, KnowsConstantsOfClasses) {
    const LaunchSpec launch = bestLaunch(
        "struct Config { static constexpr int warps = 4, threads = warps * 32; };\n" + bounded +
        "void run(float* x) { int n = 1000; "
        "k<<<(n + Config::threads - 1) / Config::threads, Config::threads>>>(x, n); }\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Evaluated);
    EXPECT_EQ(launch.block.x, 128u);
    EXPECT_EQ(launch.grid.x, 8u);
}

TEST(HostScope, KnowsConstantsOfInstancesByTheirAlias) {
    const LaunchSpec launch = bestLaunch(
        "template <class T, int Rows> struct Pack {\n"
        "    static constexpr int size = sizeof(int4) / sizeof(T), all = Rows * size;\n"
        "    T values[size];\n"
        "};\n"
        "typedef Pack<double, 3> Doubles;\n"
        "using Shorts = Pack<short, 2>;\n" +
        bounded +
        "void run(float* x) { int n = 1000; k<<<Doubles::all, Shorts::all * 8>>>(x, n); }\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Evaluated);
    EXPECT_EQ(launch.grid.x, 6u);
    EXPECT_EQ(launch.block.x, 128u);
}

TEST(HostScope, KnowsWhatADeviceAnswers) {
    const std::string text =
        bounded +
        "template <typename Kernel>\nstatic unsigned resident(Kernel kernel, unsigned blocks, int "
        "threads) {\n"
        "    int device, processors, each;\n    cudaGetDevice(&device);\n"
        "    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);\n"
        "    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);\n"
        "    const unsigned all = processors * each;\n    return blocks < all ? blocks : all;\n}\n"
        "void run(float* x) { int n = 100000; k<<<resident(k, n, 128), 128>>>(x, n); }\n";
    const LaunchSpec small = bestLaunch(text);
    EXPECT_EQ(small.origin, LaunchOrigin::Evaluated);
    EXPECT_EQ(small.grid.x, 16u);
    EXPECT_TRUE(small.isGridOfDevice);
    // A grid for a GPU fills it.
    EXPECT_EQ(bestLaunch(text, LaunchTarget::Gpu).grid.x, 132u * 16u);
}

TEST(HostScope, KnowsPropertiesOfADevice) {
    const std::string text = bounded + "void run(float* x) {\n    cudaDeviceProp prop;\n"
                                       "    cudaGetDeviceProperties(&prop, 0);\n"
                                       "    k<<<prop.multiProcessorCount * 4, 64>>>(x, 100);\n}\n";
    EXPECT_EQ(bestLaunch(text).grid.x, 32u);
    EXPECT_EQ(bestLaunch(text, LaunchTarget::Gpu).grid.x, 132u * 4u);
    EXPECT_FALSE(bestLaunch("__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
                            "void run(float* x) { k<<<4, 64>>>(x); }\n")
                     .isGridOfDevice);
}

TEST(HostScope, SaysSoWhereAnEarlierValueStandsForTheGrid) {
    const auto launch = [&](const std::string& host) {
        return bestLaunch(bounded + "void run(float* x, const int* sizes) {\n" + host + "}\n");
    };
    const LaunchSpec plain = launch("int n = 640;\nk<<<n / 64, 64>>>(x, n);\n");
    EXPECT_EQ(plain.grid.x, 10u);
    EXPECT_FALSE(plain.isGridStandIn);
    // The text does not tell what is read from `sizes`.
    const LaunchSpec found =
        launch("int n = 640;\nif (sizes[1] > n) n = sizes[1];\nk<<<n / 64, 64>>>(x, n);\n");
    EXPECT_EQ(found.grid.x, 10u);
    EXPECT_TRUE(found.isGridStandIn);
    EXPECT_TRUE(
        launch("dim3 grid(5);\ngrid.x = sizes[0];\nk<<<grid, 64>>>(x, 7);\n").isGridStandIn);
}

TEST(HostScope, LeavesOutWhatABranchThatIsNotTakenAssigns) {
    const auto gridOf = [&](const std::string& host) {
        const LaunchSpec launch = bestLaunch(bounded + host);
        EXPECT_EQ(launch.origin, LaunchOrigin::Evaluated) << host;
        return launch.grid.x;
    };
    const auto rounded = [](const std::string& n) {
        return "void run(float* x) { int n = " + n +
               ", threads = 128; int blocks = n / threads;\n"
               "if (n % threads != 0) { blocks = blocks + 1; }\n"
               "k<<<blocks, threads>>>(x, n); }\n";
    };
    EXPECT_EQ(gridOf(rounded("1024")), 8u);
    EXPECT_EQ(gridOf(rounded("1025")), 9u);
    const auto chosen = [](const std::string& n) {
        return "void run(float* x) { int n = " + n +
               ", blocks; dim3 grid;\n"
               "if (n < 100) blocks = 1; else if (n < 1000) blocks = 2; else { blocks = 3; }\n"
               "grid.x = blocks; if (n > 5000) grid.x = 4;\n"
               "k<<<grid, 128>>>(x, n); }\n";
    };
    EXPECT_EQ(gridOf(chosen("99")), 1u);
    EXPECT_EQ(gridOf(chosen("999")), 2u);
    EXPECT_EQ(gridOf(chosen("1000")), 3u);
    EXPECT_EQ(gridOf(chosen("6000")), 4u);
    // The branches around the launch itself count as taken.
    EXPECT_EQ(gridOf("void run(float* x) { int n = 1000;\n"
                     "if (n < 10) { int blocks = 5; k<<<blocks, 128>>>(x, n); } }\n"),
              5u);
}

TEST(HostScope, CopiesAnExtentAtFileScope) {
    const LaunchSpec launch =
        bestLaunch(bounded + "dim3 whole{7, 3};\ndim3 grid{whole};\n"
                             "void run(float* x) { k<<<grid, 64>>>(x, 50); }\n");
    EXPECT_EQ(launch.grid, (Dim3{7, 3, 1}));
}

TEST(HostScope, FollowsChangesOfAVariable) {
    const auto gridOf = [&](const std::string& host) {
        return bestLaunch(bounded + "void run(float* x) { int n = 1025, blocks = n / 128; " + host +
                          " k<<<blocks, 128>>>(x, n); }\n")
            .grid.x;
    };
    EXPECT_EQ(gridOf("if (n % 128) blocks++;"), 9u);
    EXPECT_EQ(gridOf("if (n % 1025) ++blocks;"), 8u);
    EXPECT_EQ(gridOf("blocks += n / 1000; blocks *= 2; --blocks;"), 17u);
    EXPECT_EQ(gridOf("blocks <<= 1; blocks %= 10; blocks -= 1;"), 5u);
    // The evaluation does not follow how often a loop runs.
    EXPECT_EQ(gridOf("for (int i = 0; i < 3; ++i) blocks++;"), 8u);
    EXPECT_EQ(gridOf("for (blocks = 4; blocks < 100; blocks *= 2)"), 4u);
    EXPECT_EQ(gridOf("for (blocks = 0; blocks < 100; blocks += 2) k<<<blocks + 3, 128>>>(x, n);"
                     "blocks = 2;"),
              3u);
}

TEST(HostScope, DoesNotTakeTheStartOfACountForASize) {
    const LaunchSpec launch =
        bestLaunch("__global__ void k(float* x, int ones) {\n"
                   "    for (int i = 0; i < ones; ++i) x[threadIdx.x] += 1; }\n"
                   "void run(float* x, const int* disk, int n) { int ones = 0;\n"
                   "    for (int i = 0; i < n; ++i) if (disk[i] == 1) ones++;\n"
                   "    k<<<8, 128>>>(x, ones); }\n");
    EXPECT_GT(*scalarNamed(launch, "ones")->integer, 0);
}

TEST(HostScope, TakesTheDefinitionOfAMacroThatIsKnown) {
    const LaunchSpec launch = bestLaunch(
        "#ifdef GIVEN_SIZE\n#define BLOCK_SIZE GIVEN_SIZE\n#else\n#define BLOCK_SIZE 16\n#endif\n"
        "__global__ void k(float* x, int size) { if (threadIdx.x < size) x[0] = 1; }\n"
        "void run(float* x, int size) { k<<<size / BLOCK_SIZE - 1, BLOCK_SIZE * 2>>>(x, size); "
        "}\n");
    EXPECT_EQ(launch.block.x, 32u);
    EXPECT_EQ(launch.grid.x, *scalarNamed(launch, "size")->integer / 16 - 1);
}

TEST(HostScope, TakesTheReturnThatIsReached) {
    const auto gridOf = [&](const std::string& n, const std::string& body) {
        return bestLaunch(bounded + "int share(int n, int of) { " + body +
                          " }\nvoid run(float* x) { int n = " + n +
                          "; k<<<share(n, 128), 128>>>(x, n); }\n")
            .grid.x;
    };
    const std::string rounding = "if (n % of != 0) return n / of + 1; return n / of;";
    EXPECT_EQ(gridOf("1024", rounding), 8u);
    EXPECT_EQ(gridOf("1025", rounding), 9u);
    const std::string other = "if (n % of) { return n / of + 1; } else return n / of;";
    EXPECT_EQ(gridOf("1024", other), 8u);
    EXPECT_EQ(gridOf("1025", other), 9u);
    // The evaluation does not follow a switch: its last case counts.
    EXPECT_EQ(gridOf("1024", "switch (of) { case 64: return 3; case 128: return 7; } return 5;"),
              5u);
}

TEST(HostScope, TakesTimeLinearInTheAssignments) {
    const auto seconds = [](int count, const std::string& before, const std::string& after) {
        std::string host;
        for (int i = 0; i < count; ++i)
            host +=
                before + std::to_string(i) + after + "blocks = g(" + std::to_string(i) + "); }\n";
        const std::string text = bounded +
                                 "int g(int);\n"
                                 "void run(float* x, int q) { int blocks = 2;\n" +
                                 host + "k<<<blocks, 128>>>(x, q); }\n";
        const std::clock_t begin = std::clock();
        EXPECT_EQ(bestLaunch(text).grid.x, 2u);
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    for (const auto& [before, after] :
         {std::pair{"if (q == ", ") { "}, std::pair{"{ int a = ", "; "},
          std::pair{"if (q < 0) ; else if (q == ", ") { "}}) {
        const double few = std::min(seconds(500, before, after), seconds(500, before, after));
        const double many = std::min(seconds(4000, before, after), seconds(4000, before, after));
        // Linear code takes eight times as long, quadratic code 64 times.
        EXPECT_LT(many, 24 * few) << before;
    }
}

TEST(HostScope, TakesNoSizeFromTheStartOfASearch) {
    const LaunchSpec launch = bestLaunch(
        bounded + "void run(float* x, const int* sizes) {\n    int n = -1;\n"
                  "    for (int i = 0; i < 4; ++i)\n        if (sizes[i] > n) n = sizes[i];\n"
                  "    k<<<(n + 63) / 64, 64>>>(x, n);\n}\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Guessed);
    ASSERT_NE(scalarNamed(launch, "n"), nullptr);
    EXPECT_GT(scalarNamed(launch, "n")->integer, 0);
}

TEST(HostScope, KnowsTheCaseOfALaunch) {
    const LaunchSpec launch = bestLaunch(
        "template <int W>\n__global__ void k(float* x, int w) { x[threadIdx.x % W] = w; }\n"
        "void run(float* x, int w, int n) {\n    if (w == 5 && n > 2)\n"
        "        k<5><<<n, 64>>>(x, w);\n    else\n        k<0><<<n, 64>>>(x, w);\n}\n");
    EXPECT_EQ(scalarNamed(launch, "w")->integer, 5);
    EXPECT_EQ(launch.madeFor, (std::map<std::string, std::int64_t>{{"W", 5}, {"w", 5}}));
}

} // namespace
} // namespace kernelskill::engine
