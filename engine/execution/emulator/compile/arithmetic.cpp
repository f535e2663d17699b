#include "engine/execution/emulator/compile/arithmetic.h"

#include "engine/execution/emulator/compile/operation_costs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace kernelskill::engine {

using emulator::Counter;

namespace {

constexpr std::string_view operationMark = "ks_operation ";

enum class Action : std::uint8_t { Add, Multiply, Fuse, Divide, Root };

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Operands as they stand; commas in brackets part nothing.
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

/// One name for all widths of a register, and for a slot of the stack; empty for other operands.
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
    // AArch64: s0, v0.4s, w19
    if (operand.size() > 1 && isDigit(operand[1])) {
        const auto number = operand.substr(1, operand.find('.') - 1);
        if (std::string_view("sdqvh").find(operand.front()) != std::string_view::npos)
            return "v" + std::string(number);
        if (operand.front() == 'w' || operand.front() == 'x')
            return "x" + std::string(number);
    }
    return {};
}

struct Instruction {
    Action action = Action::Add;
    bool isDouble = false;
    std::uint32_t lanes = 1;
    std::vector<std::string_view> sources{};
    std::string target{};

    static std::optional<Instruction> ofX86(std::string_view word);
    static std::optional<Instruction> ofArm(std::string_view word, std::string_view target);
};

struct Operator {
    std::string_view name;
    Action action;
};

constexpr auto operatorsOfX86 = std::to_array<Operator>({
    {"add", Action::Add},
    {"sub", Action::Add},
    {"mul", Action::Multiply},
    {"div", Action::Divide},
    {"sqrt", Action::Root},
});
constexpr auto operatorsOfArm = std::to_array<Operator>({
    {"fadd", Action::Add},
    {"fsub", Action::Add},
    {"fmul", Action::Multiply},
    {"fnmul", Action::Multiply},
    {"fmadd", Action::Fuse},
    {"fmsub", Action::Fuse},
    {"fnmadd", Action::Fuse},
    {"fnmsub", Action::Fuse},
    {"fmla", Action::Fuse},
    {"fmls", Action::Fuse},
    {"fdiv", Action::Divide},
    {"fsqrt", Action::Root},
});

bool isConversion(std::string_view word) {
    return word.starts_with("cvt") || word.starts_with("vcvt") || word.starts_with("scvtf") ||
           word.starts_with("ucvtf") || word.starts_with("fcvt");
}

bool isCopy(std::string_view word) {
    static constexpr auto copies = std::to_array<std::string_view>(
        {"movss", "movsd", "movaps", "movapd", "movd", "movq", "movl", "movdqa", "movdqu", "movups",
         "fmov", "mov", "ldr", "str"});
    return std::ranges::find(copies, word) != copies.end();
}

bool isCall(std::string_view word) {
    return word == "call" || word == "callq" || word == "bl";
}

Counter counterOf(Action action, bool isDouble) {
    if (action == Action::Multiply)
        return isDouble ? Counter::DoubleMultiplies : Counter::SingleMultiplies;
    if (action == Action::Fuse)
        return isDouble ? Counter::DoubleFused : Counter::SingleFused;
    return isDouble ? Counter::DoubleAdds : Counter::SingleAdds;
}

/// addss, vmulpd: an operator, then s or p, then s or d.
std::optional<Instruction> Instruction::ofX86(std::string_view word) {
    if (word.starts_with('v'))
        word.remove_prefix(1);
    const auto found = std::ranges::find_if(operatorsOfX86, [&](const Operator& candidate) {
        return word.size() == candidate.name.size() + 2 && word.starts_with(candidate.name);
    });
    if (found == operatorsOfX86.end())
        return std::nullopt;
    const char many = word[word.size() - 2];
    const char width = word.back();
    if ((many != 's' && many != 'p') || (width != 's' && width != 'd'))
        return std::nullopt;
    const bool isDouble = width == 'd';
    return Instruction{found->action, isDouble, many == 's' ? 1u : isDouble ? 2u : 4u};
}

/// fadd s0, s1, s2 or fadd v0.4s, v1.4s, v2.4s
std::optional<Instruction> Instruction::ofArm(std::string_view word, std::string_view target) {
    const auto found = std::ranges::find(operatorsOfArm, word, &Operator::name);
    if (found == operatorsOfArm.end() || target.empty())
        return std::nullopt;
    const auto dot = target.find('.');
    if (dot == std::string_view::npos)
        return Instruction{found->action, target.front() == 'd', 1};
    return Instruction{found->action, target.ends_with('d'), target[dot + 1] == '2' ? 2u : 4u};
}

class ArithmeticReader {
public:
    ArithmeticReader(const std::vector<AssemblyLine>& lines, std::string_view userMarker,
                     std::string_view prelude, std::string_view blockHook)
        : lines_(lines), userMarker_(userMarker), prelude_(prelude), blockHook_(blockHook) {}

    std::vector<ArithmeticUse> run();

private:
    void file(std::string_view rest);
    void enterFile(unsigned index);
    void read(const AssemblyLine& line);
    void arithmetic(const Instruction& instruction);
    void function(std::string_view name);
    void called();
    void copy(std::string_view from, std::string_view to);
    void add(Counter counter, std::uint32_t count);
    /// Index in uses_ of the product in `operand` that no sum has taken; uses_.size() if none.
    [[nodiscard]] std::size_t productIn(std::string_view operand, Counter kind,
                                        std::uint32_t lanes) const;

    const std::vector<AssemblyLine>& lines_;
    std::string_view userMarker_;
    std::string_view prelude_;
    std::string_view blockHook_;
    std::vector<ArithmeticUse> uses_;
    enum class Owner : std::uint8_t { User, Prelude };
    std::map<unsigned, Owner> owners_; ///< Of files; those of the host's library have none.
    /// Products of the block, by the register or slot of the stack that holds them.
    std::map<std::string, std::size_t> products_;
    std::string converted_; ///< Register that the instruction before made from an integer.
    std::size_t line_ = 0;
    std::optional<std::size_t> block_; ///< Line of its hook.
    bool isPreludes_ = false;
};

std::optional<unsigned> leadingNumber(std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::vector<ArithmeticUse> ArithmeticReader::run() {
    for (line_ = 0; line_ < lines_.size(); ++line_) {
        const AssemblyLine& line = lines_[line_];
        if (line.word == ".file") {
            file(line.rest);
        } else if (line.word == ".loc") {
            enterFile(leadingNumber(line.rest).value_or(0));
        } else if (line.word == ".cfi_endproc") {
            block_.reset();
        } else if (isCall(line.word) && line.rest.starts_with(blockHook_)) {
            block_ = line_;
            products_.clear();
            converted_.clear();
        } else if (block_) {
            read(line);
        }
    }
    std::erase_if(uses_, [](const ArithmeticUse& use) { return use.count == 0; });
    return std::move(uses_);
}

/// .file 3 "/folder" "name" or .file 3 "/folder/name"
void ArithmeticReader::file(std::string_view rest) {
    const auto index = leadingNumber(rest);
    if (!index)
        return;
    // Complex numbers are plain arithmetic in CUDA's headers too.
    const bool isPreludes = !prelude_.empty() && rest.find(prelude_) != std::string_view::npos &&
                            rest.find("cuComplex.h") == std::string_view::npos;
    if (isPreludes)
        owners_[*index] = Owner::Prelude;
    else if (rest.find(userMarker_) != std::string_view::npos)
        owners_[*index] = Owner::User;
}

/// The host's library is whose it is called from.
void ArithmeticReader::enterFile(unsigned index) {
    const auto owner = owners_.find(index);
    if (owner != owners_.end())
        isPreludes_ = owner->second == Owner::Prelude;
}

void ArithmeticReader::read(const AssemblyLine& line) {
    if (line.word == "#" && line.rest.starts_with(operationMark))
        function(line.rest.substr(operationMark.size()));
    if (line.word.empty() || line.word.front() == '.' || line.word.front() == '#')
        return;
    if (isCall(line.word)) {
        called();
        if (!isPreludes_)
            function(line.rest.substr(0, line.rest.find('@')));
        return;
    }
    const auto operands = operandsOf(line.rest.substr(0, line.rest.find("\t#"))); // clang's remarks
    const bool targetIsFirst = !line.rest.starts_with('%') && line.rest.find('%') == line.rest.npos;
    if (isCopy(line.word) && operands.size() == 2) {
        const bool isForward = !targetIsFirst || line.word == "str";
        copy(operands[isForward ? 0 : 1], operands[isForward ? 1 : 0]);
        return;
    }
    if (operands.front().empty())
        return;
    auto decoded = targetIsFirst ? Instruction::ofArm(line.word, operands.front())
                                 : Instruction::ofX86(line.word);
    const auto target = locationOf(targetIsFirst ? operands.front() : operands.back());
    const std::string converted = std::move(converted_);
    converted_.clear();
    if (!decoded) {
        products_.erase(target);
        if (line.word.find("si2s") != std::string_view::npos)
            converted_ = target;
        if (isConversion(line.word) && !isPreludes_)
            add(Counter::Conversions, 1);
        return;
    }
    // Of two operands on x86-64 the target is a source as well.
    decoded->sources = operands;
    if (targetIsFirst)
        decoded->sources.erase(decoded->sources.begin());
    else if (operands.size() > 2)
        decoded->sources.pop_back();
    decoded->target = target;
    // Doubling what was halved to fit a signed conversion is the host's way with unsigned integers.
    const bool isOfConversion = decoded->action == Action::Add && operands.size() == 2 &&
                                operands[0] == operands[1] && target == converted;
    if (isPreludes_ || isOfConversion)
        products_.erase(target);
    else
        arithmetic(*decoded);
}

void ArithmeticReader::arithmetic(const Instruction& instruction) {
    const bool isDouble = instruction.isDouble;
    const std::string& target = instruction.target;
    switch (instruction.action) {
    case Action::Divide:
    case Action::Root: {
        products_.erase(target);
        const auto isRoot = instruction.action == Action::Root;
        function(isRoot ? (isDouble ? "sqrt" : "sqrtf") : (isDouble ? "ddiv" : "fdiv"));
        break;
    }
    case Action::Multiply:
        add(counterOf(Action::Multiply, isDouble), instruction.lanes);
        products_[target] = uses_.size() - 1;
        break;
    case Action::Fuse:
        add(counterOf(Action::Fuse, isDouble), instruction.lanes);
        products_.erase(target);
        break;
    case Action::Add: {
        std::size_t product = uses_.size();
        for (const auto source : instruction.sources) {
            if (product == uses_.size())
                product =
                    productIn(source, counterOf(Action::Multiply, isDouble), instruction.lanes);
        }
        const bool isFused = product != uses_.size();
        if (isFused)
            uses_[product].count -= instruction.lanes;
        add(counterOf(isFused ? Action::Fuse : Action::Add, isDouble), instruction.lanes);
        products_.erase(target);
        break;
    }
    }
}

void ArithmeticReader::function(std::string_view name) {
    const auto cost = costOf(name);
    if (!cost)
        return;
    for (const OperationCost& operation : cost->operations)
        add(operation.counter, operation.count);
    if (cost->endsInProduct)
        products_["xmm0"] = products_["v0"] = uses_.size() - 1;
}

/// Registers that a call may change; on AArch64 half of v8 to v15 is kept, which holds a value.
void ArithmeticReader::called() {
    static constexpr auto kept = std::to_array<std::string_view>(
        {"bx",  "bp",  "r12", "r13", "r14", "r15", "v8",  "v9",  "v10", "v11", "v12", "v13",
         "v14", "v15", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28"});
    std::erase_if(products_, [](const auto& held) {
        const bool isSlot = held.first.find('(') != std::string::npos || held.first.front() == '[';
        return !isSlot && std::ranges::find(kept, held.first) == kept.end();
    });
}

void ArithmeticReader::copy(std::string_view from, std::string_view to) {
    const auto target = locationOf(to);
    if (target.empty())
        return;
    const auto held = products_.find(locationOf(from));
    if (held == products_.end())
        products_.erase(target);
    else
        products_[target] = held->second;
}

void ArithmeticReader::add(Counter counter, std::uint32_t count) {
    uses_.push_back({*block_, line_, counter, count});
}

std::size_t ArithmeticReader::productIn(std::string_view operand, Counter kind,
                                        std::uint32_t lanes) const {
    const auto held = products_.find(locationOf(operand));
    if (held == products_.end())
        return uses_.size();
    const ArithmeticUse& product = uses_[held->second];
    return product.counter == kind && product.count >= lanes ? held->second : uses_.size();
}

} // namespace

std::vector<ArithmeticUse> arithmeticOf(const std::vector<AssemblyLine>& lines,
                                        std::string_view userMarker, std::string_view prelude,
                                        std::string_view blockHook) {
    return ArithmeticReader(lines, userMarker, prelude, blockHook).run();
}

} // namespace kernelskill::engine
