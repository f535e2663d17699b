/// Expressions whose value follows from what they name, wherever it is computed.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <functional>
#include <string>

namespace kernelskill::skills {

/// Keeps a reference to the context's models.
class PureValues {
public:
    /// Whether an expression may name the variable, or the built-in index.
    using MayName = std::function<bool(const analysis::Expr& name)>;

    PureValues(const SkillContext& context, MayName mayName);

    /// Whether the expression is made of literals, operators without effect, functions of
    /// mathematics, `__constant__` numbers and what may be named. False for a division of integers
    /// by what may be 0.
    [[nodiscard]] bool isPure(analysis::ExprId expr) const;

    /// The largest pure expression of floating point around the pure `call`. It never is a product
    /// that an addition around it turns into a fused multiply-add: alone it would be rounded.
    [[nodiscard]] analysis::ExprId largestAround(analysis::ExprId call) const;

    /// Whether the expression's text says all of it: nothing hides in a macro.
    [[nodiscard]] bool isSpelled(analysis::ExprId expr) const;

private:
    [[nodiscard]] bool isPureHere(const analysis::Expr& expr) const;
    [[nodiscard]] bool isConstantMemory(const analysis::Expr& subscript) const;

    const SkillContext& context_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    MayName mayName_;
};

/// Whether the local or parameter may be changed where no assignment names it: its address is
/// taken, or a reference is bound to it.
[[nodiscard]] bool isSharedOut(const analysis::CodeMap& code, analysis::VariableId variable);

} // namespace kernelskill::skills
