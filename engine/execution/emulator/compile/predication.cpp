#include "engine/execution/emulator/compile/predication.h"

#include "analysis/source/trimmed.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kernelskill::engine {
namespace {

/// The maximum number of accesses and arithmetic operations that are predicated instead of branched
/// over. Fitted to Nsight Compute's counts for the kernels of tests/accuracy.
constexpr unsigned maxPredicated = 24;
/// The cost of a mathematical function, which is inlined on a GPU.
constexpr unsigned costOfCall = 8;

bool isSpace(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool isCall(const AssemblyLine& line) {
    return isAnyOf(line.word, {"call", "callq", "bl"});
}

bool isReturn(const AssemblyLine& line) {
    return isAnyOf(line.word, {"ret", "retq"});
}

bool isBlockHook(std::string_view callee) {
    return callee.starts_with("__sanitizer_cov") || callee.starts_with("ks_foreign_block");
}

/// Moves do not count: the host needs them for hooks and registers.
bool isMove(std::string_view word) {
    return word.starts_with("mov") || word.starts_with("lea") ||
           isAnyOf(word, {"push", "pushq", "pop", "popq", "ldr", "str", "ldp", "stp", "adrp"});
}

} // namespace

std::vector<AssemblyLine> assemblyLines(std::string_view assembly) {
    std::vector<AssemblyLine> lines;
    while (!assembly.empty()) {
        const auto end = std::min(assembly.find('\n'), assembly.size());
        AssemblyLine line{assembly.substr(0, end), {}, {}};
        const auto text = analysis::trimmed(line.text);
        const auto space = std::ranges::find_if(text, isSpace);
        line.word = text.substr(0, static_cast<std::size_t>(space - text.begin()));
        line.rest = analysis::trimmed(text.substr(line.word.size()));
        lines.push_back(line);
        assembly.remove_prefix(std::min(end + 1, assembly.size()));
    }
    return lines;
}

bool isJump(const AssemblyLine& line) {
    return isAnyOf(line.word, {"jmp", "b"}) && !line.rest.starts_with('*');
}

bool isBranch(const AssemblyLine& line) {
    if (line.word == "jmp")
        return line.rest.starts_with('*');
    return (line.word.starts_with('j') && !line.word.ends_with(':')) ||
           line.word.starts_with("b.") || isAnyOf(line.word, {"cbz", "cbnz", "tbz", "tbnz", "br"});
}

Predication::Predication(const std::vector<AssemblyLine>& lines) : lines_(lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].word.ends_with(':'))
            labels_.emplace(lines[i].word.substr(0, lines[i].word.size() - 1), i);
    }
}

std::size_t Predication::targetOf(const AssemblyLine& jump) const {
    const auto comma = jump.rest.rfind(',');
    const auto name = analysis::trimmed(
        comma == std::string_view::npos ? jump.rest : jump.rest.substr(comma + 1));
    const auto found = labels_.find(name);
    return found == labels_.end() ? lines_.size() : found->second;
}

bool Predication::isPredicated(std::size_t branch) const {
    const std::size_t target = targetOf(lines_[branch]);
    if (target == lines_.size())
        return false; // A jump through a table.
    if (target < branch)
        return isShortBefore(branch, target);
    return isExit(target) || isShort(branch + 1, target) || isShortElsewhere(target, branch);
}

/// Whether a backward jump is no loop, but reaches a short body before the branch, or one of two
/// bodies that meet. The code after an `if` at the end of a loop's body may be placed before it.
bool Predication::isShortBefore(std::size_t branch, std::size_t target) const {
    for (std::size_t i = branch + 1; i < lines_.size(); ++i) {
        const AssemblyLine& line = lines_[i];
        if (isReturn(line) || isBranch(line) || line.word == ".cfi_endproc")
            return false;
        if (!isJump(line))
            continue;
        const std::size_t join = targetOf(line);
        return join >= target && join < branch && isShort(target, join) && isShort(branch + 1, i);
    }
    return false;
}

/// Whether an out-of-line body from `begin` on returns to the code after the branch, or to the end
/// of a short body there.
bool Predication::isShortElsewhere(std::size_t begin, std::size_t branch) const {
    for (std::size_t i = begin; i < lines_.size(); ++i) {
        const AssemblyLine& line = lines_[i];
        if (isReturn(line) || line.word == ".cfi_endproc")
            return false;
        if (!isJump(line))
            continue;
        const std::size_t back = targetOf(line);
        return back > branch && back < begin && isShort(begin, i) && isShort(branch + 1, back);
    }
    return false;
}

/// Whether only the function's exit follows.
bool Predication::isExit(std::size_t from) const {
    for (std::size_t i = from; i < lines_.size(); ++i) {
        const AssemblyLine& line = lines_[i];
        if (isReturn(line))
            return true;
        if (isBranch(line) || isJump(line) || line.word == ".cfi_endproc" ||
            (isCall(line) && !isBlockHook(line.rest)))
            return false;
    }
    return false;
}

bool Predication::isShort(std::size_t begin, std::size_t end) const {
    unsigned cost = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const AssemblyLine& line = lines_[i];
        if (line.word.empty() || line.word.front() == '.' || line.word.front() == '#' ||
            line.word.ends_with(':'))
            continue;
        if (isBranch(line) || isJump(line)) {
            const std::size_t target = targetOf(line);
            if (target == lines_.size() || target < i)
                return false;
            // The end of a body that has an else.
            if (target > end && isJump(line) && !isExit(target)) {
                if (target > end + (end - begin) * 4)
                    return false;
                end = target;
            }
        } else if (isCall(line)) {
            if (line.rest.starts_with("__tsan_"))
                ++cost;
            else if (line.rest.starts_with("ks_") && !isBlockHook(line.rest) &&
                     !line.rest.starts_with("ks_lane") && !line.rest.starts_with("ks_atomic"))
                return false; // It may wait for other threads.
            else if (!isBlockHook(line.rest) && !line.rest.starts_with("__tls_get_addr"))
                cost += costOfCall;
        } else if (isReturn(line)) {
            return cost <= maxPredicated;
        } else if (!isMove(line.word)) {
            ++cost;
        }
        if (cost > maxPredicated)
            return false;
    }
    return true;
}

} // namespace kernelskill::engine
