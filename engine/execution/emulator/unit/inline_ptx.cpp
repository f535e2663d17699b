#include "engine/execution/emulator/unit/inline_ptx.h"

#include "analysis/source/trimmed.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace kernelskill::engine {
namespace {

struct Instruction {
    std::string opcode;
    std::vector<std::string> operands; ///< Without the brackets of addresses.
};

std::vector<std::string> splitOperands(std::string_view text) {
    std::vector<std::string> result;
    std::string current;
    int depth = 0;
    for (const char c : text) {
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == ',' && depth == 0) {
            result.emplace_back(analysis::trimmed(current));
            current.clear();
        } else {
            current += c;
        }
    }
    if (!analysis::trimmed(current).empty())
        result.emplace_back(analysis::trimmed(current));
    for (auto& operand : result) {
        if (operand.size() > 2 && operand.front() == '[' && operand.back() == ']')
            operand = std::string(analysis::trimmed(operand.substr(1, operand.size() - 2)));
    }
    return result;
}

std::vector<Instruction> parse(std::string_view ptx) {
    std::vector<Instruction> result;
    std::size_t begin = 0;
    while (begin < ptx.size()) {
        const auto end = std::min(ptx.find(';', begin), ptx.size());
        auto line = std::string(analysis::trimmed(ptx.substr(begin, end - begin)));
        while (!line.empty() && (line.front() == '{' || line.front() == '}'))
            line = std::string(analysis::trimmed(line.substr(1)));
        begin = end + 1;
        if (line.empty() || line.starts_with("//"))
            continue;
        const auto space = line.find_first_of(" \t\n");
        if (space == std::string::npos)
            result.push_back({line, {}});
        else
            result.push_back(
                {line.substr(0, space), splitOperands(std::string_view(line).substr(space))});
    }
    return result;
}

struct Equivalent {
    std::string_view opcode;    ///< Matched up to a '.' or the end.
    std::string_view statement; ///< $n is operand n of the instruction.
};

constexpr std::array equivalents = {
    Equivalent{"membar", "ks_fence(1)"},
    Equivalent{"fence", "ks_fence(1)"},
    Equivalent{"prefetch", ""},
    Equivalent{"prefetchu", ""},
    Equivalent{"nanosleep", ""},
    Equivalent{"griddepcontrol", ""},
    Equivalent{"trap", "ks_trap()"},
    Equivalent{"bfe.u32", "$0 = ($1 >> $2) & ((1u << $3) - 1u)"},
    Equivalent{"bfi.b32",
               "$0 = ($2 & ~(((1u << $4) - 1u) << $3)) | (($1 & ((1u << $4) - 1u)) << $3)"},
    Equivalent{"prmt.b32", "$0 = __byte_perm($1, $2, $3)"},
    Equivalent{"popc.b32", "$0 = __builtin_popcount($1)"},
    Equivalent{"brev.b32", "$0 = __brev($1)"},
    Equivalent{"fma.rn.f32", "$0 = fmaf($1, $2, $3)"},
    Equivalent{"fma.rn.f64", "$0 = fma($1, $2, $3)"},
    Equivalent{"ex2.approx.f32", "$0 = exp2f($1)"},
    Equivalent{"ex2.approx.ftz.f32", "$0 = exp2f($1)"},
    Equivalent{"lg2.approx.f32", "$0 = log2f($1)"},
    Equivalent{"lg2.approx.ftz.f32", "$0 = log2f($1)"},
    Equivalent{"rcp.approx.f32", "$0 = 1.0f / ($1)"},
    Equivalent{"rcp.approx.ftz.f32", "$0 = 1.0f / ($1)"},
    Equivalent{"rsqrt.approx.f32", "$0 = 1.0f / sqrtf($1)"},
    Equivalent{"rsqrt.approx.ftz.f32", "$0 = 1.0f / sqrtf($1)"},
    Equivalent{"sqrt.approx.f32", "$0 = sqrtf($1)"},
    Equivalent{"sqrt.approx.ftz.f32", "$0 = sqrtf($1)"},
    Equivalent{"tanh.approx.f32", "$0 = tanhf($1)"},
    Equivalent{"cvt.rna.tf32.f32", "$0 = ks_round_to_tf32($1)"},
    Equivalent{"cvt.rn.bf16x2.f32", "$0 = ks_bfloat16_pair($1, $2, false)"},
    Equivalent{"cvt.rn.satfinite.bf16x2.f32", "$0 = ks_bfloat16_pair($1, $2, true)"},
};

constexpr std::array specialRegisters = {
    Equivalent{"%laneid", "ks_lane()"},
    Equivalent{"%warpid", "ks_warp()"},
    Equivalent{"%lanemask_eq", "(1u << ks_lane())"},
    Equivalent{"%lanemask_lt", "((1u << ks_lane()) - 1u)"},
    Equivalent{"%lanemask_le", "((2u << ks_lane()) - 1u)"},
    Equivalent{"%lanemask_gt", "~((2u << ks_lane()) - 1u)"},
    Equivalent{"%lanemask_ge", "~((1u << ks_lane()) - 1u)"},
    Equivalent{"%clock", "static_cast<unsigned>(ks_clock())"},
    Equivalent{"%clock64", "ks_clock()"},
    Equivalent{"%globaltimer", "ks_global_timer()"},
    Equivalent{"%tid.x", "ks_threadIdx.x"},
    Equivalent{"%tid.y", "ks_threadIdx.y"},
    Equivalent{"%tid.z", "ks_threadIdx.z"},
    Equivalent{"%ctaid.x", "ks_blockIdx.x"},
    Equivalent{"%ctaid.y", "ks_blockIdx.y"},
    Equivalent{"%ctaid.z", "ks_blockIdx.z"},
    Equivalent{"%ntid.x", "ks_blockDim.x"},
    Equivalent{"%nctaid.x", "ks_gridDim.x"},
};

/// Products of 16 x 8 elements, with sums in float.
constexpr std::array tensorProducts = {
    Equivalent{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "KsTf32"},
    Equivalent{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "KsHalf"},
    Equivalent{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "KsBFloat16"},
};

constexpr std::array<Equivalent, 8> elementTypes = {{{"f32", "float"},
                                                     {"f64", "double"},
                                                     {"u32", "unsigned"},
                                                     {"s32", "int"},
                                                     {"b32", "unsigned"},
                                                     {"u64", "unsigned long long"},
                                                     {"s64", "long long"},
                                                     {"b64", "unsigned long long"}}};

std::string substituted(std::string_view statement, const std::vector<std::string>& operands) {
    std::string result;
    for (std::size_t i = 0; i < statement.size(); ++i) {
        if (statement[i] == '$' && i + 1 < statement.size()) {
            const auto index = static_cast<std::size_t>(statement[++i] - '0');
            result += index < operands.size() ? operands[index] : "0";
        } else {
            result += statement[i];
        }
    }
    return result;
}

/// For ld.global.nc.f32 %0, [%1] and st.global.v4.f32 [%0], {%1, %2, %3, %4}.
std::optional<std::string> globalAccess(const Instruction& instruction) {
    const bool load = instruction.opcode.starts_with("ld.global");
    if ((!load && !instruction.opcode.starts_with("st.global")) || instruction.operands.size() != 2)
        return std::nullopt;
    const auto suffix = instruction.opcode.substr(instruction.opcode.rfind('.') + 1);
    const auto type = std::ranges::find(elementTypes, suffix, &Equivalent::opcode);
    if (type == elementTypes.end())
        return std::nullopt;
    auto values = instruction.operands[load ? 0 : 1];
    const auto& address = instruction.operands[load ? 1 : 0];
    if (address.find('+') != std::string::npos)
        return std::nullopt;
    if (values.starts_with("{"))
        values = values.substr(1, values.size() - 2);
    std::string result;
    const auto elements = splitOperands(values);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto place =
            "((" + std::string(type->statement) + "*)(" + address + "))[" + std::to_string(i) + "]";
        result += i == 0 ? "" : ", ";
        result += load ? elements[i] + " = " + place : place + " = " + elements[i];
    }
    return result;
}

/// Translates mma.sync {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}.
std::optional<std::string> tensorProduct(const Instruction& instruction) {
    const auto product = std::ranges::find(tensorProducts, instruction.opcode, &Equivalent::opcode);
    if (product == tensorProducts.end())
        return std::nullopt;
    constexpr std::array<std::size_t, 4> registers = {4, 4, 2, 4};
    if (instruction.operands.size() != registers.size())
        return std::nullopt;
    std::string arguments;
    for (std::size_t i = 0; i < registers.size(); ++i) {
        const std::string& list = instruction.operands[i];
        if (!list.starts_with("{") || !list.ends_with("}"))
            return std::nullopt;
        const auto names = splitOperands(std::string_view(list).substr(1, list.size() - 2));
        if (names.size() != registers[i])
            return std::nullopt;
        for (const std::string& name : names)
            arguments += (arguments.empty() ? "" : ", ") + name;
    }
    return "ks_mma<" + std::string(product->statement) + ">(" + arguments + ")";
}

std::optional<std::string> equivalentOf(const Instruction& instruction) {
    if (auto product = tensorProduct(instruction))
        return product;
    if (auto access = globalAccess(instruction))
        return access;
    if (instruction.opcode.starts_with("mov.") && instruction.operands.size() == 2) {
        const auto found =
            std::ranges::find(specialRegisters, instruction.operands[1], &Equivalent::opcode);
        if (found == specialRegisters.end())
            return std::nullopt;
        return instruction.operands[0] + " = " + std::string(found->statement);
    }
    if (instruction.opcode == "bar.sync" || instruction.opcode == "barrier.sync") {
        if (instruction.operands.size() == 2)
            return substituted("ks_named_barrier($0, $1)", instruction.operands);
        return instruction.operands == std::vector<std::string>{"0"}
                   ? std::optional<std::string>("ks_barrier(KsBarrierPlain, 0)")
                   : std::nullopt;
    }
    const bool isFence =
        instruction.opcode.starts_with("membar.") || instruction.opcode.starts_with("fence.");
    if (isFence && instruction.opcode.ends_with(".cta"))
        return "ks_fence(0)";
    for (const auto& entry : equivalents) {
        const bool exact = instruction.opcode == entry.opcode;
        const bool family = entry.opcode.find('.') == std::string_view::npos &&
                            instruction.opcode.starts_with(std::string(entry.opcode) + ".");
        if (exact || family)
            return substituted(entry.statement, instruction.operands);
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> hostEquivalent(std::string_view ptx) {
    std::string result;
    for (const auto& instruction : parse(ptx)) {
        const auto statement = equivalentOf(instruction);
        if (!statement)
            return std::nullopt;
        if (!statement->empty())
            result += (result.empty() ? "" : "; ") + *statement;
    }
    return result;
}

std::string firstInstruction(std::string_view ptx) {
    for (const auto& instruction : parse(ptx)) {
        const bool declaration =
            instruction.opcode.starts_with(".") || instruction.opcode.ends_with(":");
        if (!declaration && !instruction.opcode.starts_with("%"))
            return instruction.opcode;
    }
    return "asm";
}

} // namespace kernelskill::engine
