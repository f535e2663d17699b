/// The loops that a tiled kernel is made of: over tiles of terms, and over the outputs of a thread.
#pragma once

#include "skills/editing/code_lines.h"
#include "skills/schedule/tile_text.h"

#include <set>
#include <vector>

namespace kernelskill::skills {

/// Loops over the outputs of a thread. Keeps references to what it is given.
class OutputLoops {
public:
    OutputLoops(CodeLines& lines, const TileText& text) : lines_(lines), text_(text) {}

    /// Positions are defined where `needed`. The innermost loop has no brackets if its body is one
    /// line.
    void open(const std::set<analysis::VariableId>& needed, bool isLine);
    /// Defines variables again: those whose values come from memory, or the others.
    void addDerived(const std::vector<analysis::VariableId>& derived, bool ofMemory);
    void close();

private:
    CodeLines& lines_;
    const TileText& text_;
    std::vector<bool> isBlock_; ///< The loops that are open.
};

/// The conditions that positions on these axes alone decide.
[[nodiscard]] std::vector<analysis::ExprId> clausesOn(const std::vector<GuardClause>& guard,
                                                      AxisSet allowed);

/// Writes a loop over terms: it stages tiles where `guard` holds, and adds the terms of a tile to
/// the outputs of a thread.
void addTermLoop(CodeLines& lines, const SkillContext& context, const Contraction& found,
                 const TileShape& shape, const TileText& text,
                 const std::vector<GuardClause>& guard, analysis::StmtId loop);

} // namespace kernelskill::skills
