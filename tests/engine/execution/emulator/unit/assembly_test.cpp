#include "engine/execution/emulator/compile/assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view files = "\t.file 1 \"/@user/home/me/a.cu\"\n"
                                   "\t.file 2 \"/usr/share/prelude/warp.h\"\n";

std::string annotated(const std::string& text) {
    return annotateAssembly(std::string(files) + text, {"/@user", "/usr/share/prelude"});
}

TEST(Assembly, LeavesAUsersBranchAsItIs) {
    const std::string text = "\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                             "\t.loc 2 4 1\n"
                             "\tcall\tks_warp_exchange@PLT\n"
                             "\t.loc 1 9 5 is_stmt 1\n"
                             "\tjle\t.L4\n";
    EXPECT_EQ(annotated(text), std::string(files) + text);
}

TEST(Assembly, LeavesRoomInFrontOfVariablesAndNotOfConstants) {
    EXPECT_THAT(annotated("\t.bss\n\t.align 4\nchanged:\n\t.zero\t4\n"),
                HasSubstr("\t.zero\t32768\nchanged:\n\t.zero\t4\n"));
    EXPECT_THAT(annotated("\t.section\t.data.rel.ro,\"aw\"\ntable:\n\t.quad\t4\n"),
                Not(HasSubstr("32768")));
}

TEST(Assembly, TellsABlockWhoseBranchIsAHeaders) {
    EXPECT_THAT(annotated("\t.loc 1 3 1\n"
                          "\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                          "\t.loc 2 9 5\n"
                          "\tjne\t.L4\n"
                          "\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                          "\t.loc 1 9 5\n"
                          "\tje\t.L2\n"),
                HasSubstr("\tcall\tks_foreign_block@PLT\n"
                          "\t.loc 2 9 5\n"
                          "\tjne\t.L4\n"
                          "\tcall\t__sanitizer_cov_trace_pc@PLT\n"));
}

TEST(Assembly, TakesABlockWithBothForTheUsers) {
    EXPECT_THAT(annotated("\tbl\t__sanitizer_cov_trace_pc\n"
                          "\t.loc 2 9 5\n"
                          "\tcbz\tw0, .L4\n"
                          "\t.loc 1 9 5\n"
                          "\tb.ne\t.L2\n"),
                Not(HasSubstr("ks_foreign_block")));
}

TEST(Assembly, TakesAJumpThroughATableForABranchAndAPlainOneForNone) {
    EXPECT_THAT(annotated("\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                          "\t.loc 2 9 5\n"
                          "\tjmp\t*%rax\n"),
                HasSubstr("ks_foreign_block"));
    EXPECT_THAT(annotated("\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                          "\t.loc 2 9 5\n"
                          "\tjmp\t.L2\n"),
                Not(HasSubstr("ks_foreign_block")));
}

TEST(Assembly, TellsTheArithmeticOfABlockInATable) {
    const auto text = annotated("\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                                "\t.loc 1 9 5\n"
                                "\taddss\t%xmm0, %xmm1\n");
    EXPECT_THAT(text, HasSubstr("\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                                ".Lks_line2:\n"
                                "\t.loc 1 9 5\n"
                                ".Lks_line4:\n"
                                "\taddss\t%xmm0, %xmm1\n"));
    EXPECT_THAT(text, HasSubstr("\t.long\t1, 1\n"
                                "\t.long\t.Lks_line2 - .Lks_arithmetic, "
                                ".Lks_line4 - .Lks_arithmetic, 0, 1\n"));
}

TEST(Assembly, GivesEachThreadLocalVariableRoomOnBothSides) {
    const std::string text = "\t.section\t.tbss,\"awT\",@nobits\n"
                             "\t.align 32\n"
                             "\t.type\ttile, @object\n"
                             "\t.size\ttile, 324\n"
                             "tile:\n"
                             "\t.zero\t324\n";
    EXPECT_THAT(annotated(text), HasSubstr("\t.size\ttile, 324\n"
                                           "\t.zero\t32768\n"
                                           "tile:\n"
                                           "\t.zero\t324\n"
                                           "\t.zero\t32768\n"));
}

TEST(Assembly, LetsAnAbsentFunctionRefuseByItsName) {
    const auto text = annotated("\t.weak\tcudaDeviceSynchronize\n"
                                "\t.weak\tpresent\n"
                                "present:\n"
                                "\tcall\tcudaDeviceSynchronize@PLT\n"
                                "\t.weak\t_ZTH1x\n");
    EXPECT_THAT(text, HasSubstr("\ncudaDeviceSynchronize:\n"));
    EXPECT_THAT(text, HasSubstr("\"cudaDeviceSynchronize() in device code"));
    EXPECT_THAT(text, HasSubstr("ks_refuse"));
    EXPECT_THAT(text, Not(HasSubstr("present() in device code")));
    EXPECT_THAT(text, Not(HasSubstr("\n_ZTH1x:")));
}

TEST(Assembly, LeavesConstantsWhereTheyAre) {
    const std::string text = "\t.section\t.tbss,\"awT\",@nobits\n"
                             "\t.section\t.rodata\n"
                             "counter:\n"
                             "\t.zero\t4\n";
    EXPECT_EQ(annotated(text), std::string(files) + text);
}

} // namespace
} // namespace kernelskill::engine
