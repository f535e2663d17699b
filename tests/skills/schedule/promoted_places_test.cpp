/// Elements that searches keep in memory, before and after.
#include "skills/schedule/promoted_places.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string promotedText(const std::string& source) {
    return rewrittenText(promotedPlaces, source);
}

std::string kernelOf(const std::string& work) {
    return "__global__ void k(const float* x, int* best, int m, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= m)\n"
           "        return;\n" +
           work + "}\n";
}

TEST(PromotedPlaces, OfASearch) {
    EXPECT_EQ(promotedText(kernelOf(R"(    float top = x[i * n];
    best[i] = 0;
    for (int j = 1; j < n; ++j) {
        if (x[i * n + j] > top) {
            top = x[i * n + j];
            best[i] = j;
        }
    }
)")),
              kernelOf(R"(    float top = x[i * n];
    int bestValue = 0;
    for (int j = 1; j < n; ++j) {
        if (x[i * n + j] > top) {
            top = x[i * n + j];
            bestValue = j;
        }
    }
    best[i] = bestValue;
)"));
}

TEST(PromotedPlaces, LeavesOthers) {
    const std::vector<std::string> works = {
        // The loop adds to the element, which skills read as a fold.
        "    best[i] = 0;\n    for (int j = 0; j < n; ++j)\n        best[i] += j;\n",
        // The element may keep its value: no statement before the loop sets it.
        "    for (int j = 0; j < n; ++j)\n        if (x[i * n + j] > 0.0f)\n"
        "            best[i] = j;\n",
        // Each round sets another element.
        "    for (int j = 0; j < n; ++j)\n        best[i * n + j] = j;\n",
        // Another thread may read the element at the barrier.
        "    best[i] = 0;\n    for (int j = 0; j < n; ++j) {\n        best[i] = j;\n"
        "        __syncthreads();\n    }\n",
    };
    for (const std::string& work : works)
        EXPECT_EQ(promotedText(kernelOf(work)), kernelOf(work));
}

} // namespace
} // namespace kernelskill::skills
