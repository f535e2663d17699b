#include "engine/static_facts/fact_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string reportOf(const std::string& symbol, int registers) {
    return "ptxas info    : Compiling entry function '" + symbol +
           "' for 'sm_90'\n"
           "ptxas info    : Function properties for " +
           symbol +
           "\n"
           "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
           "ptxas info    : Used " +
           std::to_string(registers) + " registers, used 1 barriers, 64 bytes smem\n";
}

const std::string scale = reportOf("_Z5scalePfi", 12);
const std::string scaleOfDouble = reportOf("_Z5scalePdi", 14);
const std::string other = reportOf("_Z5otherPfi", 40);

TEST(FactReport, TakesTheKernelByItsName) {
    const auto facts = factsIn({"nvcc 13.0", true, other + scale, {}}, {"scale", "sm_90", false});
    ASSERT_TRUE(facts) << facts.error().describe();
    EXPECT_EQ(facts->symbol, "_Z5scalePfi");
    EXPECT_EQ(facts->compiler, "nvcc 13.0");
    EXPECT_EQ(facts->registers, 12U);
    EXPECT_EQ(facts->stackBytes, 8U);
    EXPECT_EQ(facts->spillStoreBytes, 4U);
    EXPECT_EQ(facts->spillLoadBytes, 12U);
    EXPECT_EQ(facts->staticSharedBytes, 64U);
    EXPECT_EQ(facts->barriers, 1U);
}

TEST(FactReport, TakesTheKernelByItsSymbolWhereThatIsTold) {
    const auto facts = factsIn({"NVRTC 13.0", true, scale + scaleOfDouble, {"_Z5scalePdi"}},
                               {"scale", "sm_90", false});
    ASSERT_TRUE(facts) << facts.error().describe();
    EXPECT_EQ(facts->registers, 14U);
}

TEST(FactReport, NeverTakesAnotherKernelsNumbers) {
    EXPECT_FALSE(factsIn({"nvcc 13.0", true, other, {}}, {"scale", "sm_90", false}));
    EXPECT_FALSE(
        factsIn({"nvcc 13.0", true, scale + scaleOfDouble, {}}, {"scale", "sm_90", false}));
    EXPECT_FALSE(factsIn({"nvcc 13.0", true, "", {}}, {"scale", "sm_90", false}));
    const auto cut = factsIn({"nvcc 13.0", true, scale.substr(0, scale.find("    8")), {}},
                             {"scale", "sm_90", false});
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().kind, ErrorKind::Failed);
    EXPECT_THAT(cut.error().what, HasSubstr("lacks a number"));
}

TEST(FactReport, SaysWhatTheNumbersLeaveOut) {
    const auto log = scale +
                     "ptxas info    : Function properties for _Z4helpf\n"
                     "    40 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads\n";
    const auto facts = factsIn({"nvcc 13.0", true, log, {}}, {"scale", "sm_90", true});
    ASSERT_TRUE(facts) << facts.error().describe();
    EXPECT_EQ(facts->spillStoreBytes, 4U);
    EXPECT_THAT(facts->notes,
                ElementsAre(HasSubstr("a further 84 bytes"), HasSubstr("the linker")));
}

} // namespace
} // namespace kernelskill::engine
