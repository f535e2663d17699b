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

namespace kernelskill::skills {

/// Built once a call, in time linear in the function. Keeps a reference to the body.
class CodeMap {
public:
    explicit CodeMap(const analysis::FunctionBody& body);

    [[nodiscard]] const analysis::FunctionBody& body() const { return body_; }

    /// The expression that holds `expr`; noId for the outermost one of a statement or initialiser.
    [[nodiscard]] analysis::ExprId parent(analysis::ExprId expr) const;
    /// The innermost statement that holds `expr`; noId when no statement does.
    [[nodiscard]] analysis::StmtId statement(analysis::ExprId expr) const;
    /// Every expression that names `variable`, in the order of the source.
    [[nodiscard]] const std::vector<analysis::ExprId>& uses(analysis::VariableId variable) const;
    /// True if this use may change the variable itself: assignment, increment, address taken, bound
    /// to a reference that can be written through, or a context whose effect is not known.
    [[nodiscard]] bool isWrite(analysis::ExprId use) const;
    /// True if the variable may change after its initialisation.
    [[nodiscard]] bool isEverWritten(analysis::VariableId variable) const;

    /// True if `inner` is `outer` or lies in it.
    [[nodiscard]] bool encloses(analysis::StmtId outer, analysis::StmtId inner) const;
    [[nodiscard]] bool holds(analysis::StmtId outer, analysis::ExprId expr) const;
    /// All expressions below a statement, initialisers of its declarations included.
    [[nodiscard]] std::vector<analysis::ExprId> expressionsIn(analysis::StmtId stmt) const;
    /// The statement and everything below it.
    [[nodiscard]] std::vector<analysis::StmtId> statementsIn(analysis::StmtId stmt) const;
    /// All expressions below an expression, itself included.
    [[nodiscard]] std::vector<analysis::ExprId> expressionsBelow(analysis::ExprId expr) const;
    /// The statement that declares a local; noId for parameters and globals.
    [[nodiscard]] analysis::StmtId declarationOf(analysis::VariableId variable) const;
    /// The statements of a compound, or the statement alone.
    [[nodiscard]] std::vector<analysis::StmtId>
    statementsOf(analysis::StmtId compoundOrSingle) const;

    /// The value of an integral expression made of constants and locals that never change.
    [[nodiscard]] std::optional<std::int64_t> constantValue(analysis::ExprId expr) const;

    /// Sees through casts.
    [[nodiscard]] analysis::ExprId withoutCasts(analysis::ExprId expr) const;
    /// The variable that `expr` names, casts aside; noId when it is not a plain name.
    [[nodiscard]] analysis::VariableId namedVariable(analysis::ExprId expr) const;
    /// The same value: same operators, names and constants. Calls and memory reads compare equal
    /// too.
    [[nodiscard]] bool sameExpression(analysis::ExprId a, analysis::ExprId b) const;

private:
    void visitStatement(analysis::StmtId id);
    void visitExpression(analysis::ExprId id, analysis::ExprId parent, analysis::StmtId statement);

    const analysis::FunctionBody& body_;
    std::vector<analysis::ExprId> parents_;
    std::vector<analysis::StmtId> statements_;
    std::vector<analysis::StmtId> declarations_;
    std::vector<bool> bound_; ///< Initialisers of references that can be written through.
    std::vector<std::vector<analysis::ExprId>> uses_;
    std::vector<bool> written_;
};

/// The integers that follow from constants and from locals that never change.
class FixedValues : public analysis::IntegerValues {
public:
    /// Keeps the reference.
    explicit FixedValues(const CodeMap& code) : IntegerValues(code.body()), code_(code) {}

protected:
    [[nodiscard]] analysis::ExprId fixedValue(analysis::VariableId variable) const override;

private:
    const CodeMap& code_;
};

[[nodiscard]] bool isAssignment(std::string_view op);

/// True for a name that no variable of the function has and that is no keyword the skills produce.
[[nodiscard]] bool isNameFree(const analysis::FunctionBody& body, std::string_view name);
/// `wanted`, or `wanted` followed by the first number that makes it free.
[[nodiscard]] std::string freshName(const analysis::FunctionBody& body, const std::string& wanted);

} // namespace kernelskill::skills
