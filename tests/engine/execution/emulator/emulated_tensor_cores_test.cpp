/// The tensor cores' instructions on the emulator: each element of a product against the sum that
/// it is, for numbers that all element types hold; and the numbers that bfloat16 holds.
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// The elements of both factors by their places, and a comparison of a lane's sums.
const std::string common = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ float leftAt(int row, int k) { return static_cast<float>((row * 5 + k * 3) % 17 - 8) / 4; }
__device__ float rightAt(int k, int column) { return static_cast<float>((k * 7 + column) % 13 - 6); }
__device__ void compare(int depth, const float* sums, float* wrong) {
    int lane = threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        int row = lane / 4 + i / 2 * 8;
        int column = lane % 4 * 2 + i % 2;
        float expected = static_cast<float>(100 * row + column);
        for (int k = 0; k < depth; ++k)
            expected += leftAt(row, k) * rightAt(k, column);
        wrong[lane * 4 + i] = sums[i] - expected;
    }
}
__device__ void begin(float* sums) {
    for (int i = 0; i < 4; ++i)
        sums[i] = static_cast<float>(100 * (threadIdx.x / 4 + i / 2 * 8) + threadIdx.x % 4 * 2 + i % 2);
}
)";

class EmulatedTensorCores : public ExecutorFixture {
protected:
    void expectRight(const std::string& kernel) {
        const auto program = parse(source("product.cu"), common + kernel);
        const auto result = runFirstKernel(program);
        ASSERT_TRUE(result) << result.error().describe();
        EXPECT_TRUE(result->profile.hazards.empty());
        EXPECT_THAT(valuesOf<float>(*result, "wrong"), SizeIs(128));
        EXPECT_THAT(valuesOf<float>(*result, "wrong"), Each(0.0F));
    }
};

TEST_F(EmulatedTensorCores, MultiplyInTf32) {
    expectRight(R"(
// kernelskill: launch product<<<1, 32>>>(wrong=zero[128])
__global__ void product(float* wrong) {
    int lane = threadIdx.x;
    unsigned left[4], right[2];
    // A bit that TF32 has no place for is dropped.
    for (int i = 0; i < 4; ++i)
        left[i] = __float_as_uint(leftAt(lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4)) | 1u;
    for (int i = 0; i < 2; ++i) {
        float value = rightAt(lane % 4 + i * 4, lane / 4);
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(right[i]) : "f"(value));
    }
    float sums[4];
    begin(sums);
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    compare(8, sums, wrong);
}
)");
}

TEST_F(EmulatedTensorCores, MultiplyHalves) {
    for (const std::string type : {"f16", "bf16"}) {
        const std::string pack = type == "f16" ? "__floats2half2_rn" : "__floats2bfloat162_rn";
        const std::string pair = type == "f16" ? "__half2" : "__nv_bfloat162";
        expectRight(R"(
// kernelskill: launch product<<<1, 32>>>(wrong=zero[128])
__device__ unsigned bitsOf()" +
                    pair + R"( pair) { return *reinterpret_cast<unsigned*>(&pair); }
__global__ void product(float* wrong) {
    int lane = threadIdx.x;
    unsigned left[4], right[2];
    for (int i = 0; i < 4; ++i) {
        int row = lane / 4 + i % 2 * 8;
        int k = lane % 4 * 2 + i / 2 * 8;
        left[i] = bitsOf()" +
                    pack + R"((leftAt(row, k), leftAt(row, k + 1)));
    }
    for (int i = 0; i < 2; ++i) {
        int k = lane % 4 * 2 + i * 8;
        right[i] = bitsOf()" +
                    pack + R"((rightAt(k, lane / 4), rightAt(k + 1, lane / 4)));
    }
    float sums[4];
    begin(sums);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.)" +
                    type + "." + type + R"(.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]),
          "f"(sums[0]), "f"(sums[1]), "f"(sums[2]), "f"(sums[3]));
    compare(16, sums, wrong);
}
)");
    }
}

TEST_F(EmulatedTensorCores, RoundToBFloat16) {
    const auto program = parse(source("pairs.cu"), R"(
// kernelskill: launch pairs<<<1, 32>>>(result=zero[8])
__global__ void pairs(unsigned* result) {
    if (threadIdx.x != 0)
        return;
    const unsigned upper[4] = {0x3f808000u, 0x7f7fffffu, 0xff800000u, 0x7fc00001u};
    const unsigned lower[4] = {0x3f818000u, 0x3f808001u, 0x80000001u, 0xff7f7fffu};
    for (int i = 0; i < 4; ++i) {
        float first = __uint_as_float(upper[i]);
        float second = __uint_as_float(lower[i]);
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result[i]) : "f"(first), "f"(second));
        asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(result[4 + i]) : "f"(first), "f"(second));
    }
}
)");
    const auto result = runFirstKernel(program);
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(valuesOf<unsigned>(*result, "result"),
                ElementsAre(0x3f803f82U, 0x7f803f81U, 0xff808000U, 0x7fffff7fU, // Ties to even.
                            0x3f803f82U, 0x7f7f3f81U, 0xff7f8000U, 0x7fffff7fU));
}

} // namespace
} // namespace kernelskill::engine
