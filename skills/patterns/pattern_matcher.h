/// Where a pattern's code stands in a kernel.
#pragma once

#include "analysis/model/kernel_model.h"
#include "skills/patterns/code_pattern.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::skills {

struct PatternMatch {
    analysis::Span span;
    std::vector<analysis::Span> bindings; ///< Per metavariable.
};

/// The kernel's tokens beside its syntax tree, for any number of patterns. Keeps references to both
/// models.
class PatternMatcher {
public:
    PatternMatcher(const analysis::FileModel& file, const analysis::KernelModel& kernel);

    /// Matches that do not overlap, in the order of the source. A match stands for itself: its
    /// tokens are those of the pattern, white space aside; each metavariable is what its kind says
    /// in the syntax tree, and the same code wherever it stands twice; the whole is one expression
    /// of the tree, or whole statements of one block. No comment, and nothing out of a macro's
    /// definition, would be lost.
    [[nodiscard]] std::vector<PatternMatch> matches(const CodePattern& pattern) const;

    /// The tokens of the kernel's body.
    [[nodiscard]] const std::vector<analysis::Token>& tokens() const { return tokens_; }
    /// The first of the tokens that a match is made of, and the one behind them.
    [[nodiscard]] std::pair<std::size_t, std::size_t> tokensOf(analysis::Span match) const;

private:
    struct Attempt;

    /// The token behind the one that ends at `offset`; nullopt where none ends there.
    [[nodiscard]] std::optional<std::size_t> tokenAfter(std::uint32_t offset) const;
    /// The expressions that begin at `offset`; an empty range where none does.
    [[nodiscard]] auto expressionsFrom(std::uint32_t offset) const {
        return std::ranges::equal_range(expressions_, offset, {},
                                        [](const auto& entry) { return entry.first.begin; });
    }
    [[nodiscard]] auto statementsFrom(std::uint32_t offset) const {
        return std::ranges::equal_range(statements_, offset, {},
                                        [](const auto& entry) { return entry.first; });
    }
    [[nodiscard]] analysis::Span spanOf(std::size_t first, std::size_t end) const;
    [[nodiscard]] std::vector<std::size_t> endsOf(const Metavariable& metavariable,
                                                  std::size_t first) const;
    [[nodiscard]] std::vector<std::size_t> expressionEnds(const Metavariable& metavariable,
                                                          std::size_t first) const;
    [[nodiscard]] std::vector<std::size_t> typeEnds(std::size_t first) const;
    [[nodiscard]] std::vector<std::size_t> statementEnds(std::size_t first, bool mayBeMany) const;
    [[nodiscard]] analysis::ExprId expressionOf(std::size_t first, std::size_t end) const;
    [[nodiscard]] bool isExpressionStart(std::size_t first) const;
    [[nodiscard]] bool areStatements(std::size_t first, std::size_t end) const;
    [[nodiscard]] bool isPure(analysis::ExprId expr) const;
    [[nodiscard]] bool holds(Attempt& attempt, std::size_t place, std::size_t token) const;
    [[nodiscard]] bool isAcceptable(const Attempt& attempt, std::size_t end) const;
    [[nodiscard]] bool losesComment(const Attempt& attempt, std::size_t end) const;

    const analysis::FunctionBody& body_;
    std::string_view text_;
    std::vector<analysis::Token> tokens_;
    std::vector<std::pair<analysis::Span, analysis::ExprId>> expressions_; ///< Sorted.
    std::vector<std::pair<std::uint32_t, analysis::StmtId>> statements_;   ///< Sorted by begin.
};

} // namespace kernelskill::skills
