#include "engine/assembly/instruction_class.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using enum InstructionClass;

struct Sample {
    const char* opcode;
    InstructionClass kind;
};

TEST(InstructionClass, OfPtx) {
    for (const auto& [opcode, kind] : std::initializer_list<Sample>{
             {"ld.global.nc.v4.f32", GlobalLoad},
             {"ld.volatile.global.u32", GlobalLoad},
             {"ld.shared::cta.f32", SharedLoad},
             {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", SharedLoad},
             {"ld.local.u32", LocalLoad},
             {"ld.f32", GenericLoad},
             {"ld.param.u64", ConstantLoad},
             {"ld.const.f32", ConstantLoad},
             {"st.global.cs.v2.f64", GlobalStore},
             {"st.shared.f32", SharedStore},
             {"st.u8", GenericStore},
             {"atom.global.add.f32", Atomic},
             {"red.shared.max.s32", Atomic},
             {"cp.async.ca.shared.global", AsyncCopy},
             {"cp.async.wait_group", AsyncCopy},
             {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Tensor},
             {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", Tensor},
             {"fma.rn.f32", Float32},
             {"setp.lt.f32", Float32},
             {"div.rn.f32", Float32},
             {"fma.rn.f16x2", Float16},
             {"add.rn.bf16x2", Float16},
             {"mul.rn.f64", Float64},
             {"rcp.approx.ftz.f32", SpecialFunction},
             {"ex2.approx.ftz.f32", SpecialFunction},
             {"sqrt.rn.f64", Float64},
             {"mad.lo.s32", Integer},
             {"mul.wide.s32", Integer},
             {"or.pred", Integer},
             {"setp.ge.s32", Integer},
             {"shf.l.wrap.b32", Integer},
             {"cvt.rn.f32.s32", Conversion},
             {"mov.b32", Move},
             {"cvta.to.global.u64", Move},
             {"shfl.sync.down.b32", Warp},
             {"bar.sync", Barrier},
             {"membar.gl", Barrier},
             {"bra.uni", Control},
             {"ret", Control},
             {"frobnicate", Other},
         })
        EXPECT_EQ(spelling(classOfPtx(opcode)), spelling(kind)) << opcode;
}

TEST(InstructionClass, OfSass) {
    for (const auto& [opcode, kind] : std::initializer_list<Sample>{
             {"LDG.E.128.CONSTANT", GlobalLoad},
             {"STG.E", GlobalStore},
             {"LDS.U.128", SharedLoad},
             {"LDSM.16.M88.4", SharedLoad},
             {"STS", SharedStore},
             {"LDL.LU", LocalLoad},
             {"STL.64", LocalStore},
             {"LD.E", GenericLoad},
             {"ULDC.64", ConstantLoad},
             {"LDCU", ConstantLoad},
             {"LDGSTS.E.BYPASS.128", AsyncCopy},
             {"UTMALDG.2D", AsyncCopy},
             {"UBLKCP.S.G", AsyncCopy},
             {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", Atomic},
             {"ATOMS.POPC.INC.32", Atomic},
             {"HMMA.16816.F32", Tensor},
             {"HGMMA.64x128x16.F32", Tensor},
             {"UTCHMMA", Tensor},
             {"WARPGROUP.ARRIVE", Tensor},
             {"HFMA2.BF16", Float16},
             {"HADD2.F32", Conversion},
             {"FFMA.FTZ", Float32},
             {"FSETP.GEU.AND", Float32},
             {"DFMA", Float64},
             {"MUFU.RSQ", SpecialFunction},
             {"IMAD.WIDE.U32", Integer},
             {"IMAD.MOV.U32", Move},
             {"IADD3.X", Integer},
             {"UIADD3", Integer},
             {"ULOP3.LUT", Integer},
             {"I2FP.F32.S32", Conversion},
             {"F2FP.BF16.F32.PACK_AB", Conversion},
             {"UMOV", Move},
             {"S2UR", Move},
             {"SHFL.BFLY", Warp},
             {"VOTEU.ANY", Warp},
             {"BAR.SYNC.DEFER_BLOCKING", Barrier},
             {"SYNCS.PHASECHK.TRANS64", Barrier},
             {"DEPBAR.LE", Barrier},
             {"UCGABAR_ARV", Barrier},
             {"BSSY.RECONVERGENT", Control},
             {"EXIT", Control},
             {"NOP", Other},
             {"U", Other},
             {"", Other},
         })
        EXPECT_EQ(spelling(classOfSass(opcode)), spelling(kind)) << opcode;
}

TEST(InstructionClass, EachHasNamesOfItsOwn) {
    std::set<std::string_view> spellings;
    std::set<std::string_view> titles;
    for (std::size_t i = 0; i < instructionClassCount; ++i) {
        spellings.insert(spelling(static_cast<InstructionClass>(i)));
        titles.insert(title(static_cast<InstructionClass>(i)));
    }
    EXPECT_EQ(spellings.size(), instructionClassCount);
    EXPECT_EQ(titles.size(), instructionClassCount);
}

} // namespace
} // namespace kernelskill::engine
