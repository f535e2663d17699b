#include "engine/inputs/scalar_use.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

std::map<std::string, ScalarUse> usesOf(const std::string& body) {
    const auto model =
        parsedProgram("__device__ bool isInside(int i, int n) { return i < n; }\n"
                      "__global__ void k(const float* x, float* y, int n, int m) {\n" +
                      body + "}\n");
    return scalarUses(model.kernels.at(0));
}

TEST(ScalarUses, FindBoundsOfTheGridThroughVariables) {
    auto uses = usesOf("    int i = blockIdx.x * blockDim.x + threadIdx.x, total = n * 4;\n"
                       "    int column = i % m;\n"
                       "    if (i < total) y[i] = x[column];\n");
    EXPECT_TRUE(uses["n"].boundsGrid);
    EXPECT_FALSE(uses["n"].isGuard);
    EXPECT_TRUE(uses["m"].canGrow());
}

TEST(ScalarUses, SeeABoundThatPositionsAreCountedDownFrom) {
    auto uses = usesOf("    int i = n - 3 * (blockIdx.x * blockDim.x + threadIdx.x);\n"
                       "    if (i >= 0) y[i] = x[i] * m;\n");
    EXPECT_TRUE(uses["n"].boundsGrid);
    EXPECT_TRUE(uses["m"].canGrow());
}

TEST(ScalarUses, TakeWhatGoesToAFunctionWithAPositionForItsBound) {
    auto uses = usesOf("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "    if (isInside(i, n)) y[i] = x[i] * m;\n");
    EXPECT_FALSE(uses["n"].canGrow());
    EXPECT_TRUE(uses["m"].canGrow());
}

TEST(ScalarUses, LetLoopsOfAThreadAndOfABlockGrow) {
    auto uses = usesOf("    float sum = 0;\n"
                       "    for (int c = threadIdx.x; c < n; c += blockDim.x) sum += x[c];\n"
                       "    for (int j = 0; j < m; ++j) sum += x[j];\n"
                       "    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;\n");
    for (const auto* name : {"n", "m"}) {
        EXPECT_TRUE(uses[name].boundsLoop) << name;
        EXPECT_TRUE(uses[name].canGrow()) << name;
    }
}

TEST(ScalarUses, DoNotLetLoopsOverTheGridGrow) {
    auto uses = usesOf("    int step = gridDim.x * blockDim.x;\n"
                       "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)\n"
                       "        y[i] = x[i] * m;\n");
    EXPECT_TRUE(uses["n"].boundsLoop);
    EXPECT_FALSE(uses["n"].canGrow());
}

TEST(ScalarUses, SeeAGuardOfABlocksThreads) {
    auto uses = usesOf("    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];\n"
                       "    for (int s = m / 2; s > 0; s /= 2)\n"
                       "        if (threadIdx.x < s) y[threadIdx.x] += y[threadIdx.x + s];\n");
    EXPECT_TRUE(uses["n"].isGuard);
    EXPECT_FALSE(uses["n"].canGrow());
    EXPECT_FALSE(uses["m"].isGuard);
    EXPECT_FALSE(uses["m"].canGrow());
}

TEST(ScalarUses, DoNotTakeValuesFromMemoryForPositions) {
    auto uses = usesOf("    int i = blockIdx.x;\n"
                       "    y[i] = x[i] > n ? 1.0f : 0.0f;\n");
    EXPECT_TRUE(uses["n"].canGrow());
}

} // namespace
} // namespace kernelskill::engine
