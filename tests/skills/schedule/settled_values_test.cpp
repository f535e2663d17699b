/// Locals that are changed once behind their declaration, before and after.
#include "skills/schedule/settled_values.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string settledText(const std::string& source) {
    return rewrittenText(settledValues, source);
}

std::string kernelOf(const std::string& work) {
    return "__global__ void k(const int* __restrict__ keys, int* bins, int n) {\n" + work + "}\n";
}

TEST(SettledValues, OfAnIndexAndAPointer) {
    EXPECT_EQ(settledText(kernelOf(R"(    size_t i = threadIdx.x;
    i += (size_t)blockIdx.x * blockDim.x; // in the grid
    if (i >= n)
        return;
    int* slot = bins;
    slot += keys[i];
    int down = n ? n : 1;
    down -= 2 + n;
    atomicAdd(slot, down);
)")),
              kernelOf(R"(    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    // in the grid
    if (i >= n)
        return;
    int* slot = bins + keys[i];
    int down = (n ? n : 1) - (2 + n);
    atomicAdd(slot, down);
)"));
}

TEST(SettledValues, LeavesOthers) {
    const std::vector<std::string> works = {
        // Another statement is between.
        "    int i = threadIdx.x;\n    bins[i] = 0;\n    i += n;\n    bins[i] = 1;\n",
        // It changes again.
        "    int i = threadIdx.x;\n    i += n;\n    bins[i] = 1;\n    ++i;\n    bins[i] = 2;\n",
        // The value names itself.
        "    int i = threadIdx.x;\n    i += i * n;\n    bins[i] = 1;\n",
        // A sum in 32 bits could wrap around.
        "    long long i = blockIdx.x * blockDim.x;\n    i += threadIdx.x;\n    bins[i] = 1;\n",
        // Its type is that of its first value.
        "    auto i = threadIdx.x;\n    i += n;\n    bins[i] = 1;\n",
        // The addend has an effect.
        "    int i = threadIdx.x;\n    i += atomicAdd(bins, 1);\n    bins[i] = 1;\n",
        // Its address is taken.
        "    int i = threadIdx.x;\n    i += n;\n    int* p = &i;\n    bins[i] = *p;\n",
        // Only some threads change it.
        "    int i = threadIdx.x;\n    if (n > 2)\n        i += n;\n    bins[i] = 1;\n",
        // It is a product.
        "    int i = threadIdx.x;\n    i *= n;\n    bins[i] = 1;\n",
    };
    for (const std::string& work : works)
        EXPECT_EQ(settledText(kernelOf(work)), kernelOf(work));
}

} // namespace
} // namespace kernelskill::skills
