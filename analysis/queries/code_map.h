/// Questions about a function's code that its arenas do not answer directly: who holds an
/// expression, where a variable is used, what is written.
#pragma once

#include "analysis/model/integer_values.h"
#include "analysis/model/kernel_model.h"
#include "analysis/syntax/syntax.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Built once a call, in time linear in the function. Keeps a reference to the body.
class CodeMap {
public:
    explicit CodeMap(const FunctionBody& body);

    [[nodiscard]] const FunctionBody& body() const { return body_; }

    /// The expression that holds `expr`; noId for the outermost one of a statement or initialiser.
    [[nodiscard]] ExprId parent(ExprId expr) const;
    /// The innermost statement that holds `expr`; noId when no statement does.
    [[nodiscard]] StmtId statement(ExprId expr) const;
    /// Every expression that names `variable`, in the order of the source.
    [[nodiscard]] const std::vector<ExprId>& uses(VariableId variable) const;
    /// True if this use may change the variable itself: assignment, increment, address taken, bound
    /// to a reference that can be written through, or a context whose effect is not known.
    [[nodiscard]] bool isWrite(ExprId use) const;
    /// True if the variable may change after its initialisation.
    [[nodiscard]] bool isEverWritten(VariableId variable) const;

    /// True if `inner` is `outer` or lies in it.
    [[nodiscard]] bool encloses(StmtId outer, StmtId inner) const;
    [[nodiscard]] bool holds(StmtId outer, ExprId expr) const;
    /// All expressions below a statement, initialisers of its declarations included.
    [[nodiscard]] std::vector<ExprId> expressionsIn(StmtId stmt) const;
    /// The statement and everything below it.
    [[nodiscard]] std::vector<StmtId> statementsIn(StmtId stmt) const;
    /// All expressions below an expression, itself included.
    [[nodiscard]] std::vector<ExprId> expressionsBelow(ExprId expr) const;
    /// The statement that declares a local; noId for parameters and globals.
    [[nodiscard]] StmtId declarationOf(VariableId variable) const;
    /// The statements of a compound, or the statement alone.
    [[nodiscard]] std::vector<StmtId> statementsOf(StmtId compoundOrSingle) const;

    /// The value of an integral expression made of constants and locals that never change.
    [[nodiscard]] std::optional<std::int64_t> constantValue(ExprId expr) const;

    /// Sees through casts.
    [[nodiscard]] ExprId withoutCasts(ExprId expr) const;
    /// The variable that `expr` names, casts aside; noId when it is not a plain name.
    [[nodiscard]] VariableId namedVariable(ExprId expr) const;
    /// True if the expression around `operand` may be evaluated without it: it is the right side of
    /// `&&` or `||`, or a branch of `?:`.
    [[nodiscard]] bool mayBeSkipped(ExprId operand) const;
    /// `a` of `a && b && c`; the condition itself if it is no such chain.
    [[nodiscard]] ExprId firstConjunct(ExprId condition) const;
    /// The same value: same operators, names and constants. Calls and memory reads compare equal
    /// too.
    [[nodiscard]] bool sameExpression(ExprId a, ExprId b) const;

private:
    void visitStatement(StmtId id);
    void visitExpression(ExprId id, ExprId parent, StmtId statement);

    const FunctionBody& body_;
    std::vector<ExprId> parents_;
    std::vector<StmtId> statements_;
    std::vector<StmtId> declarations_;
    std::vector<bool> bound_; ///< Initialisers of references that can be written through.
    std::vector<std::vector<ExprId>> uses_;
    std::vector<bool> written_;
};

/// The integers that follow from constants and from locals that never change.
class FixedValues : public IntegerValues {
public:
    /// Keeps the reference.
    explicit FixedValues(const CodeMap& code) : IntegerValues(code.body()), code_(code) {}

    /// What a local is set to, once, by its initialiser or behind it; noId if that is not known.
    [[nodiscard]] ExprId fixedValue(VariableId variable) const override;

private:
    /// In `dim3 block; block.x = 64;` 64, if that is all that ever changes the axis, and if nothing
    /// reads the variable in between.
    [[nodiscard]] KnownExtents extentsByMember(VariableId variable, int depth) const override;

    const CodeMap& code_;
};

[[nodiscard]] bool isAssignment(std::string_view op);

/// True for a name that no variable of the function has and that is no keyword the skills produce.
[[nodiscard]] bool isNameFree(const FunctionBody& body, std::string_view name);
/// `wanted`, or `wanted` followed by the first number that makes it free.
[[nodiscard]] std::string freshName(const FunctionBody& body, const std::string& wanted);

} // namespace kernelskill::analysis
