/// The text of a copy's statements where its positions are those of a tile.
#pragma once

#include "analysis/queries/source_layout.h"
#include "skills/shared-memory-transpose/crossed_copy.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Keeps references to what it is given. The first thing that cannot be written is kept as a
/// refusal, and what is written from then on is of no use.
class CopyText {
public:
    CopyText(const SkillContext& context, const CrossedCopy& copy);

    [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }
    /// A name that the kernel does not have, and that was not given before.
    [[nodiscard]] std::string fresh(const std::string& wanted);
    /// "xBegin" or "x_begin", as the kernel has its names.
    [[nodiscard]] std::string joined(const std::string& name, std::string_view word) const;

    /// The digits of the tiled axes, highest first, and how they are called.
    struct NamedDigit {
        const CopyDigit* digit = nullptr;
        std::string name;
        analysis::Type type;
        std::string typeText;
    };
    [[nodiscard]] const NamedDigit& named(const CopyDigit& digit) const;
    /// A type for numbers of elements and tiles.
    [[nodiscard]] const std::string& countType() const { return countType_; }
    /// The end of the digit's values, as an operand of a sum or a comparison; empty if unknown.
    [[nodiscard]] std::string extent(const CopyDigit& digit);
    /// The same, as an operand of any operator.
    [[nodiscard]] std::string factor(const CopyDigit& digit);
    /// The positions of all threads that position numbers through.
    [[nodiscard]] std::string launchedPositions() const;
    [[nodiscard]] std::string product(const SizeProduct& product);
    /// A slice of the position by the digits that it has.
    [[nodiscard]] std::string sliceText(const PositionSlice& slice, const analysis::Type& type);

    /// Stands where the kernel has it, or in front of all tiles.
    [[nodiscard]] bool staysOnce(analysis::StmtId declaration) const {
        return once_.contains(declaration);
    }

    /// The text of `span`, and the variables that it needs. `replacement` gives the text that
    /// stands for an expression; empty: its own.
    using Replacement = std::function<std::string(analysis::ExprId)>;
    [[nodiscard]] std::string text(analysis::Span span,
                                   const std::vector<analysis::ExprId>& expressions,
                                   const Replacement& replacement);
    [[nodiscard]] std::string text(analysis::ExprId expr, const Replacement& replacement = {});
    /// The declarations of what is needed, in text that stands by itself; the initialiser's needs
    /// count as needed, too.
    [[nodiscard]] std::vector<std::string> declarations(analysis::StmtId statement,
                                                        const Replacement& replacement);
    [[nodiscard]] std::string conditionText(const CopyClause& clause);
    [[nodiscard]] std::set<analysis::VariableId>& needed() { return needed_; }

    /// The variable is followed through its changes and written by what it holds.
    [[nodiscard]] bool isWrittenByValue(analysis::VariableId variable) const;
    /// One of the digits' variables.
    [[nodiscard]] bool isDigit(analysis::VariableId variable) const;

private:
    void refuseOnce(std::string gate, std::string reason);
    void findOnce();
    [[nodiscard]] bool isOfBlock(analysis::ExprId id) const;
    [[nodiscard]] bool isTiled(std::uint8_t axis) const;
    [[nodiscard]] bool staysValid(const analysis::Expr& builtin) const;
    void collect(analysis::ExprId id, const Replacement& replacement,
                 std::vector<analysis::TextEdit>& parts);
    bool collectSplit(analysis::ExprId id, const Replacement& replacement,
                      std::vector<analysis::TextEdit>& parts);
    void replace(analysis::ExprId id, std::string text, std::vector<analysis::TextEdit>& parts);
    [[nodiscard]] std::string lineOf(analysis::ExprId id) const;

    const SkillContext& context_;
    const CrossedCopy& copy_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    const analysis::SourceText& source_;
    bool hasUnderscores_ = false;
    std::set<std::string> taken_;
    std::vector<NamedDigit> digits_;
    std::string countType_;
    std::set<analysis::StmtId> once_;
    std::set<analysis::VariableId> needed_;
    std::optional<Refusal> refusal_;
};

} // namespace kernelskill::skills
