#include "engine/execution/emulator/compile/arithmetic.h"

#include <gtest/gtest.h>

#include <map>

namespace kernelskill::engine {
namespace {

using emulator::Counter;
using Counts = std::map<Counter, unsigned>;

constexpr std::string_view hook = "__sanitizer_cov_trace_pc";

/// The counts of one run of a block with the code.
Counts countsOf(const std::string& code, bool fastMath = false) {
    const AssemblyOptions options{"/@user", "/usr/share/prelude", fastMath};
    const std::string text = "\t.file 1 \"/@user/home/me/a.cu\"\n"
                             "\t.file 2 \"/usr/share/prelude/cuda_fp16.h\"\n"
                             "\t.file 3 \"/usr/share/prelude/cuComplex.h\"\n"
                             "\t.loc 1 9 5\n"
                             "\tcall\t__sanitizer_cov_trace_pc@PLT\n" +
                             code;
    Counts counts;
    for (const ArithmeticUse& use : arithmeticOf(assemblyLines(text), options, hook))
        counts[use.counter] += use.count;
    return counts;
}

TEST(Arithmetic, TellsOperationsByKindAndPrecision) {
    EXPECT_EQ(countsOf("\taddss\t%xmm1, %xmm0\n\tsubss\t(%rbx), %xmm0\n"
                       "\tmulss\t.LC1(%rip), %xmm2\n\taddsd\t%xmm3, %xmm4\n"
                       "\tmulsd\t%xmm3, %xmm5\n\tcvtsi2ssl\t%eax, %xmm6\n"),
              (Counts{{Counter::SingleAdds, 2},
                      {Counter::SingleMultiplies, 1},
                      {Counter::DoubleAdds, 1},
                      {Counter::DoubleMultiplies, 1},
                      {Counter::Conversions, 1}}));
}

TEST(Arithmetic, CountsEachLaneOfAPackedOperation) {
    EXPECT_EQ(countsOf("\taddps\t%xmm1, %xmm0\n\tvmulpd\t%xmm1, %xmm2, %xmm3\n"),
              (Counts{{Counter::SingleAdds, 4}, {Counter::DoubleMultiplies, 2}}));
}

TEST(Arithmetic, FusesAProductWithTheSumThatTakesIt) {
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\taddss\t%xmm0, %xmm1\n"),
              (Counts{{Counter::SingleFused, 1}}));
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\taddsd\t%xmm0, %xmm1\n"),
              (Counts{{Counter::SingleMultiplies, 1}, {Counter::DoubleAdds, 1}}));
}

TEST(Arithmetic, FollowsAProductThroughRegistersAndTheStack) {
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tmovss\t%xmm0, 12(%rsp)\n"
                       "\tcall\t__tsan_read4@PLT\n"
                       "\tmovss\t12(%rsp), %xmm3\n\taddss\t(%r12), %xmm3\n"),
              (Counts{{Counter::SingleFused, 1}}));
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tmovd\t%xmm0, %r13d\n"
                       "\tcall\t__tsan_read4@PLT\n"
                       "\tmovd\t%r13d, %xmm3\n\taddss\t(%r12), %xmm3\n"),
              (Counts{{Counter::SingleFused, 1}}));
}

TEST(Arithmetic, KnowsThatACallOrAnotherValueTakesARegister) {
    const Counts apart{{Counter::SingleMultiplies, 1}, {Counter::SingleAdds, 1}};
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tcall\t__tsan_read4@PLT\n\taddss\t%xmm0, %xmm1\n"),
              apart);
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tmovss\t(%rbx), %xmm0\n\taddss\t%xmm0, %xmm1\n"),
              apart);
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tpxor\t%xmm0, %xmm0\n\taddss\t%xmm0, %xmm1\n"),
              apart);
}

TEST(Arithmetic, FusesAProductWithEachSumThatTakesItAndNoneIfAnythingElseDoes) {
    const std::string product = "\tmulss\t(%rbx), %xmm0\n\tmovaps\t%xmm0, %xmm1\n"
                                "\tmovaps\t%xmm0, %xmm2\n\taddss\t(%rax), %xmm0\n";
    EXPECT_EQ(countsOf(product + "\taddss\t(%rcx), %xmm1\n"), (Counts{{Counter::SingleFused, 2}}));
    const Counts apart{{Counter::SingleMultiplies, 1}, {Counter::SingleAdds, 1}};
    EXPECT_EQ(countsOf(product + "\tmovss\t%xmm1, (%r12)\n"), apart);
    EXPECT_EQ(countsOf(product + "\tcomiss\t%xmm1, %xmm3\n"), apart);
    EXPECT_EQ(countsOf(product + "\tcvtss2sd\t%xmm1, %xmm3\n"),
              (Counts{{Counter::SingleMultiplies, 1},
                      {Counter::SingleAdds, 1},
                      {Counter::Conversions, 1}}));
    EXPECT_EQ(countsOf(product + "\tcall\tfmaxf@PLT\n"), apart);
}

TEST(Arithmetic, TakesOneProductOfASumOfTwo) {
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tmulss\t(%rcx), %xmm1\n\tsubss\t%xmm1, %xmm0\n"),
              (Counts{{Counter::SingleMultiplies, 1}, {Counter::SingleFused, 1}}));
}

TEST(Arithmetic, FusesNoProductThatOutlivesTheBlock) {
    const std::string block = "\tmulss\t(%rbx), %xmm0\n\tmovss\t%xmm0, 12(%rsp)\n"
                              "\taddss\t%xmm0, %xmm1\n\tjle\t.L4\n"
                              "\tcall\t__sanitizer_cov_trace_pc@PLT\n";
    const Counts apart{{Counter::SingleMultiplies, 1}, {Counter::SingleAdds, 1}};
    EXPECT_EQ(countsOf(block + "\tmovss\t12(%rsp), %xmm0\n\tmovss\t%xmm0, (%rbx)\n"), apart);
    // On the other path.
    EXPECT_EQ(countsOf(block + "\tret\n.L4:\n\tmovss\t12(%rsp), %xmm0\n"), apart);
    const Counts fused{{Counter::SingleFused, 1}};
    EXPECT_EQ(countsOf(block + "\tmovss\t%xmm3, 12(%rsp)\n.L4:\n\tret\n"), fused);
    EXPECT_EQ(countsOf(block + "\tmovaps\t%xmm0, %xmm3\n\tret\n.L4:\n\tret\n"), fused)
        << "the hook has changed the register";
}

TEST(Arithmetic, FusesWithinABlockOnly) {
    EXPECT_EQ(countsOf("\tmulss\t(%rbx), %xmm0\n\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                       "\taddss\t%xmm0, %xmm1\n"),
              (Counts{{Counter::SingleMultiplies, 1}, {Counter::SingleAdds, 1}}));
}

TEST(Arithmetic, NamesTheBlockAndTheInstruction) {
    const auto lines = assemblyLines("\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                                     "\tmovl\t%eax, %ebx\n"
                                     "\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                                     "\taddss\t%xmm0, %xmm1\n");
    const auto uses = arithmeticOf(lines, {"/@user", "/prelude"}, hook);
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].block, 2u);
    EXPECT_EQ(uses[0].instruction, 3u);
}

TEST(Arithmetic, LeavesOutWhatNoBlockOwns) {
    const auto lines = assemblyLines("\taddss\t%xmm0, %xmm1\n"
                                     "\tcall\t__sanitizer_cov_trace_pc@PLT\n"
                                     "\t.cfi_endproc\n"
                                     "f:\n"
                                     "\taddss\t%xmm0, %xmm1\n");
    EXPECT_TRUE(arithmeticOf(lines, {"/@user", "/prelude"}, hook).empty());
}

TEST(Arithmetic, TakesThePreludesByItsMarksAlone) {
    EXPECT_EQ(countsOf("\t.loc 2 70 1\n\taddss\t%xmm0, %xmm1\n"
                       "#APP\n# 70 \"cuda_fp16.h\" 1\n\t# ks_operation hfma2\n# 0 \"\" 2\n#NO_APP\n"
                       "\tcall\texpf@PLT\n"),
              (Counts{{Counter::HalfFused, 1}, {Counter::HalfOperations, 4}}));
    EXPECT_EQ(countsOf("\t.loc 3 70 1\n\taddss\t%xmm0, %xmm1\n"),
              (Counts{{Counter::SingleAdds, 1}}));
}

TEST(Arithmetic, TakesTheHostsLibraryForWhoeverCallsIt) {
    const std::string library = "\t.file 4 \"/usr/include/c++/12/cmath\"\n\t.loc 4 70 1\n"
                                "\tmulss\t%xmm0, %xmm1\n";
    EXPECT_EQ(countsOf(library), (Counts{{Counter::SingleMultiplies, 1}}));
    EXPECT_EQ(countsOf("\t.loc 2 70 1\n" + library), Counts{});
    EXPECT_EQ(countsOf("\t.loc 2 70 1\n\t.loc 1 70 1\n" + library),
              (Counts{{Counter::SingleMultiplies, 1}}));
}

TEST(Arithmetic, CountsCallsOfFusedAndOfUnknownFunctions) {
    EXPECT_EQ(countsOf("\tcall\tfmaf@PLT\n\tcall\tfma@PLT\n\tcall\ttgammaf@PLT\n\tcall\tjn\n"
                       "\tcall\tfmodf\n\tcall\thypotf\n\tcall\tfloorf\n"
                       "\tcall\tfmaxf@PLT\n\tcall\t_Z4fmafff@PLT\n"),
              (Counts{{Counter::SingleFused, 1},
                      {Counter::DoubleFused, 1},
                      {Counter::Conversions, 1},
                      {Counter::UncountedCalls, 4}}));
}

TEST(Arithmetic, TakesNoSumForTheHostsWayWithUnsignedIntegers) {
    EXPECT_EQ(countsOf("\tcvtsi2ssq\t%rax, %xmm0\n\taddss\t%xmm0, %xmm0\n\taddss\t%xmm0, %xmm0\n"),
              (Counts{{Counter::Conversions, 1}, {Counter::SingleAdds, 1}}));
}

TEST(Arithmetic, TakesNoSumForTheHostsWayToRoundDown) {
    EXPECT_EQ(countsOf("\tcvttss2sil\t%xmm1, %eax\n\tpxor\t%xmm0, %xmm0\n"
                       "\tcvtsi2ssl\t%eax, %xmm0\n\tmovaps\t%xmm0, %xmm3\n"
                       "\tcmpnless\t%xmm1, %xmm3\n\tandps\t%xmm4, %xmm3\n"
                       "\tsubss\t%xmm3, %xmm0\n"),
              (Counts{{Counter::Conversions, 2}}));
    EXPECT_EQ(countsOf("\tmovss\t(%rbx), %xmm0\n\tcmpnless\t%xmm1, %xmm3\n"
                       "\tandps\t%xmm4, %xmm3\n\tsubss\t%xmm3, %xmm0\n"),
              (Counts{{Counter::SingleAdds, 1}}));
}

TEST(Arithmetic, TakesArgumentsThatAPlainHeaderComputesForTheUsers) {
    const std::string plain = "\t.file 5 \"/usr/share/prelude/vector_functions.h\"\n\t.loc 5 3 1\n"
                              "\taddss\t%xmm1, %xmm0\n";
    EXPECT_EQ(countsOf("\t.loc 2 70 1\n" + plain), (Counts{{Counter::SingleAdds, 1}}));
}

TEST(Arithmetic, KnowsWhatDivisionsRootsAndFunctionsCost) {
    EXPECT_EQ(countsOf("\tdivss\t%xmm1, %xmm0\n"), (Counts{{Counter::SingleFused, 5}}));
    EXPECT_EQ(countsOf("\tmovss\t.LC3(%rip), %xmm0\n\tdivss\t%xmm1, %xmm0\n"
                       "\t.cfi_endproc\n.LC3:\n\t.long\t1065353216\n"),
              (Counts{{Counter::SingleAdds, 1}, {Counter::SingleFused, 2}}));
    EXPECT_EQ(countsOf("\tmovsd\t.LC3(%rip), %xmm0\n\tdivsd\t%xmm1, %xmm0\n"
                       "\t.cfi_endproc\n.LC3:\n\t.long\t0\n\t.long\t1072693248\n"),
              (Counts{{Counter::DoubleFused, 5}}));
    EXPECT_EQ(countsOf("\tsqrtss\t%xmm1, %xmm0\n"),
              (Counts{{Counter::SingleMultiplies, 2}, {Counter::SingleFused, 2}}));
    // The product at the end of expf and the sum that takes it are one.
    EXPECT_EQ(countsOf("\tcall\texpf@PLT\n\taddss\t12(%rsp), %xmm0\n"),
              (Counts{{Counter::SingleAdds, 1}, {Counter::SingleFused, 5}}));
}

TEST(Arithmetic, HasFasterFunctionsOnDemand) {
    EXPECT_EQ(countsOf("\tdivss\t%xmm1, %xmm0\n\tcall\texpf@PLT\n\tsqrtss\t%xmm1, %xmm0\n", true),
              (Counts{{Counter::SingleMultiplies, 2}}));
}

TEST(Arithmetic, ReadsAArch64) {
    EXPECT_EQ(
        countsOf("\tldr\ts0, [x19]\n\tfmul\ts1, s0, s2\n\tstr\ts1, [sp, 12]\n"
                 "\tbl\t__tsan_read4\n\tldr\ts3, [sp, 12]\n\tfadd\ts4, s3, s8\n"
                 "\tfmul\td1, d12, d13\n\tfmov\td9, d1\n\tbl\t__tsan_read8\n"
                 "\tfsub\td1, d9, d4\n\tfadd\tv0.4s, v1.4s, v2.4s\n"),
        (Counts{{Counter::SingleFused, 1}, {Counter::DoubleFused, 1}, {Counter::SingleAdds, 4}}));
}

} // namespace
} // namespace kernelskill::engine
