/// Integers of a kernel as sums over the digits of its threads' positions: what `/` and `%` take
/// out of the number of a thread in the grid, and the positions themselves.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A product of sizes that all threads of a launch agree on.
struct SizeProduct {
    std::int64_t factor = 1;
    analysis::Monomial sizes; ///< Sorted.

    bool operator==(const SizeProduct&) const = default;
    [[nodiscard]] bool isOne() const { return factor == 1 && sizes.empty(); }
    [[nodiscard]] SizeProduct operator*(const SizeProduct& other) const;
    /// nullopt where `divisor` is no part of the product.
    [[nodiscard]] std::optional<SizeProduct> dividedBy(const SizeProduct& divisor) const;
};

/// The axis of positions that number the blocks of x and y through.
inline constexpr std::uint8_t flatAxis = 3;

/// `position / low % (high / low)` of the position of a thread along an axis of the grid.
struct PositionSlice {
    std::uint8_t axis = 0;
    SizeProduct low;
    std::optional<SizeProduct> high; ///< nullopt: up to the last position.

    bool operator==(const PositionSlice&) const = default;
    [[nodiscard]] bool isWhole() const { return low.isOne() && !high; }
};

/// Reads the integers of a kernel once: statements are given in the order in which they run. Keeps
/// references to the context's models.
class PositionDigits {
public:
    /// `block` is that of all launches, if they have one in common.
    PositionDigits(const SkillContext& context, std::optional<analysis::Extents> block);

    /// Reads the expressions of a condition or an initialiser.
    void read(analysis::ExprId expr);
    /// Reads a declaration or an expression.
    void readStatement(analysis::StmtId statement);
    /// From here on the variable holds the position along an axis.
    void start(analysis::VariableId variable, std::uint8_t axis);

    /// nullopt where the number is not known, or was not read.
    [[nodiscard]] const analysis::IndexExpression* value(analysis::ExprId expr) const;
    /// The variable's value behind the last statement that was read; nullptr if unknown.
    [[nodiscard]] const analysis::IndexExpression* held(analysis::VariableId variable) const;
    /// Whether the variable's value is known at each place.
    [[nodiscard]] bool isFollowed(analysis::VariableId variable) const {
        return held_.contains(variable) && !lost_.contains(variable);
    }
    /// The element that a subscript, a dereference or a pointer leads to, from where the pointer of
    /// `base` points to.
    struct Place {
        analysis::VariableId base = analysis::noId;
        analysis::IndexExpression index;
    };
    [[nodiscard]] std::optional<Place> placeOf(analysis::ExprId access) const;

    /// The slice that the number is, if it is one and nothing else.
    [[nodiscard]] const PositionSlice* sliceIn(const analysis::IndexExpression& value) const;
    [[nodiscard]] const PositionSlice* slice(analysis::Symbol symbol) const;
    [[nodiscard]] const std::vector<PositionSlice>& slices() const { return slices_; }
    [[nodiscard]] static analysis::Symbol symbolOf(std::size_t slice) {
        return {analysis::SymbolKind::Named, static_cast<std::uint32_t>(slice)};
    }
    /// The slice, added if it is new.
    [[nodiscard]] analysis::Symbol intern(const PositionSlice& slice);
    /// The number as a product of sizes; nullopt where it was not read, or threads have others.
    [[nodiscard]] std::optional<SizeProduct> product(analysis::ExprId expr);
    /// All threads of a launch have the same number.
    [[nodiscard]] bool isSize(const analysis::IndexExpression& value) const;
    /// As text; the names are those of parameters and variables that never change.
    [[nodiscard]] std::string text(const SizeProduct& product) const;
    /// Variables that the text of a product names.
    [[nodiscard]] std::vector<analysis::VariableId> named(const SizeProduct& product) const;

private:
    using Value = std::optional<analysis::IndexExpression>;

    Value evaluate(analysis::ExprId id);
    Value variable(const analysis::Expr& expr);
    Value binary(analysis::ExprId id, const analysis::Expr& expr);
    /// The divisor, whose value was read of expression `id`, as a product of sizes.
    std::optional<SizeProduct> sizeOf(const analysis::IndexExpression& divisor,
                                      analysis::ExprId id);
    Value quotient(const analysis::IndexExpression& value, const analysis::IndexExpression& divisor,
                   analysis::ExprId id);
    Value remainder(const analysis::IndexExpression& value,
                    const analysis::IndexExpression& divisor, analysis::ExprId id);
    void assign(analysis::ExprId id);
    void lose(analysis::VariableId variable);
    Value atom(analysis::ExprId id);
    /// The number that all launches give a template parameter.
    [[nodiscard]] std::optional<std::int64_t> instantiated(analysis::ExprId atom) const;
    /// The terms of a sum that are a position.
    struct PositionTerms {
        std::uint8_t axis = 0;
        std::vector<analysis::Monomial> terms;
    };
    [[nodiscard]] std::optional<PositionTerms>
    positionIn(const analysis::IndexExpression& value) const;
    analysis::IndexExpression normalised(analysis::IndexExpression value);
    [[nodiscard]] std::optional<Place> pointer(analysis::ExprId id, int depth) const;

    const SkillContext& context_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    std::optional<analysis::Extents> block_;
    std::array<bool, 3> isBare_{}; ///< One thread a block along the axis: blockIdx is the position.
    std::map<analysis::ExprId, analysis::IndexExpression> values_;
    std::map<analysis::VariableId, analysis::IndexExpression> held_;
    std::set<analysis::VariableId> lost_; ///< Their values are unknown at some place.
    std::vector<PositionSlice> slices_;
    std::vector<analysis::ExprId> atoms_; ///< Sizes that their text alone tells.
};

} // namespace kernelskill::skills
