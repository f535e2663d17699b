/// Places that sums with pointers tell, before and after.
#include "skills/schedule/subscripted_places.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string placesText(const std::string& source) {
    return rewrittenText(subscriptedPlaces, source);
}

std::string kernelOf(const std::string& work) {
    return "__global__ void k(const int* __restrict__ keys, int* bins, int n) {\n"
           "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           work + "}\n";
}

TEST(SubscriptedPlaces, BehindStarsAndLoads) {
    EXPECT_EQ(placesText(kernelOf("    *(bins + i * 2) = __ldg(keys + i) + *(n + keys);\n")),
              kernelOf("    bins[i * 2] = __ldg(&keys[i]) + keys[n];\n"));
}

TEST(SubscriptedPlaces, OfPointersToOneElement) {
    EXPECT_EQ(placesText(kernelOf(R"(    auto key = __ldg(keys + i);
    int* slot = bins + key;
    atomicAdd(slot, *slot);
)")),
              kernelOf(R"(    auto key = __ldg(keys + i);
    atomicAdd(&bins[key], bins[key]);
)"));
}

TEST(SubscriptedPlaces, LeavesOthers) {
    const std::vector<std::string> works = {
        // The pointer is used for several elements.
        "    int* slot = bins + i;\n    slot[0] = slot[1];\n",
        // The pointer moves.
        "    int* slot = bins + i;\n    *slot = 0;\n    ++slot;\n    *slot = 1;\n",
        // A variable of the sum changes later.
        "    int m = n;\n    int* slot = bins + m;\n    m = 3;\n    *slot = m;\n",
        // The sum reads memory that may change.
        "    int* slot = bins + keys[i];\n    bins[0] = 1;\n    atomicAdd(slot, 1);\n",
        // The pointer has another type of element.
        "    char* slot = (char*)(bins + i);\n    *slot = 1;\n",
        // The kernel compares the pointer itself.
        "    int* slot = bins + i;\n    if (slot == bins)\n        *slot = 1;\n",
    };
    for (const std::string& work : works)
        EXPECT_EQ(placesText(kernelOf(work)), kernelOf(work));
}

} // namespace
} // namespace kernelskill::skills
