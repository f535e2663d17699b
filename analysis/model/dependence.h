/// Tells what the values of a function's variables depend on, for the whole function.
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

/// Takes time linear in `body`.
class DependenceAnalysis {
public:
    explicit DependenceAnalysis(const FunctionBody& body);

    [[nodiscard]] Dependence of(ExprId expression) const;
    /// The number of places that change the variable after its declaration. Taking its address
    /// counts.
    [[nodiscard]] std::uint32_t changes(VariableId variable) const { return changes_.at(variable); }

private:
    struct Assignment {
        VariableId target;
        ExprId value;
    };

    void collect();
    void change(ExprId target, ExprId value);
    void propagate();

    const FunctionBody& body_;
    std::vector<Assignment> assignments_;
    std::vector<std::uint32_t> changes_;
    std::vector<Dependence> variables_;
};

/// Whether the expression tells only which variables it mentions: a lambda, omitted code. It may
/// change each of them.
[[nodiscard]] bool isOpaque(const Expr& expr);

/// The variable at the bottom of an lvalue: `a` for `a[i].x`; noId if there is none.
[[nodiscard]] VariableId rootVariable(const FunctionBody& body, ExprId lvalue);

[[nodiscard]] inline bool isAssignment(const Expr& expr) {
    return expr.kind == ExprKind::Binary && expr.op.ends_with('=') && expr.op != "==" &&
           expr.op != "!=" && expr.op != "<=" && expr.op != ">=";
}
[[nodiscard]] inline bool isIncrement(const Expr& expr) {
    return expr.kind == ExprKind::Unary && (expr.op.ends_with("++") || expr.op.ends_with("--"));
}

} // namespace kernelskill::analysis
