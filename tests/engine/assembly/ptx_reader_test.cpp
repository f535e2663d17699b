#include "engine/assembly/ptx_reader.h"
#include "tests/engine/assembly/fixtures.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> textsOf(const Listing& listing) {
    std::vector<std::string> texts;
    for (const auto& instruction : listing.instructions)
        texts.push_back(instruction.text);
    return texts;
}

Listing read(std::string_view text, const std::string& symbol) {
    auto listing = readPtx(text, symbol);
    EXPECT_TRUE(listing) << listing.error().describe();
    return listing ? std::move(*listing) : Listing{};
}

TEST(PtxReader, TellsWhereEachInstructionWasInlined) {
    const auto listing = read(fixture("inlined.ptx"), inlinedKernel);
    EXPECT_EQ(listing.language, AssemblyLanguage::Ptx);
    const auto place = [&](const std::string& begin) {
        return placesOf(listing, instructionOf(listing, begin));
    };
    EXPECT_EQ(place("ld.global.f32"), "inlined.cu:13");
    EXPECT_EQ(place("add.f32 %f9"), "inlined.cu:7 < inlined.cu:14");
    EXPECT_EQ(place("shfl.sync.down.b32 %r22|%p6"),
              "sm_30_intrinsics.hpp:440 < inlined.cu:7 < inlined.cu:14");
    EXPECT_EQ(place("cvt.f32.f16"), "cuda_fp16.hpp:708 < inlined.cu:14");
    EXPECT_EQ(place("atom.global.add.f32"), "sm_20_atomic_functions.hpp:84 < inlined.cu:17");
    EXPECT_EQ(place("mov.u32 t, %clock"), "inlined.cu:16");
    EXPECT_EQ(place("mov.f32 %f19"), "") << "line 0 is no line";
}

TEST(PtxReader, ReadsCallsThatTakeSeveralLines) {
    const auto listing = read(fixture("inlined.ptx"), inlinedKernel);
    const auto& call = instructionOf(listing, "call.uni");
    EXPECT_EQ(call.text, "call.uni (retval0), _Z3farf, ( param0 )");
    EXPECT_EQ(call.kind, InstructionClass::Control);
    ASSERT_EQ(listing.functions.size(), 2U);
    EXPECT_EQ(listing.functions[0].symbol, inlinedKernel);
    EXPECT_EQ(listing.functions[0].first, 0U);
    EXPECT_EQ(readableName(listing.functions[1].symbol), "far");
    const auto& division = instructionOf(listing, "div.rn.f32");
    EXPECT_EQ(division.function, 1U);
    EXPECT_EQ(placesOf(listing, division), "inlined.cu:10");
}

TEST(PtxReader, PutsLabelsBeforeTheirInstructions) {
    const auto listing = read(fixture("inlined.ptx"), inlinedKernel);
    ASSERT_EQ(listing.labels.size(), 4U);
    EXPECT_EQ(listing.labels.front().name, "$L__BB1_2");
    EXPECT_EQ(listing.instructions.at(listing.labels.front().before).text,
              "cvta.to.global.u64 %rd4, %rd2");
    EXPECT_EQ(listing.labels.back().name, "$L__BB1_5");
    EXPECT_EQ(listing.instructions.at(listing.labels.back().before).text, "ret");
}

TEST(PtxReader, SaysWhichLineOfItsTextEachIs) {
    const auto text = fixture("inlined.ptx");
    const auto& listing = read(text, inlinedKernel);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    for (const auto& instruction : listing.instructions)
        EXPECT_THAT(lines.at(instruction.address), HasSubstr(instruction.opcode));
}

TEST(PtxReader, LeavesOutWhatTheKernelDoesNotName) {
    const std::string text =
        ".func unused()\n{\n exit;\n}\n"
        ".func (.param .b32 r) helper(.param .b32 a)\n{\n trap;\n}\n"
        ".func declared(.param .b64 x);\n"
        ".visible .entry first(.param .u64 a)\n.maxntid 256, 1, 1\n{\n ret;\n}\n"
        ".entry second()\n{\n call helper2;\n call helper;\n}\n";
    EXPECT_THAT(textsOf(read(text, "first")), ElementsAre("ret"));
    EXPECT_THAT(textsOf(read(text, "second")), ElementsAre("call helper2", "call helper", "trap"));
}

TEST(PtxReader, ReadsVectorsGuardsScopesAndComments) {
    const std::string text = R"(
.global .align 4 .b8 table[4] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 smem[];
.visible .entry k()
{
    .reg .pred %p<2>; /* spans
    lines */ .pragma "nounroll; {";
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; // four; at once
$L__a: @!%p1 bra $L__a;
    { .reg .b32 t; add.s32 t, t, 1; }
    st.shared::cta.v2.f32
        [%r1], {%f1, %f2};
table_of: .branchtargets $L__a;
    ret;
}
)";
    EXPECT_THAT(textsOf(read(text, "k")),
                ElementsAre("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]", "@!%p1 bra $L__a",
                            "add.s32 t, t, 1", "st.shared::cta.v2.f32 [%r1], {%f1, %f2}", "ret"));
    EXPECT_EQ(instructionOf(read(text, "k"), "@!%p1").opcode, "bra");
}

TEST(PtxReader, EndsARingOfInlinedPlaces) {
    const auto listing = read(".entry k()\n{\n.loc 1 2 1, function_name $a, inlined_at 1 3 1\n"
                              ".loc 1 3 1, function_name $b, inlined_at 1 2 1\nret;\n}\n"
                              ".file 1 \"/a.cu\"\n",
                              "k");
    ASSERT_EQ(listing.instructions.size(), 1U);
    EXPECT_LE(listing.instructions[0].places.size(), 64U);
}

TEST(PtxReader, FailsWithoutTheKernel) {
    const auto listing = readPtx(fixture("inlined.ptx"), "absent");
    ASSERT_FALSE(listing);
    EXPECT_EQ(listing.error().kind, ErrorKind::Failed);
    EXPECT_THAT(listing.error().what, HasSubstr("no kernel absent"));
    EXPECT_FALSE(readPtx("", "k"));
}

} // namespace
} // namespace kernelskill::engine
