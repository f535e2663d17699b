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
constexpr std::array<ClassName, instructionClassCount> names{{
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

struct NamedClass {
    std::string_view name;
    InstructionClass kind;
};

template <std::size_t count>
std::optional<InstructionClass> findIn(const std::array<NamedClass, count>& table,
                                       std::string_view name) {
    const auto found = std::ranges::find(table, name, &NamedClass::name);
    return found == table.end() ? std::nullopt : std::optional(found->kind);
}

/// Whether one of the modifiers after the base is `wanted`, or `wanted` with a qualifier of its own
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

constexpr auto ptxBases = std::to_array<NamedClass>({
    {"ldmatrix", SharedLoad}, {"stmatrix", SharedStore},
    {"ldu", GlobalLoad},      {"atom", Atomic},
    {"red", Atomic},          {"multimem", Atomic},
    {"cp", AsyncCopy},        {"tex", Texture},
    {"tld4", Texture},        {"txq", Texture},
    {"istypep", Texture},     {"suld", Texture},
    {"sust", Texture},        {"sured", Texture},
    {"suq", Texture},         {"mma", Tensor},
    {"wmma", Tensor},         {"wgmma", Tensor},
    {"tcgen05", Tensor},      {"movmatrix", Tensor},
    {"bar", Barrier},         {"barrier", Barrier},
    {"membar", Barrier},      {"fence", Barrier},
    {"mbarrier", Barrier},    {"griddepcontrol", Barrier},
    {"bra", Control},         {"brx", Control},
    {"call", Control},        {"ret", Control},
    {"exit", Control},        {"trap", Control},
    {"brkpt", Control},       {"nanosleep", Control},
    {"shfl", Warp},           {"vote", Warp},
    {"match", Warp},          {"redux", Warp},
    {"activemask", Warp},     {"elect", Warp},
    {"cvt", Conversion},      {"mov", Move},
    {"selp", Move},           {"cvta", Move},
    {"prefetch", Other},      {"prefetchu", Other},
    {"discard", Other},       {"applypriority", Other},
    {"createpolicy", Other},  {"setmaxnreg", Other},
    {"pmevent", Other},       {"alloca", Other},
    {"stacksave", Other},     {"stackrestore", Other},
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
    // Arguments of a call are registers or stack; those of the kernel are in constant memory.
    {"param", ConstantLoad, Move},
});

/// Of arithmetic, by the type that it ends in.
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

constexpr auto sassBases = std::to_array<NamedClass>({
    {"LDG", GlobalLoad},
    {"LDGMC", GlobalLoad},
    {"STG", GlobalStore},
    {"LDS", SharedLoad},
    {"LDSM", SharedLoad},
    {"STS", SharedStore},
    {"STSM", SharedStore},
    {"STAS", SharedStore},
    {"LDL", LocalLoad},
    {"STL", LocalStore},
    {"LD", GenericLoad},
    {"ST", GenericStore},
    {"LDC", ConstantLoad},
    {"LDCU", ConstantLoad},
    {"ULDC", ConstantLoad},
    {"TEX", Texture},
    {"TLD", Texture},
    {"TLD4", Texture},
    {"TMML", Texture},
    {"TXD", Texture},
    {"TXQ", Texture},
    {"SULD", Texture},
    {"SUST", Texture},
    {"SUATOM", Texture},
    {"SURED", Texture},
    {"ATOM", Atomic},
    {"ATOMG", Atomic},
    {"ATOMS", Atomic},
    {"RED", Atomic},
    {"REDG", Atomic},
    {"REDAS", Atomic},
    {"LDGSTS", AsyncCopy},
    {"LDGDEPBAR", AsyncCopy},
    {"ARRIVES", Barrier},
    {"HMMA", Tensor},
    {"IMMA", Tensor},
    {"DMMA", Tensor},
    {"BMMA", Tensor},
    {"QMMA", Tensor},
    {"OMMA", Tensor},
    {"HGMMA", Tensor},
    {"IGMMA", Tensor},
    {"QGMMA", Tensor},
    {"BGMMA", Tensor},
    {"WARPGROUP", Tensor},
    {"WARPGROUPSET", Tensor},
    {"MOVM", Tensor},
    {"LDT", Tensor},
    {"LDTM", Tensor},
    {"STT", Tensor},
    {"STTM", Tensor},
    {"HADD2", Float16},
    {"HADD2_32I", Float16},
    {"HMUL2", Float16},
    {"HMUL2_32I", Float16},
    {"HFMA2", Float16},
    {"HFMA2_32I", Float16},
    {"HSET2", Float16},
    {"HSETP2", Float16},
    {"HMNMX2", Float16},
    {"VHMNMX", Float16},
    {"FADD", Float32},
    {"FADD32I", Float32},
    {"FADD2", Float32},
    {"FMUL", Float32},
    {"FMUL32I", Float32},
    {"FMUL2", Float32},
    {"FFMA", Float32},
    {"FFMA32I", Float32},
    {"FFMA2", Float32},
    {"FMNMX", Float32},
    {"FMNMX3", Float32},
    {"FSEL", Float32},
    {"FSET", Float32},
    {"FSETP", Float32},
    {"FCHK", Float32},
    {"FSWZADD", Float32},
    {"FCMP", Float32},
    {"DADD", Float64},
    {"DMUL", Float64},
    {"DFMA", Float64},
    {"DSETP", Float64},
    {"DMNMX", Float64},
    {"DSET", Float64},
    {"MUFU", SpecialFunction},
    {"RRO", SpecialFunction},
    {"IADD", Integer},
    {"IADD3", Integer},
    {"IADD32I", Integer},
    {"IADD64", Integer},
    {"IMAD", Integer},
    {"IMAD32I", Integer},
    {"IMUL", Integer},
    {"IMUL32I", Integer},
    {"ISETP", Integer},
    {"ISET", Integer},
    {"ISCADD", Integer},
    {"ISCADD32I", Integer},
    {"IMNMX", Integer},
    {"VIMNMX", Integer},
    {"VIMNMX3", Integer},
    {"VIADD", Integer},
    {"VIADDMNMX", Integer},
    {"VABSDIFF", Integer},
    {"VABSDIFF4", Integer},
    {"IABS", Integer},
    {"IDP", Integer},
    {"IDP4A", Integer},
    {"ICMP", Integer},
    {"LOP", Integer},
    {"LOP3", Integer},
    {"LOP32I", Integer},
    {"PLOP3", Integer},
    {"PSETP", Integer},
    {"PSET", Integer},
    {"SHF", Integer},
    {"SHL", Integer},
    {"SHR", Integer},
    {"LEA", Integer},
    {"BFE", Integer},
    {"BFI", Integer},
    {"BREV", Integer},
    {"FLO", Integer},
    {"POPC", Integer},
    {"SGXT", Integer},
    {"PRMT", Integer},
    {"BMSK", Integer},
    {"XMAD", Integer},
    {"CSETP", Integer},
    {"CSET", Integer},
    {"F2F", Conversion},
    {"F2I", Conversion},
    {"F2FP", Conversion},
    {"F2IP", Conversion},
    {"I2F", Conversion},
    {"I2FP", Conversion},
    {"I2I", Conversion},
    {"I2IP", Conversion},
    {"FRND", Conversion},
    {"MOV", Move},
    {"MOV32I", Move},
    {"MOV64IUR", Move},
    {"SEL", Move},
    {"S2R", Move},
    {"S2UR", Move},
    {"CS2R", Move},
    {"CS2UR", Move},
    {"R2UR", Move},
    {"P2R", Move},
    {"R2P", Move},
    {"P2UR", Move},
    {"R2UP", Move},
    {"B2R", Move},
    {"R2B", Move},
    {"GETLMEMBASE", Move},
    {"SETLMEMBASE", Move},
    {"LEPC", Move},
    {"SHFL", Warp},
    {"VOTE", Warp},
    {"VOTEU", Warp},
    {"MATCH", Warp},
    {"REDUX", Warp},
    {"CREDUX", Warp},
    {"ELECT", Warp},
    {"BAR", Barrier},
    {"MEMBAR", Barrier},
    {"DEPBAR", Barrier},
    {"ERRBAR", Barrier},
    {"FENCE", Barrier},
    {"SYNCS", Barrier},
    {"CGAERRBAR", Barrier},
    {"CGABAR_ARV", Barrier},
    {"CGABAR_WAIT", Barrier},
    {"CGABAR_GET", Barrier},
    {"ACQBULK", Barrier},
    {"ACQSHMINIT", Barrier},
    {"BRA", Control},
    {"BRX", Control},
    {"BRXU", Control},
    {"BRAU", Control},
    {"JMP", Control},
    {"JMX", Control},
    {"JMXU", Control},
    {"CALL", Control},
    {"CAL", Control},
    {"JCAL", Control},
    {"RET", Control},
    {"EXIT", Control},
    {"PREEXIT", Control},
    {"BSSY", Control},
    {"BSYNC", Control},
    {"BREAK", Control},
    {"BMOV", Control},
    {"WARPSYNC", Control},
    {"YIELD", Control},
    {"KILL", Control},
    {"BPT", Control},
    {"RTT", Control},
    {"NANOSLEEP", Control},
    {"NANOTRAP", Control},
    {"SSY", Control},
    {"SYNC", Control},
    {"PBK", Control},
    {"BRK", Control},
    {"PCNT", Control},
    {"CONT", Control},
    {"COLLECTIVE", Control},
    {"ENDCOLLECTIVE", Control},
});

/// Families that grow with each architecture.
constexpr auto sassFamilies = std::to_array<NamedClass>({
    {"UTMA", AsyncCopy}, // bulk tensor copies
    {"UBLK", AsyncCopy},
    {"UTC", Tensor}, // tensor cores that work on tensor memory
});

} // namespace

std::string_view spelling(InstructionClass kind) {
    return names.at(static_cast<std::size_t>(kind)).spelling;
}

std::string_view title(InstructionClass kind) {
    return names.at(static_cast<std::size_t>(kind)).title;
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
    // The usual spellings of a plain move, and of half to float.
    if (base == "IMAD" && hasModifier(opcode, "MOV"))
        return Move;
    if (base == "HADD2" && hasModifier(opcode, "F32"))
        return Conversion;
    if (const auto known = findIn(sassBases, base))
        return *known;
    // On uniform registers, one value for a warp.
    if (base.starts_with('U')) {
        if (const auto known = findIn(sassBases, base.substr(1)))
            return *known;
    }
    for (const auto& family : sassFamilies) {
        if (base.starts_with(family.name))
            return family.kind;
    }
    return Other;
}

} // namespace kernelskill::engine
