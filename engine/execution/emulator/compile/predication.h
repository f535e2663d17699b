/// Branches of the host's code that a GPU's compiler would make into predicates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

[[nodiscard]] inline bool isAnyOf(std::string_view word,
                                  std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

/// A line of GNU assembly, taken apart.
struct AssemblyLine {
    std::string_view text; ///< As it stands, without its end.
    std::string_view word; ///< Instruction or directive; a label with its colon.
    std::string_view rest; ///< Operands.
};

[[nodiscard]] std::vector<AssemblyLine> assemblyLines(std::string_view assembly);

/// Conditional branches and jumps through a table, on x86-64 and AArch64.
[[nodiscard]] bool isBranch(const AssemblyLine& line);

[[nodiscard]] bool isJump(const AssemblyLine& line); ///< To one place, always.

/// Which branches leave the warp together on a GPU: one over a few instructions that neither loop
/// nor wait for other threads, whose instructions are predicated, and one to the function's end,
/// which becomes a predicated exit. Where ptxas draws the line was measured
/// (tests/accuracy).
class Predication {
public:
    /// `lines` outlive it.
    explicit Predication(const std::vector<AssemblyLine>& lines);

    [[nodiscard]] bool isPredicated(std::size_t branch) const;

private:
    [[nodiscard]] bool isShort(std::size_t begin, std::size_t end) const;
    [[nodiscard]] bool isShortBefore(std::size_t branch, std::size_t target) const;
    [[nodiscard]] bool isShortElsewhere(std::size_t begin, std::size_t branch) const;
    [[nodiscard]] bool isExit(std::size_t from) const;
    /// Line of the label that a jump names; lines_.size() when there is none.
    [[nodiscard]] std::size_t targetOf(const AssemblyLine& jump) const;

    const std::vector<AssemblyLine>& lines_;
    std::map<std::string_view, std::size_t> labels_;
};

} // namespace kernelskill::engine
