#include "engine/assembly/sass_reader.h"
#include "tests/engine/assembly/fixtures.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

Listing read(std::string_view text, const std::string& symbol = inlinedKernel) {
    auto listing = readSass(text, symbol);
    EXPECT_TRUE(listing) << listing.error().describe();
    return listing ? std::move(*listing) : Listing{};
}

TEST(SassReader, TellsWhereEachInstructionWasInlined) {
    const auto listing = read(fixture("inlined.sass"));
    EXPECT_EQ(listing.language, AssemblyLanguage::Sass);
    const auto place = [&](const std::string& begin) {
        return placesOf(listing, instructionOf(listing, begin));
    };
    EXPECT_EQ(place("LDG.E R0"), "inlined.cu:13");
    EXPECT_EQ(place("SHFL.DOWN"), "sm_30_intrinsics.hpp:440 < inlined.cu:7 < inlined.cu:14");
    EXPECT_EQ(place("FADD R3"), "inlined.cu:7 < inlined.cu:14");
    EXPECT_EQ(place("HADD2.F32"), "cuda_fp16.hpp:708 < inlined.cu:14");
    EXPECT_EQ(place("REDG.E.ADD"), "sm_20_atomic_functions.hpp:84 < inlined.cu:17");
    EXPECT_EQ(place("IMAD R8"), "inlined.cu:12") << "a place holds until the next";
}

TEST(SassReader, ReadsGuardsAddressesAndLabels) {
    const auto listing = read(fixture("inlined.sass"));
    const auto& branch = instructionOf(listing, "@P0 BRA");
    EXPECT_EQ(branch.text, "@P0 BRA `(.L_x_0)");
    EXPECT_EQ(branch.opcode, "BRA");
    EXPECT_EQ(branch.address, 0x80U);
    ASSERT_FALSE(listing.labels.empty());
    EXPECT_EQ(listing.labels.front().name, ".L_x_0");
    EXPECT_THAT(listing.instructions.at(listing.labels.front().before).text, HasSubstr("SHFL"));
}

TEST(SassReader, KeepsFunctionsOfTheKernelAndLeavesOthersOut) {
    const auto listing = read(fixture("inlined.sass"));
    ASSERT_EQ(listing.functions.size(), 2U);
    EXPECT_EQ(listing.functions[0].symbol, inlinedKernel);
    EXPECT_EQ(readableName(listing.functions[1].symbol), "far");
    EXPECT_EQ(instructionOf(listing, "MUFU.RCP").function, 1U);
    EXPECT_EQ(instructionOf(listing, "REDG").function, 0U);
    const auto other = read(fixture("inlined.sass"), "_Z5otherPf");
    EXPECT_EQ(totalOf(countClasses(other)), 2U);
}

TEST(SassReader, TellsPaddingFromCode) {
    const auto listing = read(fixture("inlined.sass"));
    const auto counts = countClasses(listing);
    EXPECT_EQ(counts[static_cast<std::size_t>(InstructionClass::Padding)], 4U);
    EXPECT_EQ(totalOf(counts), 32U);
    // A NOP and a loop that mean something are code.
    const auto real = read("\t.section\t.text.k,\"ax\",@progbits\nk:\n.text.k:\n"
                           "        /*0000*/                   NOP ;\n.L_x_0:\n"
                           "        /*0010*/               @P0 BRA `(.L_x_0) ;\n"
                           "        /*0020*/                   EXIT ;\n",
                           "k");
    EXPECT_EQ(totalOf(countClasses(real)), 3U);
}

TEST(SassReader, TakesTheOnePlaceThatAPlainLineTableTells) {
    const auto listing = read("\t.section\t.text.k,\"ax\",@progbits\nk:\n.text.k:\n"
                              "\t//## File \"/a/b c.cu\", line 5 inlined at \"/a/d.cu\", line 9\n"
                              "\t//## File \".nv_debug_ptx_txt.123\", line 40\n"
                              "        /*0000*/                   FADD R0, R0, R0 ;\n"
                              "\t//## File \"/a/b c.cu\", line 6 inlined at \"/a/d.cu\", line 9\n"
                              "        /*0010*/                   EXIT ;\n",
                              "k");
    EXPECT_EQ(placesOf(listing, listing.instructions.at(0)), "b c.cu:5");
    EXPECT_EQ(placesOf(listing, listing.instructions.at(1)), "b c.cu:6 < d.cu:9");
}

TEST(SassReader, ReadsWhatNvdisasmPrinted) {
    const auto listing = read(fixture("transpose.sass"), "_Z9transposePfPKfii");
    EXPECT_EQ(totalOf(countClasses(listing)), 38U);
    const auto load = std::ranges::find(listing.instructions, InstructionClass::SharedLoad,
                                        &AssemblyInstruction::kind);
    ASSERT_NE(load, listing.instructions.end());
    EXPECT_EQ(load->text, "LDS R5, [R0]");
    EXPECT_EQ(placesOf(listing, *load), "transpose.cu:16");
}

TEST(SassReader, ReadsCuobjdump) {
    const auto listing = read(fixture("inlined.cuobjdump"));
    ASSERT_EQ(listing.instructions.size(), 7U);
    EXPECT_EQ(listing.instructions[3].text, "STG.E desc[UR4][R2.64], R9");
    EXPECT_EQ(listing.instructions[3].kind, InstructionClass::GlobalStore);
    EXPECT_EQ(listing.instructions[3].address, 0x30U);
    EXPECT_EQ(totalOf(countClasses(listing)), 5U);
    EXPECT_TRUE(listing.files.empty());
}

TEST(SassReader, FailsWithoutTheKernel) {
    const auto listing = readSass(fixture("inlined.sass"), "absent");
    ASSERT_FALSE(listing);
    EXPECT_EQ(listing.error().kind, ErrorKind::Failed);
    EXPECT_FALSE(readSass("", "k"));
}

} // namespace
} // namespace kernelskill::engine
