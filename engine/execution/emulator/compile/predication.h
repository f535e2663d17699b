/// Finds branches of the host's code that a GPU's compiler would replace by predicates.
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

/// The parts of a line of GNU assembly.
struct AssemblyLine {
    std::string_view text; ///< As written, without its line end.
    std::string_view word; ///< The instruction or directive; a label includes its colon.
    std::string_view rest; ///< The operands.
};

[[nodiscard]] std::vector<AssemblyLine> assemblyLines(std::string_view assembly);

/// Whether it is a conditional branch or a jump through a table, on x86-64 or AArch64.
[[nodiscard]] bool isBranch(const AssemblyLine& line);

/// Whether it is an unconditional jump to one place.
[[nodiscard]] bool isJump(const AssemblyLine& line);

/// Finds the branches that do not split a warp on a GPU. One kind is a branch over a few
/// instructions that neither loop nor wait for other threads: they become predicated. The other is
/// a branch to the function's end, which becomes a predicated exit. The limits were measured from
/// ptxas (tests/accuracy).
class Predication {
public:
    /// `lines` outlive the object.
    explicit Predication(const std::vector<AssemblyLine>& lines);

    [[nodiscard]] bool isPredicated(std::size_t branch) const;

private:
    [[nodiscard]] bool isShort(std::size_t begin, std::size_t end) const;
    [[nodiscard]] bool isShortBefore(std::size_t branch, std::size_t target) const;
    [[nodiscard]] bool isShortElsewhere(std::size_t begin, std::size_t branch) const;
    [[nodiscard]] bool isExit(std::size_t from) const;
    /// The line of a jump's label; lines_.size() if there is none.
    [[nodiscard]] std::size_t targetOf(const AssemblyLine& jump) const;

    const std::vector<AssemblyLine>& lines_;
    std::map<std::string_view, std::size_t> labels_;
};

} // namespace kernelskill::engine
