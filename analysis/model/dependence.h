/// What the values of a function's variables depend on, regardless of where in the function.
#pragma once

#include "analysis/syntax/syntax.h"

#include <vector>

namespace kernelskill::analysis {

struct Dependence {
    bool onThread = false; ///< On threadIdx, the lane or a thread's rank.
    bool onData = false;   ///< On values loaded from memory.

    Dependence operator|(Dependence other) const {
        return {onThread || other.onThread, onData || other.onData};
    }
    bool operator==(const Dependence&) const = default;
};

/// One pass to a fixed point over the assignments of `body`.
class DependenceAnalysis {
public:
    explicit DependenceAnalysis(const FunctionBody& body);

    [[nodiscard]] Dependence of(ExprId expression) const;
    /// Number of places that change the variable after its declaration; taking its address counts.
    [[nodiscard]] std::uint32_t changes(VariableId variable) const { return changes_.at(variable); }

private:
    struct Assignment {
        VariableId target;
        ExprId value;
    };

    void collect();
    void change(ExprId target, ExprId value);

    const FunctionBody& body_;
    std::vector<Assignment> assignments_;
    std::vector<std::uint32_t> changes_;
    std::vector<Dependence> variables_;
};

/// The variable at the bottom of an lvalue: `a` of `a[i].x`; noId when there is none.
[[nodiscard]] VariableId rootVariable(const FunctionBody& body, ExprId lvalue);

[[nodiscard]] inline bool isAssignment(const Expr& expr) {
    return expr.kind == ExprKind::Binary && expr.op.ends_with('=') && expr.op != "==" &&
           expr.op != "!=" && expr.op != "<=" && expr.op != ">=";
}
[[nodiscard]] inline bool isIncrement(const Expr& expr) {
    return expr.kind == ExprKind::Unary && (expr.op.ends_with("++") || expr.op.ends_with("--"));
}

} // namespace kernelskill::analysis
