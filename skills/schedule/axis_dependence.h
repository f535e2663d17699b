/// Which positions of an output the values of a kernel depend on.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/schedule/output_axes.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// A set of axes.
using AxisSet = std::uint8_t;
inline constexpr AxisSet slowAxis = 1;
inline constexpr AxisSet fastAxis = 2;
inline constexpr AxisSet termAxis = 4; ///< The rounds of the loop that sums terms.
inline constexpr AxisSet outputAxesSet = slowAxis | fastAxis;

/// Follows definitions, assignments and the conditions around them. Keeps references to what it is
/// given.
class AxisDependence {
public:
    /// `loop` is a statement whose rounds, and those of its neighbours, are the terms. Conditions
    /// around it are guards and decide no value.
    AxisDependence(const analysis::KernelModel& kernel, const analysis::CodeMap& code,
                   const OutputAxes& axes, analysis::StmtId loop);

    [[nodiscard]] AxisSet of(analysis::ExprId expr) const;
    [[nodiscard]] AxisSet ofVariable(analysis::VariableId id) const { return variables_[id]; }

private:
    [[nodiscard]] AxisSet definitionsOf(analysis::VariableId id) const;
    [[nodiscard]] AxisSet conditionsAround(analysis::StmtId statement) const;

    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    const OutputAxes& axes_;
    analysis::StmtId loop_;
    std::vector<AxisSet> variables_;
};

} // namespace kernelskill::skills
