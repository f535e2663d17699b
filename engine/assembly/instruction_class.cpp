#include "engine/assembly/instruction_class.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::engine {
namespace {

using enum InstructionClass;

struct ClassName {
    std::string_view spelling;
    std::string_view title;
};
constexpr std::array<ClassName, instructionClassCount> classNames{{
    {"global-load", "global load"},
    {"global-store", "global store"},
    {"shared-load", "shared load"},
    {"shared-store", "shared store"},
    {"local-load", "local load"},
    {"local-store", "local store"},
    {"generic-load", "generic load"},
    {"generic-store", "generic store"},
    {"constant-load", "constant load"},
    {"texture", "texture"},
    {"atomic", "atomic"},
    {"async-copy", "async copy"},
    {"tensor", "tensor"},
    {"float16", "fp16"},
    {"float32", "fp32"},
    {"float64", "fp64"},
    {"special-function", "special function"},
    {"integer", "integer"},
    {"conversion", "conversion"},
    {"move", "move"},
    {"warp", "warp"},
    {"barrier", "barrier"},
    {"control", "control"},
    {"other", "other"},
    {"padding", "padding"},
}};

/// The opcodes of a class without modifiers, separated by blanks.
struct ClassOpcodes {
    InstructionClass kind;
    std::string_view opcodes;
};

bool holds(std::string_view words, std::string_view wanted) {
    while (!words.empty()) {
        const auto word = words.substr(0, words.find(' '));
        if (word == wanted)
            return true;
        words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
    return false;
}

template <std::size_t count>
std::optional<InstructionClass> findIn(const std::array<ClassOpcodes, count>& table,
                                       std::string_view name) {
    const auto found = std::ranges::find_if(
        table, [&](const ClassOpcodes& entry) { return holds(entry.opcodes, name); });
    return found == table.end() ? std::nullopt : std::optional(found->kind);
}

/// Whether a modifier after the base is `wanted`, or `wanted` with its own qualifier
/// ("shared::cta").
bool hasModifier(std::string_view opcode, std::string_view wanted) {
    for (auto at = opcode.find('.'); at != std::string_view::npos; at = opcode.find('.', at + 1)) {
        const auto part = opcode.substr(at + 1, opcode.find('.', at + 1) - at - 1);
        if (part == wanted || (part.starts_with(wanted) && part.substr(wanted.size(), 2) == "::"))
            return true;
    }
    return false;
}

std::string_view baseOf(std::string_view opcode) {
    return opcode.substr(0, opcode.find('.'));
}

// --- PTX

constexpr auto ptxBases = std::to_array<ClassOpcodes>({
    {SharedLoad, "ldmatrix"},
    {SharedStore, "stmatrix"},
    {GlobalLoad, "ldu"},
    {Atomic, "atom red multimem"},
    {AsyncCopy, "cp"},
    {Texture, "tex tld4 txq istypep suld sust sured suq"},
    {Tensor, "mma wmma wgmma tcgen05 movmatrix"},
    {Barrier, "bar barrier membar fence mbarrier griddepcontrol"},
    {Control, "bra brx call ret exit trap brkpt nanosleep"},
    {Warp, "shfl vote match redux activemask elect"},
    {Conversion, "cvt"},
    {Move, "mov selp cvta"},
    {Other, "prefetch prefetchu discard applypriority createpolicy setmaxnreg pmevent alloca "
            "stacksave stackrestore"},
});

constexpr auto ptxSpecial =
    std::to_array<std::string_view>({"rcp", "rsqrt", "sqrt", "sin", "cos", "lg2", "ex2", "tanh"});

struct MemorySpace {
    std::string_view name;
    InstructionClass load;
    InstructionClass store;
};
constexpr auto memorySpaces = std::to_array<MemorySpace>({
    {"global", GlobalLoad, GlobalStore},
    {"shared", SharedLoad, SharedStore},
    {"local", LocalLoad, LocalStore},
    {"const", ConstantLoad, Other},
    // Arguments of a call are in registers or on the stack; the kernel's are in constant memory.
    {"param", ConstantLoad, Move},
});

/// The class of arithmetic, by the type at the opcode's end.
InstructionClass classByType(std::string_view opcode) {
    for (auto rest = opcode; !rest.empty();) {
        const auto dot = rest.rfind('.');
        if (dot == std::string_view::npos)
            break;
        const auto type = rest.substr(dot + 1);
        rest = rest.substr(0, dot);
        if (type == "f32" || type == "f32x2" || type == "tf32")
            return Float32;
        if (type == "f64")
            return Float64;
        if (type.starts_with("f16") || type.starts_with("bf16"))
            return Float16;
        const bool isInteger =
            type.size() > 1 && type.find_first_of("usb") == 0 && type[1] >= '0' && type[1] <= '9';
        if (isInteger || type == "pred")
            return Integer;
    }
    return Other;
}

// --- SASS

constexpr auto sassBases = std::to_array<ClassOpcodes>({
    {GlobalLoad, "LDG LDGMC"},
    {GlobalStore, "STG"},
    {SharedLoad, "LDS LDSM"},
    {SharedStore, "STS STSM STAS"},
    {LocalLoad, "LDL"},
    {LocalStore, "STL"},
    {GenericLoad, "LD"},
    {GenericStore, "ST"},
    {ConstantLoad, "LDC LDCU ULDC"},
    {Texture, "TEX TLD TLD4 TMML TXD TXQ SULD SUST SUATOM SURED"},
    {Atomic, "ATOM ATOMG ATOMS RED REDG REDAS"},
    {AsyncCopy, "LDGSTS LDGDEPBAR"},
    {Barrier, "ARRIVES BAR MEMBAR DEPBAR ERRBAR FENCE SYNCS CGAERRBAR CGABAR_ARV CGABAR_WAIT "
              "CGABAR_GET ACQBULK ACQSHMINIT"},
    {Tensor, "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA WARPGROUP WARPGROUPSET MOVM "
             "LDT LDTM STT STTM"},
    {Float16, "HADD2 HADD2_32I HMUL2 HMUL2_32I HFMA2 HFMA2_32I HSET2 HSETP2 HMNMX2 VHMNMX"},
    {Float32, "FADD FADD32I FADD2 FMUL FMUL32I FMUL2 FFMA FFMA32I FFMA2 FMNMX FMNMX3 FSEL FSET "
              "FSETP FCHK FSWZADD FCMP"},
    {Float64, "DADD DMUL DFMA DSETP DMNMX DSET"},
    {SpecialFunction, "MUFU RRO"},
    {Integer,
     "IADD IADD3 IADD32I IADD64 IMAD IMAD32I IMUL IMUL32I ISETP ISET ISCADD ISCADD32I IMNMX VIMNMX "
     "VIMNMX3 VIADD VIADDMNMX VABSDIFF VABSDIFF4 IABS IDP IDP4A ICMP LOP LOP3 LOP32I PLOP3 PSETP "
     "PSET SHF SHL SHR LEA BFE BFI BREV FLO POPC SGXT PRMT BMSK XMAD CSETP CSET"},
    {Conversion, "F2F F2I F2FP F2IP I2F I2FP I2I I2IP FRND"},
    {Move, "MOV MOV32I MOV64IUR SEL S2R S2UR CS2R CS2UR R2UR P2R R2P P2UR R2UP B2R R2B GETLMEMBASE "
           "SETLMEMBASE LEPC"},
    {Warp, "SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT"},
    {Control,
     "BRA BRX BRXU BRAU JMP JMX JMXU CALL CAL JCAL RET EXIT PREEXIT BSSY BSYNC BREAK BMOV WARPSYNC "
     "YIELD KILL BPT RTT NANOSLEEP NANOTRAP SSY SYNC PBK BRK PCNT CONT COLLECTIVE ENDCOLLECTIVE"},
});

struct Family {
    std::string_view prefix;
    InstructionClass kind;
};
/// Prefixes, because each architecture adds opcodes.
constexpr auto sassFamilies = std::to_array<Family>({
    {"UTMA", AsyncCopy}, // bulk tensor copies
    {"UBLK", AsyncCopy},
    {"UTC", Tensor}, // Tensor cores that use tensor memory.
});

} // namespace

std::string_view spelling(InstructionClass kind) {
    return classNames.at(static_cast<std::size_t>(kind)).spelling;
}

std::string_view title(InstructionClass kind) {
    return classNames.at(static_cast<std::size_t>(kind)).title;
}

InstructionClass classOfPtx(std::string_view opcode) {
    const auto base = baseOf(opcode);
    if (base == "ld" || base == "st") {
        for (const auto& space : memorySpaces) {
            if (hasModifier(opcode, space.name))
                return base == "ld" ? space.load : space.store;
        }
        return base == "ld" ? GenericLoad : GenericStore;
    }
    if (const auto known = findIn(ptxBases, base))
        return *known;
    const auto byType = classByType(opcode);
    const bool isSpecial = std::ranges::find(ptxSpecial, base) != ptxSpecial.end();
    return isSpecial && byType != Float64 ? SpecialFunction : byType;
}

InstructionClass classOfSass(std::string_view opcode) {
    const auto base = baseOf(opcode);
    // The usual encodings of a plain move, and of half to float.
    if (base == "IMAD" && hasModifier(opcode, "MOV"))
        return Move;
    if (base == "HADD2" && hasModifier(opcode, "F32"))
        return Conversion;
    if (const auto known = findIn(sassBases, base))
        return *known;
    // An instruction on uniform registers, with one value for a warp.
    if (base.starts_with('U')) {
        if (const auto known = findIn(sassBases, base.substr(1)))
            return *known;
    }
    for (const auto& family : sassFamilies) {
        if (base.starts_with(family.prefix))
            return family.kind;
    }
    return Other;
}

} // namespace kernelskill::engine
