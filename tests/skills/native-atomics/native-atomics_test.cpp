#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "native-atomics";

/// A kernel in which `type` numbers are updated by `update` of what was assumed.
std::string kernel(const std::string& type, const std::string& update,
                   const std::string& behind = "") {
    return "__global__ void k(" + type + "* counts, const " + type + "* values, int n) {\n" +
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n    " +
           type + " old = counts[i % 7], assumed;\n" +
           "    do {\n        assumed = old;\n        old = atomicCAS(&counts[i % 7], assumed, " +
           update + ");\n    } while (assumed != old);\n" + behind + "}\n";
}

std::string replaced(const std::string& type, const std::string& statement,
                     const std::string& behind = "") {
    return "__global__ void k(" + type + "* counts, const " + type + "* values, int n) {\n" +
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n    " +
           type + " old = counts[i % 7], assumed;\n    " + statement + "\n" + behind + "}\n";
}

TEST(NativeAtomics, ReplaceUpdatesOfIntegers) {
    checkApplicable(id, kernel("int", "assumed + values[i]"),
                    replaced("int", "old = atomicAdd(&counts[i % 7], values[i]);"));
    checkApplicable(id, kernel("int", "assumed - 3"),
                    replaced("int", "old = atomicSub(&counts[i % 7], 3);"));
    checkApplicable(id, kernel("unsigned", "values[i] | assumed"),
                    replaced("unsigned", "old = atomicOr(&counts[i % 7], values[i]);"));
    checkApplicable(id, kernel("unsigned long long", "assumed ^ values[i]"),
                    replaced("unsigned long long", "old = atomicXor(&counts[i % 7], values[i]);"));
    checkApplicable(id, kernel("int", "max(assumed, values[i])"),
                    replaced("int", "old = atomicMax(&counts[i % 7], values[i]);"));
}

TEST(NativeAtomics, KeepWhatTheLoopFound) {
    checkApplicable(
        id, kernel("int", "assumed + 1", "    counts[7 + i] = old;\n"),
        replaced("int", "old = atomicAdd(&counts[i % 7], 1);", "    counts[7 + i] = old;\n"));
}

TEST(NativeAtomics, Refuse) {
    const std::vector<GateCase> cases{
        {"no loop", "no-retry-loop",
         "__global__ void k(int* a) { atomicCAS(a, threadIdx.x, 1); }\n"},
        {"a product", "other-update", kernel("int", "assumed * 2")},
        {"a difference from it", "other-update", kernel("int", "3 - assumed")},
        {"what it was as the operand", "other-update", kernel("int", "assumed + old")},
        {"a maximum in another type", "other-update", kernel("int", "max(assumed, 3u)")},
        {"a difference of 64 bits", "other-update",
         kernel("unsigned long long", "assumed - values[i]")},
        {"what was assumed, later", "other-update",
         kernel("int", "assumed + 1", "    counts[7 + i] = assumed;\n")},
        {"an effect", "other-update", kernel("int", "assumed + i++")},
        {"more in the loop", "other-update", R"(
__global__ void k(int* a) {
    int old = *a, assumed;
    do {
        assumed = old;
        a[threadIdx.x + 1] = assumed;
        old = atomicCAS(a, assumed, assumed + 1);
    } while (assumed != old);
}
)"},
        {"a lock", "other-update", R"(
__global__ void k(int* a) {
    int old, mine = 0;
    do {
        mine = 0;
        old = atomicCAS(a, mine, mine + 1);
    } while (old != mine);
}
)"}};
    for (const GateCase& each : cases) {
        SCOPED_TRACE(each.name);
        checkNotApplicable(id, each.source, each.gate);
    }
}

} // namespace
} // namespace kernelskill::skills
