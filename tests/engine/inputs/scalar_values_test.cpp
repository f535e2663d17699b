#include "engine/inputs/launch_pair.h"
#include "engine/inputs/scalar_values.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

OtherScalars othersOf(const std::string& text, bool ownWork = false,
                      const std::vector<std::int64_t>& longLoops = {}) {
    const auto model = parsedProgram(text);
    const KernelInFile subject{model, model.kernels.at(0)};
    const LaunchSpec launch = bestLaunch(text);
    return otherScalars(launch, launch, subject, subject, {}, ownWork, longLoops);
}

std::set<std::int64_t> valuesOf(const OtherScalars& others, const std::string& name) {
    std::set<std::int64_t> values;
    for (const LaunchSpec& launch : others.launches)
        values.insert(*scalarNamed(launch, name)->integer);
    return values;
}

std::string launched(const std::string& parameters, const std::string& body,
                     const std::string& configuration, const std::string& arguments) {
    return "__global__ void k(float* y, " + parameters + ") {\n" + body +
           "}\nint main() { float* y; k<<<" + configuration + ">>>(y, " + arguments + "); }\n";
}

TEST(OtherScalars, AreNotLargerWhereTheGridHasNoThreadsForThem) {
    const auto values =
        valuesOf(othersOf(launched("int n",
                                   "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "    if (i < n) y[i] = 1;\n",
                                   "4, 256", "1000")),
                 "n");
    EXPECT_EQ(*values.rbegin(), 999);
    EXPECT_TRUE(values.contains(3));
}

TEST(OtherScalars, AreAlsoLargerWhereNoPositionIsComparedWithThem) {
    const auto values = valuesOf(
        othersOf(launched("int offset", "    y[offset + threadIdx.x] = 1;\n", "1, 64", "0")),
        "offset");
    EXPECT_GE(*values.rbegin(), 1);
}

TEST(OtherScalars, MakeLoopsShortAndLong) {
    const auto values =
        valuesOf(othersOf(launched("int columns",
                                   "    for (int c = threadIdx.x; c < columns; c += blockDim.x)\n"
                                   "        y[blockIdx.x * columns + c] = 1;\n",
                                   "4, 64", "100")),
                 "columns");
    EXPECT_TRUE(values.contains(3));
    EXPECT_GT(*values.rbegin(), 1000);
}

TEST(OtherScalars, MakeLoopsLongEnoughForAnEditsConstants) {
    // The position keeps the usual values from growing.
    const std::string text = launched("int size",
                                      "    float sum = 0;\n"
                                      "    for (int c = 0; c < size; c += 64)\n"
                                      "        if (c + threadIdx.x < size)\n"
                                      "            sum += y[c + threadIdx.x];\n"
                                      "    y[blockIdx.x] = sum;\n",
                                      "4, 64", "100");
    EXPECT_LE(*valuesOf(othersOf(text, true), "size").rbegin(), 1000);
    EXPECT_EQ(*valuesOf(othersOf(text, true, {2049, 3}), "size").rbegin(), 2049);
    EXPECT_LE(*valuesOf(othersOf(text, false, {2049}), "size").rbegin(), 1000)
        << "the blocks of the edit may do other work";
    const std::string guarded = launched("int n",
                                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                         "    if (i < n)\n"
                                         "        for (int c = 0; c < n; ++c) y[i] += c;\n",
                                         "4, 64", "100");
    EXPECT_LE(*valuesOf(othersOf(guarded, true, {2049}), "n").rbegin(), 1000)
        << "the grid has no threads for more";
}

TEST(OtherScalars, LeaveNumbersAloneThatTellTheKernelItsBlock) {
    const std::string sum = "    for (int s = threads / 2; s > 0; s /= 2) {\n"
                            "        if (threadIdx.x < s) y[threadIdx.x] += y[threadIdx.x + s];\n"
                            "        __syncthreads();\n    }\n";
    EXPECT_TRUE(othersOf(launched("int threads", sum, "1, 64", "64")).names.empty());
    const std::string guard = "    if (threadIdx.x < n) y[threadIdx.x] = 1;\n";
    EXPECT_FALSE(othersOf(launched("int n", guard, "1, 64", "64")).names.empty());
}

TEST(OtherScalars, DoNotTakeASmallNumberForTheSizeOfTheGrid) {
    const std::string body = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    y[i] = i / factor;\n";
    EXPECT_FALSE(othersOf(launched("int factor", body, "2, 64", "2")).names.empty());
    EXPECT_TRUE(othersOf(launched("int factor", body, "40, 64", "40")).names.empty());
}

TEST(OtherScalars, ReachEachOfManyAndNoTwoAlwaysTogether) {
    std::string parameters;
    std::string arguments;
    std::string sum = "0";
    for (int i = 0; i < 9; ++i) {
        const std::string name = "p" + std::to_string(i);
        parameters += (i > 0 ? ", int " : "int ") + name;
        arguments += (i > 0 ? ", " : "") + std::to_string(100 + i);
        sum += " + " + name;
    }
    const auto others =
        othersOf(launched(parameters, "    y[threadIdx.x] = " + sum + ";\n", "1, 64", arguments));
    EXPECT_LE(others.launches.size(), 16u);
    for (int a = 0; a < 9; ++a) {
        for (int b = 0; b < 9; ++b) {
            const auto isOther = [](const LaunchSpec& launch, int number) {
                return scalarNamed(launch, "p" + std::to_string(number))->integer != 100 + number;
            };
            EXPECT_TRUE(a == b || std::ranges::any_of(others.launches,
                                                      [&](const auto& launch) {
                                                          return isOther(launch, a) &&
                                                                 !isOther(launch, b);
                                                      }))
                << a << " without " << b;
        }
    }
}

TEST(OtherScalars, OnlyNegateFlags) {
    const auto others =
        othersOf(launched("bool add", "    y[threadIdx.x] = add ? 1 : 2;\n", "1, 64", "true"));
    EXPECT_EQ(valuesOf(others, "add"), (std::set<std::int64_t>{0}));
}

TEST(OtherScalars, AreTheConstantsThatTheKernelKnowsThemBy) {
    const auto values =
        valuesOf(othersOf(launched("int mode",
                                   "    switch (mode) {\n    case 17: y[0] = 1; break;\n"
                                   "    case -4: y[0] = 2; break;\n    }\n"
                                   "    if (90 == mode) y[0] = 3;\n",
                                   "1, 64", "3")),
                 "mode");
    for (const std::int64_t value : {17, -4, 90})
        EXPECT_TRUE(values.contains(value)) << value;
}

TEST(OtherScalars, AreNegativeWhereNoLoopCountsUpToThem) {
    const std::string body = "    y[threadIdx.x] += by;\n";
    EXPECT_LT(*valuesOf(othersOf(launched("int by", body, "1, 64", "40")), "by").begin(), 0);
    const std::string loop = "    for (int i = 0; i < by; ++i) y[i] = i;\n";
    EXPECT_GE(*valuesOf(othersOf(launched("int by", loop, "1, 64", "40")), "by").begin(), 0);
}

TEST(OtherScalars, LengthenWhatASearchMayRead) {
    const OtherScalars others = othersOf(R"(
__global__ void find(const float* sums, const float* u, int* at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int x = 0; x < n; ++x)
        if (sums[x] >= u[i]) {
            at[i] = x;
            break;
        }
}
void run(const float* sums, const float* u, int* at) { find<<<4, 256>>>(sums, u, at, 1024); }
)");
    bool hasMore = false;
    for (const LaunchSpec& launch : others.launches) {
        const std::int64_t n = *scalarNamed(launch, "n")->integer;
        hasMore |= n > 1024;
        EXPECT_GE(static_cast<std::int64_t>(bufferNamed(launch, "sums")->minElements), n);
    }
    EXPECT_TRUE(hasMore);
}

} // namespace
} // namespace kernelskill::engine
