#include "engine/assembly/assembly_difference.h"
#include "engine/assembly/ptx_reader.h"
#include "engine/assembly/sass_reader.h"
#include "tests/engine/assembly/fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kernelskill::engine {
namespace {

Listing ptx(const std::string& body) {
    auto listing = readPtx(".entry k()\n{\n" + body + "}\n", "k");
    EXPECT_TRUE(listing);
    return listing ? std::move(*listing) : Listing{};
}

/// "=0,0 ~1,1 -2 +2": each row with its change and indices.
std::string rowsOf(const AssemblyDifference& difference) {
    std::string text;
    for (const auto& row : difference.rows) {
        text += text.empty() ? "" : " ";
        text += std::string_view("=~-+")[static_cast<std::size_t>(row.change)];
        text += row.before ? std::to_string(*row.before) : "";
        text += row.before && row.after ? "," : "";
        text += row.after ? std::to_string(*row.after) : "";
    }
    return text;
}

TEST(AssemblyDifference, OfRenamedRegistersAndLabelsIsNone) {
    const auto before = ptx("ld.global.f32 %f1, [%rd4];\n$L__BB0_1:\n@%p3 bra $L__BB0_1;\nret;\n");
    const auto after = ptx("ld.global.f32 %f7, [%rd9];\n$L__BB0_9:\n@%p1 bra $L__BB0_9;\nret;\n");
    const auto difference = compareListings(before, after);
    EXPECT_EQ(rowsOf(difference), "=0,0 =1,1 =2,2");
    EXPECT_TRUE(difference.opcodes.empty());
}

TEST(AssemblyDifference, SaysWhatAVectorLoadReplaces) {
    const auto before =
        ptx("ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\n"
            "ld.global.f32 %f3, [%rd1+8];\nld.global.f32 %f4, [%rd1+12];\nadd.f32 %f5, %f1, %f2;\n"
            "ret;\n");
    const auto after = ptx("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
                           "add.f32 %f9, %f1, %f2;\nmul.f32 %f9, %f9, 0f40000000;\nret;\n");
    const auto difference = compareListings(before, after);
    EXPECT_EQ(rowsOf(difference), "-0 -1 -2 -3 +0 =4,1 +2 =5,3");
    ASSERT_EQ(difference.opcodes.size(), 3U);
    EXPECT_EQ(difference.opcodes.front().opcode, "ld.global.f32") << "the largest change first";
    EXPECT_EQ(difference.opcodes.front().before, 4U);
    EXPECT_EQ(difference.opcodes.front().after, 0U);
    const auto loads = static_cast<std::size_t>(InstructionClass::GlobalLoad);
    EXPECT_EQ(difference.before.at(loads), 4U);
    EXPECT_EQ(difference.after.at(loads), 1U);
}

TEST(AssemblyDifference, PutsTheSameOpcodeWithOtherOperandsBesideEachOther) {
    const auto difference =
        compareListings(ptx("shl.b32 %r1, %r2, 7;\nret;\n"), ptx("mul.lo.s32 %r1, %r2, 132;\n"
                                                                 "shl.b32 %r1, %r2, 2;\nret;\n"));
    EXPECT_EQ(rowsOf(difference), "+0 ~0,1 =1,2");
}

TEST(AssemblyDifference, LeavesPaddingOut) {
    const auto listing = readSass(fixture("inlined.sass"), inlinedKernel);
    ASSERT_TRUE(listing);
    EXPECT_EQ(compareListings(*listing, *listing).rows.size(), totalOf(countClasses(*listing)));
}

TEST(AssemblyDifference, HoldsEachInstructionOfBothOnce) {
    std::mt19937 random(7);
    const auto original = readPtx(fixture("inlined.ptx"), inlinedKernel);
    ASSERT_TRUE(original);
    for (int round = 0; round < 50; ++round) {
        Listing changed = *original;
        for (int edit = 0; edit < 6; ++edit) {
            auto& instructions = changed.instructions;
            const auto at = static_cast<std::ptrdiff_t>(random() % instructions.size());
            if (random() % 2 == 0)
                instructions.erase(instructions.begin() + at);
            else
                std::swap(instructions[static_cast<std::size_t>(at)],
                          instructions[random() % instructions.size()]);
        }
        const auto difference = compareListings(*original, changed);
        std::vector<std::uint32_t> before;
        std::vector<std::uint32_t> after;
        for (const auto& row : difference.rows) {
            if (row.before)
                before.push_back(*row.before);
            if (row.after)
                after.push_back(*row.after);
            EXPECT_EQ(row.before.has_value() && row.after.has_value(),
                      row.change == RowChange::Same || row.change == RowChange::Changed);
        }
        EXPECT_EQ(before.size(), original->instructions.size());
        EXPECT_EQ(after.size(), changed.instructions.size());
        EXPECT_TRUE(std::ranges::is_sorted(before));
        EXPECT_TRUE(std::ranges::is_sorted(after));
    }
}

TEST(WithoutNumbering, DropsWhatIsNumberedAnew) {
    const auto sass = [](const char* text) {
        return withoutNumbering(text, AssemblyLanguage::Sass);
    };
    EXPECT_EQ(sass("@!P0 LDG.E.128 R4, desc[UR6][R2.64+0x10]"),
              "@!P LDG.E.128 R, desc[UR][R.64+0x10]");
    EXPECT_EQ(sass("IADD3 R7, P0, R4.reuse, c[0x0][0x160], RZ"),
              "IADD3 R, P, R, c[0x0][0x160], RZ");
    EXPECT_EQ(sass("@P0 BRA `(.L_x_12)"), "@P BRA `(.L)");
    EXPECT_EQ(sass("BSSY B0, `(.L_x_3)"), "BSSY B, `(.L)");
    const auto ptxText = [](const char* text) {
        return withoutNumbering(text, AssemblyLanguage::Ptx);
    };
    EXPECT_EQ(ptxText("mad.lo.s32 %r1, %tid.x, %r22, -4"), "mad.lo.s32 %r, %tid.x, %r, -4");
    EXPECT_EQ(ptxText("ld.param.u64 %rd1, [_Z1kPf_param_0]"), "ld.param.u64 %rd, [param_0]");
    EXPECT_EQ(ptxText("mov.u32 %r1, _ZZ1kPfE4tile"), "mov.u32 %r, _Z");
    EXPECT_EQ(ptxText("@%p1 bra $L__BB0_2"), "@%p bra $L");
}

} // namespace
} // namespace kernelskill::engine
