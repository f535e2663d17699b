/// The pieces of text that a tiled kernel is made of.
#pragma once

#include "skills/schedule/tile_names.h"
#include "skills/schedule/tile_shape.h"

#include <set>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Keeps references to what it is given.
class TileText {
public:
    TileText(const SkillContext& context, const Contraction& found, const TileShape& shape);

    [[nodiscard]] const TileNames& names() const { return names_; }
    [[nodiscard]] const AxisNames& axisNames(AxisSet axis) const;
    [[nodiscard]] const OutputAxis& outputAxis(AxisSet axis) const;
    [[nodiscard]] int outputsAlong(AxisSet axis) const;

    [[nodiscard]] OutputRole roleOf(analysis::VariableId id) const;
    [[nodiscard]] AxisSet dependsOn(analysis::VariableId id) const;
    /// It stands once for all outputs of a thread.
    [[nodiscard]] bool staysOnce(analysis::VariableId id) const;
    /// Its initialiser does.
    [[nodiscard]] bool readsMemory(analysis::VariableId id) const;
    /// Its initialiser, if it has one.
    [[nodiscard]] std::vector<analysis::ExprId> initialiser(analysis::VariableId id) const;
    [[nodiscard]] bool isZero(analysis::ExprId expr) const;
    /// A number of a built-in type that 0 converts to.
    [[nodiscard]] static bool isArithmetic(const analysis::Type& type);

    /// The definition of a variable alone.
    [[nodiscard]] std::string definition(analysis::VariableId id) const;
    /// The definition of what the outputs of a thread have, 0 at first: one for each position on
    /// these axes.
    [[nodiscard]] std::string arrayOf(const std::string& name, const std::string& type,
                                      AxisSet axes) const;
    /// The subscripts of one output's.
    [[nodiscard]] std::string suffix(AxisSet axes) const;
    /// The text with the names that outputs have for their own values.
    [[nodiscard]] std::string textWith(analysis::Span span) const;
    /// An operand's value for an output.
    [[nodiscard]] std::string valueText(std::size_t loop, std::size_t operand) const;
    /// The output's place among those of the block.
    [[nodiscard]] std::string placeAlong(AxisSet axis) const;
    /// The first position of a block.
    [[nodiscard]] std::string beginText(AxisSet axis) const;
    /// To stand beside a comparison or a sum.
    [[nodiscard]] std::string boundText(analysis::ExprId bound) const;
    /// The axes whose positions the edit has to bound itself.
    [[nodiscard]] AxisSet unboundedAxes() const;
    /// Behind the last position on an axis that is not bounded.
    [[nodiscard]] std::string endText(AxisSet axis) const;
    /// The conditions of a guard that positions on these axes alone decide, and the bounds of those
    /// that are not bounded.
    [[nodiscard]] std::vector<std::string> guardTexts(const std::vector<GuardClause>& guard,
                                                      AxisSet allowed) const;
    /// The columns of flat outputs, to stand beside a product.
    [[nodiscard]] std::string columnsText() const;

    /// The variables that differ between outputs which code uses, and those that they follow from.
    [[nodiscard]] std::set<analysis::VariableId>
    neededBy(const std::vector<analysis::ExprId>& roots) const;
    /// As neededBy(), of these expressions alone and not of what is below them.
    [[nodiscard]] std::set<analysis::VariableId>
    usedBy(const std::vector<analysis::ExprId>& all) const;
    /// What a load of a tile's element needs. Also what follows from positions of which a thread
    /// has one alone: the tile has others.
    [[nodiscard]] std::set<analysis::VariableId>
    stagedFrom(const std::vector<analysis::ExprId>& roots) const;
    /// Those that are defined again wherever they are needed, in order.
    [[nodiscard]] std::vector<analysis::VariableId>
    derivedIn(const std::set<analysis::VariableId>& needed) const;
    /// The expression is part of an operand, or of an element that is kept.
    [[nodiscard]] bool isWithinOperand(const TermLoop& loop, analysis::ExprId use) const;

private:
    [[nodiscard]] std::string clauseText(const GuardClause& clause) const;
    [[nodiscard]] AxisSet tiledAxes() const;
    [[nodiscard]] bool isLeftOver(analysis::VariableId id) const;
    [[nodiscard]] int groupAlong(AxisSet axis) const;

    const Contraction& found_;
    const TileShape& shape_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    const analysis::SourceText& source_;
    TileNames names_;
};

} // namespace kernelskill::skills
