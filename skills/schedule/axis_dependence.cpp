#include "skills/schedule/axis_dependence.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

AxisDependence::AxisDependence(const KernelModel& kernel, const CodeMap& code,
                               const OutputAxes& axes, StmtId loop)
    : code_(code), body_(code.body()), axes_(axes), loop_(loop),
      variables_(body_.variables.size()) {
    std::vector<bool> isFixed(variables_.size());
    const auto fix = [&](VariableId id, AxisSet set) {
        variables_[id] = set;
        isFixed[id] = true;
    };
    fix(axes.slow.variable, slowAxis);
    fix(axes.fast.variable, fastAxis);
    if (axes.flat)
        fix(axes.flat->index, outputAxesSet);
    for (const Loop& each : kernel.loops)
        if (each.inductionVariable != noId &&
            body_.stmt(each.statement).parent == body_.stmt(loop).parent)
            fix(each.inductionVariable, termAxis);
    for (const VariableId position : axes.positions)
        fix(position, outputAxesSet);
    for (bool isNew = true; isNew;) {
        isNew = false;
        for (VariableId id = 0; id < variables_.size(); ++id) {
            if (isFixed[id])
                continue;
            const AxisSet found = variables_[id] | definitionsOf(id);
            isNew |= found != variables_[id];
            variables_[id] = found;
        }
    }
}

AxisSet AxisDependence::of(ExprId root) const {
    AxisSet set = 0;
    for (const ExprId id : code_.expressionsBelow(root)) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Variable && expr.variable != noId)
            set |= variables_[expr.variable];
        else if (expr.kind == ExprKind::BuiltinIndex &&
                 (expr.name == "threadIdx" ||
                  (expr.name == "blockIdx" &&
                   (expr.axis == axes_.slow.gridAxis || expr.axis == axes_.fast.gridAxis))))
            set |= outputAxesSet;
    }
    return set;
}

AxisSet AxisDependence::definitionsOf(VariableId id) const {
    AxisSet set = 0;
    if (const ExprId init = body_.variable(id).init;
        init != noId && body_.variable(id).storage == Storage::Local)
        set |= of(init);
    for (const ExprId use : code_.uses(id)) {
        if (!code_.isWrite(use))
            continue;
        ExprId top = use;
        while (code_.parent(top) != noId)
            top = code_.parent(top);
        set |= of(top) | conditionsAround(code_.statement(use));
        if (code_.holds(loop_, use))
            set |= outputAxesSet;
    }
    return set;
}

AxisSet AxisDependence::conditionsAround(StmtId statement) const {
    AxisSet set = 0;
    for (StmtId at = statement; at != noId; at = body_.stmt(at).parent)
        if (const ExprId condition = body_.stmt(at).condition;
            condition != noId && !code_.encloses(at, loop_))
            set |= of(condition);
    return set;
}

} // namespace kernelskill::skills
