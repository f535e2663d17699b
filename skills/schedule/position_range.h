/// The values that positions of a kernel have, where types, guards, loops and the launches of the
/// file tell.
#pragma once

#include "analysis/queries/launch_values.h"
#include "analysis/queries/value_range.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// A number of 64 bits.
[[nodiscard]] bool isWideInteger(const analysis::Type& type);

/// Unlike valueRangeOf(), this follows early returns, loops over the grid, variables that divisions
/// make smaller, and what launches pass. Keeps references to the context's models.
class PositionRanges {
public:
    explicit PositionRanges(const SkillContext& context);

    /// Of an integral expression where it stands. nullopt: not known to be within 63 bits, or as
    /// wide as its type of 64 bits.
    [[nodiscard]] std::optional<analysis::ValueRange> of(analysis::ExprId expr) const;

    /// A parameter of 64 bits of which the launches tell nothing that bounds an expression looked
    /// at so far; noId: none.
    [[nodiscard]] analysis::VariableId unbounded() const { return unbounded_; }

private:
    using Range = std::optional<analysis::ValueRange>;

    [[nodiscard]] Range ofExpr(analysis::ExprId expr, int depth) const;
    [[nodiscard]] Range ofWide(analysis::ExprId expr, int depth) const;
    [[nodiscard]] Range ofVariable(analysis::ExprId use, int depth) const;
    [[nodiscard]] Range ofDefinitions(analysis::VariableId variable, int depth) const;
    [[nodiscard]] bool makesSmaller(const analysis::Expr& operation, int depth) const;
    [[nodiscard]] bool isSmallerSelf(analysis::VariableId variable, const analysis::Expr& write,
                                     int depth) const;
    [[nodiscard]] Range ofParameter(analysis::VariableId parameter) const;
    [[nodiscard]] Range passedBy(const analysis::LaunchSite& launch,
                                 analysis::VariableId parameter) const;
    [[nodiscard]] Range builtin(const analysis::Expr& expr) const;
    [[nodiscard]] Range combined(std::string_view op, const Range& a, const Range& b) const;

    /// What the variable is below wherever `use` stands.
    [[nodiscard]] std::vector<analysis::ExprId> limitsAt(analysis::ExprId use) const;
    void addLimits(analysis::ExprId condition, bool holds, analysis::VariableId variable,
                   std::vector<analysis::ExprId>& limits) const;
    [[nodiscard]] bool isKept(analysis::StmtId scope, std::uint32_t begin,
                              analysis::ExprId use) const;

    const SkillContext& context_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    std::vector<analysis::LaunchValues> launches_; ///< Empty: not all are known.
    mutable std::map<analysis::ExprId, Range> known_;
    mutable analysis::VariableId unbounded_ = analysis::noId;
};

} // namespace kernelskill::skills
