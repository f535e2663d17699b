#include "engine/execution/emulator/compile/host_instruction.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::engine {
namespace {

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// The operands as written; commas inside brackets do not separate.
std::vector<std::string_view> operandsOf(std::string_view text) {
    std::vector<std::string_view> operands;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            auto operand = text.substr(begin, i - begin);
            while (!operand.empty() && (operand.front() == ' ' || operand.front() == '\t'))
                operand.remove_prefix(1);
            operands.push_back(operand);
            begin = i + 1;
        } else if (text[i] == '(' || text[i] == '[') {
            ++depth;
        } else if (text[i] == ')' || text[i] == ']') {
            --depth;
        }
    }
    return operands;
}

/// Empty if the operand's location is not followed.
std::string locationOf(std::string_view operand) {
    if (operand.ends_with("(%rsp)") || operand.starts_with("[sp"))
        return std::string(operand);
    if (operand.starts_with("%xmm"))
        return std::string(operand.substr(1));
    if (operand.starts_with('%')) {
        auto name = operand.substr(1);
        if (name.size() > 1 && name.front() == 'r' && isDigit(name[1])) {
            while (!isDigit(name.back()))
                name.remove_suffix(1);
            return std::string(name);
        }
        if (name.size() == 3 && (name.front() == 'r' || name.front() == 'e'))
            name.remove_prefix(1);
        return std::string(name);
    }
    // For AArch64: s0, v0.4s, w19.
    if (operand.size() > 1 && isDigit(operand[1])) {
        const auto number = operand.substr(1, operand.find('.') - 1);
        if (std::string_view("sdqvh").find(operand.front()) != std::string_view::npos)
            return "v" + std::string(number);
        if (operand.front() == 'w' || operand.front() == 'x')
            return "x" + std::string(number);
    }
    return {};
}

struct Operator {
    std::string_view name;
    HostAction action;
};

constexpr auto operatorsOfX86 = std::to_array<Operator>({
    {"add", HostAction::Add},
    {"sub", HostAction::Add},
    {"mul", HostAction::Multiply},
    {"div", HostAction::Divide},
    {"sqrt", HostAction::Root},
});
constexpr auto operatorsOfArm = std::to_array<Operator>({
    {"fadd", HostAction::Add},
    {"fsub", HostAction::Add},
    {"fmul", HostAction::Multiply},
    {"fnmul", HostAction::Multiply},
    {"fmadd", HostAction::Fuse},
    {"fmsub", HostAction::Fuse},
    {"fnmadd", HostAction::Fuse},
    {"fnmsub", HostAction::Fuse},
    {"fmla", HostAction::Fuse},
    {"fmls", HostAction::Fuse},
    {"fdiv", HostAction::Divide},
    {"fsqrt", HostAction::Root},
});

bool isConversion(std::string_view word) {
    return word.starts_with("cvt") || word.starts_with("vcvt") || word.starts_with("scvtf") ||
           word.starts_with("ucvtf") || word.starts_with("fcvt");
}

bool isCopy(std::string_view word) {
    return isAnyOf(word, {"movss",  "movsd",  "movaps", "movapd", "movd",   "movq",    "movl",
                          "movdqa", "movdqu", "movups", "vmovss", "vmovsd", "vmovaps", "vmovapd",
                          "vmovd",  "vmovq",  "fmov",   "mov",    "ldr",    "str"});
}

/// For addss, vmulpd: an operator, then s or p, then s or d.
bool decodeX86(std::string_view word, HostInstruction& instruction) {
    if (word.starts_with('v'))
        word.remove_prefix(1);
    const auto found = std::ranges::find_if(operatorsOfX86, [&](const Operator& candidate) {
        return word.size() == candidate.name.size() + 2 && word.starts_with(candidate.name);
    });
    if (found == operatorsOfX86.end())
        return false;
    const char many = word[word.size() - 2];
    const char width = word.back();
    if ((many != 's' && many != 'p') || (width != 's' && width != 'd'))
        return false;
    instruction.action = found->action;
    instruction.isDouble = width == 'd';
    instruction.lanes = many == 's' ? 1u : instruction.isDouble ? 2u : 4u;
    return true;
}

/// For fadd s0, s1, s2 or fadd v0.4s, v1.4s, v2.4s.
bool decodeArm(std::string_view word, std::string_view target, HostInstruction& instruction) {
    const auto found = std::ranges::find(operatorsOfArm, word, &Operator::name);
    if (found == operatorsOfArm.end() || target.empty())
        return false;
    instruction.action = found->action;
    const auto dot = target.find('.');
    const bool isVector = dot != std::string_view::npos;
    instruction.isDouble = isVector ? target.ends_with('d') : target.front() == 'd';
    instruction.lanes = !isVector ? 1u : target[dot + 1] == '2' ? 2u : 4u;
    return true;
}

/// Whether the target is only written or cleared, so that its old value does not matter.
bool overwrites(const AssemblyLine& line, const std::vector<std::string_view>& operands) {
    const auto word = line.word;
    if (word.starts_with("mov") || word.starts_with("lea") || word.starts_with("set") ||
        isConversion(word))
        return true;
    const bool clears = word.find("xor") != std::string_view::npos && operands.size() == 2;
    return clears && operands[0] == operands[1];
}

} // namespace

HostInstruction hostInstruction(const AssemblyLine& line) {
    HostInstruction instruction;
    const auto word = line.word;
    if (word.empty() || word.front() == '.' || word.front() == '#' || word.ends_with(':'))
        return instruction;
    if (isAnyOf(word, {"call", "callq", "bl"})) {
        instruction.action = HostAction::Call;
        instruction.callee = line.rest.substr(0, line.rest.find('@'));
        return instruction;
    }
    const auto operands = operandsOf(line.rest.substr(0, line.rest.find("\t#"))); // clang's remarks
    if (operands.front().empty())
        return instruction;
    // GNU syntax for x86-64 marks registers by '%'. AArch64 has the target first, except in stores.
    const bool isArm = line.rest.find('%') == std::string_view::npos;
    const bool targetIsFirst = isArm && word != "str";
    const auto target = targetIsFirst ? operands.front() : operands.back();
    auto sources = operands;
    sources.erase(targetIsFirst ? sources.begin() : sources.end() - 1);
    const bool isOperator =
        isArm ? decodeArm(word, target, instruction) : decodeX86(word, instruction);
    if (!isOperator)
        instruction.action = isCopy(word) && operands.size() == 2 ? HostAction::Copy
                             : isConversion(word)                 ? HostAction::Convert
                                                                  : HostAction::Other;
    const bool isUnary =
        instruction.action == HostAction::Root || instruction.action == HostAction::Copy;
    if (!isArm && operands.size() <= 2 && !isUnary && !overwrites(line, operands))
        sources.push_back(target);
    if (instruction.action == HostAction::Other && !isArm && overwrites(line, operands) &&
        word.find("xor") != std::string_view::npos)
        sources.clear();
    instruction.target = locationOf(target);
    instruction.fromInteger = word.find("si2s") != std::string_view::npos;
    for (const auto source : sources) {
        if (auto location = locationOf(source); !location.empty())
            instruction.sources.push_back(std::move(location));
    }
    if (instruction.action == HostAction::Copy && sources.front().ends_with("(%rip)"))
        instruction.constant = sources.front().substr(0, sources.front().find('('));
    else if (instruction.action == HostAction::Copy && isArm && word == "fmov")
        instruction.constant = sources.front();
    return instruction;
}

bool isLostInCalls(const std::string& location) {
    // On AArch64 calls preserve the lower halves of v8 to v15, which contain the value.
    static constexpr auto kept = std::to_array<std::string_view>(
        {"bx",  "bp",  "r12", "r13", "r14", "r15", "v8",  "v9",  "v10", "v11", "v12", "v13",
         "v14", "v15", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28"});
    const bool isSlot = location.find('(') != std::string::npos || location.starts_with('[');
    return !isSlot && std::ranges::find(kept, location) == kept.end();
}

bool isArgument(const std::string& location) {
    const auto number = location.starts_with("xmm") ? location.substr(3)
                        : location.starts_with('v') ? location.substr(1)
                                                    : std::string();
    return number.size() == 1 && number[0] <= '7';
}

} // namespace kernelskill::engine
