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

/// The place of a pointer or an array element.
struct Address {
    VariableId base = noId; ///< The parameter, array or global it starts from; noId if unknown.
    std::optional<IndexExpression> offset; ///< From the base, in units.
    std::uint32_t unit = 0;                ///< Bytes; 0 if they depend on a template parameter.
    std::vector<std::int64_t> extents;     ///< Extents of the remaining array dimensions.
    std::vector<std::optional<IndexExpression>> subscripts; ///< As written, outermost first.
    bool operator==(const Address&) const = default;
};

/// The known values of variables at one point of the function.
struct Environment {
    std::map<VariableId, IndexExpression> integers; ///< If absent, opaque.
    std::map<VariableId, Address> pointers;
    bool operator==(const Environment&) const = default;
};

class IndexEvaluator {
public:
    IndexEvaluator(const FunctionBody& body, const DependenceAnalysis& dependence)
        : body_(body), dependence_(dependence) {}

    /// nullopt if it is not a polynomial.
    [[nodiscard]] std::optional<IndexExpression> integer(ExprId expression) const;
    /// The value of an expression of pointer or array type; base noId if it cannot be followed.
    [[nodiscard]] Address pointer(ExprId expression) const;
    /// Address of an lvalue in memory: `a[i]`, `*p`, `a[i].x`.
    [[nodiscard]] Address place(ExprId lvalue) const;

    void declare(VariableId variable);
    void assign(ExprId target, ExprId value);
    /// Executes `target` op= `by` for op "+" or "-". If `by` is noId, it is one.
    void adjust(ExprId target, std::string_view op, ExprId by);
    /// Makes the variable's value unknown from here on.
    void forget(VariableId variable);
    /// Makes the variable's value a loop's own symbol from here on.
    void bindLoopVariable(VariableId variable);
    /// Every variable that a statement within `statement` changes.
    [[nodiscard]] std::set<VariableId> changedIn(StmtId statement) const;

    [[nodiscard]] const Environment& environment() const { return environment_; }
    void restore(Environment environment) { environment_ = std::move(environment); }
    /// Keeps only values that both sides have in common.
    void join(const Environment& other);

    /// `address` with its offset in units of `unit` bytes; offset nullopt if it is not divisible.
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
