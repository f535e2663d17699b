#include "engine/execution/emulator/unit/inline_ptx.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(InlinePtx, specialRegistersAreRead) {
    EXPECT_EQ(hostEquivalent("mov.u32 %0, %laneid;"), "%0 = ks_lane()");
    EXPECT_EQ(hostEquivalent("mov.u32 %0, %tid.x;"), "%0 = ks_threadIdx.x");
}

TEST(InlinePtx, globalAccessesBecomeAccesses) {
    EXPECT_EQ(hostEquivalent("ld.global.nc.f32 %0, [%1];"), "%0 = ((float*)(%1))[0]");
    EXPECT_EQ(hostEquivalent("st.global.v2.u32 [%0], {%1, %2};"),
              "((unsigned*)(%0))[0] = %1, ((unsigned*)(%0))[1] = %2");
}

TEST(InlinePtx, fencesKeepTheirScope) {
    EXPECT_EQ(hostEquivalent("membar.cta;"), "ks_fence(0)");
    EXPECT_EQ(hostEquivalent("fence.acq_rel.cta;"), "ks_fence(0)");
    EXPECT_EQ(hostEquivalent("membar.gl;"), "ks_fence(1)");
    EXPECT_EQ(hostEquivalent("fence.acq_rel.gpu;"), "ks_fence(1)");
}

TEST(InlinePtx, prefetchesHaveNoEffect) {
    EXPECT_EQ(hostEquivalent("prefetch.global.L2 [%0];"), "");
}

TEST(InlinePtx, productsOfTensorCoresAreTheWarps) {
    EXPECT_EQ(hostEquivalent("cvt.rna.tf32.f32 %0, %1;"), "%0 = ks_round_to_tf32(%1)");
    EXPECT_EQ(hostEquivalent("cvt.rn.bf16x2.f32 %0, %1, %2;"),
              "%0 = ks_bfloat16_pair(%1, %2, false)");
    EXPECT_EQ(hostEquivalent("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;"),
              "%0 = ks_bfloat16_pair(%1, %2, true)");
    const std::string operands = " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};";
    const std::string call = ">(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %0, %1, %2, %3)";
    const std::string mma = "mma.sync.aligned.m16n8k";
    EXPECT_EQ(hostEquivalent(mma + "8.row.col.f32.tf32.tf32.f32" + operands),
              "ks_mma<KsTf32" + call);
    EXPECT_EQ(hostEquivalent(mma + "16.row.col.f32.f16.f16.f32" + operands),
              "ks_mma<KsHalf" + call);
    EXPECT_EQ(hostEquivalent(mma + "16.row.col.f32.bf16.bf16.f32" + operands),
              "ks_mma<KsBFloat16" + call);
}

TEST(InlinePtx, whatHasNoEquivalentIsNamed) {
    const auto* mma =
        "{\n mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1},{%2},{%3},{%4}; }";
    EXPECT_FALSE(hostEquivalent(mma)) << "four registers are two short";
    EXPECT_EQ(firstInstruction(mma), "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32");
    EXPECT_EQ(firstInstruction("{ .reg .pred p; setp.ne.b32 p, %0, 0; }"), "setp.ne.b32");
    EXPECT_FALSE(hostEquivalent("mov.u32 %0, %laneid; wgmma.fence.sync.aligned;"));
}

} // namespace
} // namespace kernelskill::engine
