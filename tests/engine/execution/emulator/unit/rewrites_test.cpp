#include "engine/execution/emulator/unit/rewrites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {

using analysis::MacroTable;

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Rewritten {
    std::string text;
    std::string macros;
};

Rewritten rewritten(const std::string& text) {
    MacroTable macros;
    macros.addDefinitionsOf(analysis::lex(text));
    RewriteMacros rewrites;
    auto result = rewriteForHost(text, "/p/a.cu", macros, rewrites);
    EXPECT_EQ(std::count(result.begin(), result.end(), '\n'),
              std::count(text.begin(), text.end(), '\n'))
        << result;
    return {result, rewrites.definitions()};
}

TEST(Rewrites, dynamicSharedMemoryIsBoundInPlace) {
    const auto text =
        rewritten("void k() {\n  extern __shared__ float tile[];\n  tile[0] = 1;\n}\n").text;
    EXPECT_THAT(text, HasSubstr("float (&tile)[1<<20]=ks::DynamicShared{};"));
    EXPECT_THAT(text, HasSubstr("\n  tile[0] = 1;\n"));
}

TEST(Rewrites, specifiersMayStandInAnyOrder) {
    EXPECT_THAT(
        rewritten("void k() { extern volatile __shared__ __align__(16) unsigned char s[]; }").text,
        HasSubstr("volatile unsigned char (&s)[1<<20]=ks::DynamicShared{};"));
    EXPECT_THAT(rewritten("void k() { __shared__ extern float2 s[][32]; }").text,
                Not(HasSubstr("extern")));
    EXPECT_THAT(rewritten("#define SMEM __shared__\nvoid k() { extern SMEM int s[]; }").text,
                HasSubstr("int (&s)[1<<20]"));
}

TEST(Rewrites, aFileScopeArrayIsBoundInTheFunctionsThatNameIt) {
    const auto text =
        rewritten("extern __shared__ int s[];\nvoid a() { s[0] = 1; }\nvoid b() { }\n").text;
    EXPECT_THAT(text, HasSubstr("void a() {int (&s)[1<<20]=ks::DynamicShared{}; s[0] = 1; }"));
    EXPECT_THAT(text, HasSubstr("void b() { }"));
    EXPECT_THAT(text, Not(HasSubstr("extern")));
}

TEST(Rewrites, staticSharedMemoryIsLeftToThePrelude) {
    const std::string text = "void k() { __shared__ float s[32][33]; static __shared__ int n; }";
    EXPECT_EQ(rewritten(text).text, text);
}

TEST(Rewrites, ptxWithAnEquivalentBecomesIt) {
    const auto [text, macros] =
        rewritten("void k() { unsigned l; asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(l)); }");
    EXPECT_THAT(text, HasSubstr("KS0(l)"));
    EXPECT_THAT(macros, HasSubstr("#define KS0(a0) do { (a0) = ks_lane(); } while (0)"));
}

TEST(Rewrites, otherPtxIsRefusedByNameAndLine) {
    const auto [text, macros] = rewritten(
        "void k() {\n  asm volatile(\"wgmma.fence.sync.aligned;\\n\"\n   ::: \"memory\");\n}\n");
    EXPECT_THAT(text, HasSubstr("KS0()"));
    EXPECT_THAT(macros,
                HasSubstr("ks_refuse(\"inline PTX 'wgmma.fence.sync.aligned'@/p/a.cu:2\")"));
}

TEST(Rewrites, ptxInAMacroIsRefusedWhereTheMacroStands) {
    const auto [text, macros] = rewritten(
        "int a;\n#define BAR(x) \\\n  asm volatile(\"mbarrier.init [%0];\" \\\n  :: \"r\"(x))\n");
    EXPECT_THAT(text, Not(HasSubstr("asm")));
    EXPECT_THAT(macros, HasSubstr("@/p/a.cu:3"));
}

TEST(Rewrites, aLaunchFromDeviceCodeIsRefused) {
    const auto [text, macros] = rewritten("void k() { ns::child<float, 2><<<1, 32>>>(1, f(2)); }");
    EXPECT_THAT(text, Not(HasSubstr("<<<")));
    EXPECT_THAT(text, Not(HasSubstr("ns::")));
    EXPECT_THAT(macros, HasSubstr("dynamic parallelism: a launch of 'ns' from device code"));
}

} // namespace
} // namespace kernelskill::engine
