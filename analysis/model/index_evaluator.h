/// Follows integers and pointers through a function, statement by statement, as polynomials.
#pragma once

#include "analysis/model/dependence.h"
#include "analysis/model/index_expression.h"
#include "analysis/syntax/syntax.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Where a pointer or an array element lies.
struct Address {
    VariableId base = noId; ///< Parameter, array or global it starts from; noId when unknown.
    std::optional<IndexExpression> offset; ///< In units from the base.
    std::uint32_t unit = 0;                ///< Bytes; 0 when they depend on a template parameter.
    std::vector<std::int64_t> extents;     ///< Of the array that is still to be subscripted.
    std::vector<std::optional<IndexExpression>> subscripts; ///< As written, outermost first.
    bool operator==(const Address&) const = default;
};

/// What is known of the variables at one point of the function.
struct Environment {
    std::map<VariableId, IndexExpression> integers; ///< Absent: opaque.
    std::map<VariableId, Address> pointers;
    bool operator==(const Environment&) const = default;
};

class IndexEvaluator {
public:
    IndexEvaluator(const FunctionBody& body, const DependenceAnalysis& dependence)
        : body_(body), dependence_(dependence) {}

    /// nullopt: not a polynomial.
    [[nodiscard]] std::optional<IndexExpression> integer(ExprId expression) const;
    /// Value of an expression of pointer or array type; base noId when it cannot be followed.
    [[nodiscard]] Address pointer(ExprId expression) const;
    /// Address of an lvalue in memory: `a[i]`, `*p`, `a[i].x`.
    [[nodiscard]] Address place(ExprId lvalue) const;

    void declare(VariableId variable);
    void assign(ExprId target, ExprId value);
    /// `target` op= `by` for op "+" or "-"; by noId is one.
    void adjust(ExprId target, std::string_view op, ExprId by);
    /// From here on nothing is known of the variable.
    void forget(VariableId variable);
    /// The variable is a loop's own symbol from here on.
    void bindLoopVariable(VariableId variable);
    /// Every variable that something within `statement` changes.
    [[nodiscard]] std::set<VariableId> changedIn(StmtId statement) const;

    [[nodiscard]] const Environment& environment() const { return environment_; }
    void restore(Environment environment) { environment_ = std::move(environment); }
    /// Keeps what both sides agree on.
    void join(const Environment& other);

    /// `address` with its offset counted in units of `unit` bytes; offset nullopt when it does not
    /// divide.
    [[nodiscard]] static Address inUnits(Address address, std::uint32_t unit);

private:
    [[nodiscard]] std::optional<IndexExpression> variableValue(VariableId variable) const;
    [[nodiscard]] std::optional<IndexExpression> binary(const Expr& expr) const;
    void collectChanges(ExprId expression, std::set<VariableId>& changed) const;

    const FunctionBody& body_;
    const DependenceAnalysis& dependence_;
    Environment environment_;
};

} // namespace kernelskill::analysis
