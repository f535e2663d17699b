/// Text of the rounds of a staged loop, for rewrites that bring the tile of another round than the
/// one that runs.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "skills/base/skill.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/staged_loop.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

class StagedRounds {
public:
    /// Keeps references to all three.
    StagedRounds(const SkillContext& context, const analysis::CodeMap& code,
                 const StagedLoop& staged);

    [[nodiscard]] const analysis::SourceLayout& layout() const { return layout_; }
    /// Start of the line that the loop, or the pragma in front of it, begins on.
    [[nodiscard]] std::uint32_t begin() const;
    /// Lines as deep as the loop, and as deep as the barrier in it.
    [[nodiscard]] CodeLines linesAhead() const;
    [[nodiscard]] CodeLines linesInside() const;

    /// Opens a block for the first round, if there is one, with what it needs to be told of it.
    /// Returns the name of the index there.
    std::string openFirst(CodeLines& lines) const;
    /// Opens a block for the round after the one that runs, if there is one. Returns the name of
    /// its index.
    std::string openNext(CodeLines& lines) const;
    /// Declarations that the elements follow from, in the round that `round` names; with their
    /// comments or not.
    void addDeclarations(CodeLines& lines, const std::string& round, bool withComments) const;

    /// The text of `span` with the loop's index under another name, and `parts` of it replaced.
    [[nodiscard]] std::string inRound(analysis::Span span, const std::string& round,
                                      std::vector<analysis::TextEdit> parts = {}) const;
    /// Edits that take the declarations away which nothing but the elements' values uses.
    [[nodiscard]] std::vector<analysis::TextEdit> withoutDeclarations() const;
    /// The statement with its line and the comment behind it.
    [[nodiscard]] analysis::Span lineOf(analysis::StmtId statement) const;

private:
    [[nodiscard]] bool isNeededElsewhere(analysis::StmtId declaration) const;
    [[nodiscard]] const analysis::Variable& index() const;
    [[nodiscard]] std::string indexType() const;
    [[nodiscard]] std::string step() const;
    [[nodiscard]] std::string limit() const;

    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    const analysis::SourceText& source_;
    analysis::SourceLayout layout_;
    const StagedLoop& staged_;
    const analysis::Loop& loop_;
    const analysis::Stmt& stmt_;
};

} // namespace kernelskill::skills
