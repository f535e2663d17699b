#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(HostScope, DoesNotTakeAKernelsCallForACallOfTheHostsFunction) {
    const LaunchSpec launch = bestLaunch(
        "namespace cg { __device__ float reduce(int lanes, float v) { return v * lanes; } }\n"
        "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[0] = 1; }\n"
        "__global__ void other(float* x) { x[0] = cg::reduce(1, x[0]); }\n"
        "void reduce(int size, float* x) { k<<<4, 64>>>(x, size); }\n");
    EXPECT_GT(*scalarNamed(launch, "n")->integer, 1);
}

} // namespace
} // namespace kernelskill::engine
