#include "analysis/compile/ptxas_report.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

TEST(PtxasReport, ReadsTheLogOfNvrtc) {
    const auto functions = parsePtxasReport(
        R"(/home/x/a.cu(10): warning #177-D: variable "table" was declared but never referenced

ptxas info    : 92 bytes gmem
ptxas info    : Compiling entry function '_Z2spPf' for 'sm_90'
ptxas info    : Function properties for _Z2spPf
ptxas         .     656 bytes stack frame, 412 bytes spill stores, 496 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 656 bytes cumulative stack size, 128 bytes smem
ptxas info    : Compile time = 52.236 ms
)");
    ASSERT_EQ(functions.size(), 1U);
    const auto& kernel = functions.front();
    EXPECT_EQ(kernel.symbol, "_Z2spPf");
    EXPECT_TRUE(kernel.isKernel);
    EXPECT_EQ(kernel.architecture, "sm_90");
    EXPECT_EQ(kernel.registers, 32U);
    EXPECT_EQ(kernel.stackBytes, 656U);
    EXPECT_EQ(kernel.spillStoreBytes, 412U);
    EXPECT_EQ(kernel.spillLoadBytes, 496U);
    EXPECT_EQ(kernel.staticSharedBytes, 128U);
    EXPECT_EQ(kernel.barriers, 1U);
}

TEST(PtxasReport, KeepsFunctionsThatWereNotInlinedApart) {
    const auto functions = parsePtxasReport(
        R"(ptxas info    : Compiling entry function '_Z1rPi' for 'sm_90'
ptxas info    : Function properties for _Z1rPi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, used 1 barriers, 320 bytes smem
ptxas info    : Compile time = 4.900 ms
ptxas info    : Function properties for _Z3reci
    40 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'
ptxas info    : Function properties for _Z1kPi
    32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 19 registers, used 0 barriers, 32 bytes cumulative stack size
)");
    ASSERT_EQ(functions.size(), 3U);
    EXPECT_EQ(functions[0].spillStoreBytes, 0U);
    EXPECT_EQ(functions[0].staticSharedBytes, 320U);
    EXPECT_FALSE(functions[1].isKernel);
    EXPECT_EQ(functions[1].symbol, "_Z3reci");
    EXPECT_EQ(functions[1].spillLoadBytes, 44U);
    EXPECT_FALSE(functions[1].registers);
    EXPECT_EQ(functions[2].registers, 19U);
    EXPECT_EQ(functions[2].stackBytes, 32U);
}

TEST(PtxasReport, ReadsOlderLogs) {
    // CUDA 11: no barriers named where there are none, constant banks listed.
    const auto functions = parsePtxasReport(
        R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4tilePf' for 'sm_80'
ptxas info    : Function properties for _Z4tilePf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 21 registers, 2048+16 bytes smem, 368 bytes cmem[0], 8 bytes cmem[2]
)");
    ASSERT_EQ(functions.size(), 1U);
    EXPECT_EQ(functions[0].registers, 21U);
    EXPECT_EQ(functions[0].staticSharedBytes, 2064U);
    EXPECT_EQ(functions[0].barriers, 0U);
}

TEST(PtxasReport, MakesNoNumbersUp) {
    EXPECT_TRUE(parsePtxasReport("").empty());
    EXPECT_TRUE(parsePtxasReport("ptxas info    : Used 21 registers\n").empty());
    EXPECT_TRUE(
        parsePtxasReport("a.cu(3): note: Compiling entry function 'k' for 'sm_90'").empty());
    const auto cut =
        parsePtxasReport("ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n"
                         "ptxas info    : Function properties for _Z1kPf\n");
    ASSERT_EQ(cut.size(), 1U);
    EXPECT_FALSE(cut[0].registers);
    EXPECT_FALSE(cut[0].spillStoreBytes);
}

} // namespace
} // namespace kernelskill::analysis
