/// Index arithmetic as polynomials with integer coefficients over symbols such as threadIdx and
/// loop variables.
#pragma once

#include "analysis/syntax/syntax.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

enum class SymbolKind : std::uint8_t {
    ThreadIdx, ///< id: axis 0..2
    BlockIdx,
    BlockDim,
    GridDim,
    LoopVariable, ///< id: VariableId
    Parameter,    ///< id: VariableId of an integral parameter never assigned in the kernel
    Opaque,       ///< id: VariableId of a variable whose value is not a polynomial of the others
    Named,        ///< id: index into a table of whoever made the expression
};

struct Symbol {
    SymbolKind kind = SymbolKind::Opaque;
    std::uint32_t id = 0;
    auto operator<=>(const Symbol&) const = default;
};

/// The kind of `threadIdx`, `blockIdx`, `blockDim` or `gridDim`.
[[nodiscard]] SymbolKind builtinKind(std::string_view name);

/// Product of symbols, sorted; empty is the constant term.
using Monomial = std::vector<Symbol>;

/// Sum of coefficient * monomial. Zero coefficients are not stored.
class IndexExpression {
public:
    static IndexExpression constant(std::int64_t value);
    static IndexExpression symbol(Symbol symbol);

    [[nodiscard]] const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
    [[nodiscard]] std::optional<std::int64_t> asConstant() const;

    IndexExpression operator+(const IndexExpression& other) const;
    IndexExpression operator-(const IndexExpression& other) const;
    IndexExpression operator*(const IndexExpression& other) const;
    bool operator==(const IndexExpression&) const = default;

    /// Larger ones than an index has: a text of a few lines, `a = a * a` and the like, can make
    /// them grow without end. Whoever follows a text drops them.
    [[nodiscard]] bool isTooLarge() const;
    /// Like the operators; nullopt if the result is too large.
    [[nodiscard]] static std::optional<IndexExpression> sum(const IndexExpression& a,
                                                            const IndexExpression& b);
    [[nodiscard]] static std::optional<IndexExpression> difference(const IndexExpression& a,
                                                                   const IndexExpression& b);
    [[nodiscard]] static std::optional<IndexExpression> product(const IndexExpression& a,
                                                                const IndexExpression& b);

    /// The factor of `symbol`: d(expr)/d(symbol). nullopt if the symbol has a power above one.
    [[nodiscard]] std::optional<IndexExpression> coefficientOf(Symbol symbol) const;
    [[nodiscard]] bool dependsOn(Symbol symbol) const;
    [[nodiscard]] bool hasOpaque() const;

    /// The value under an assignment; nullopt if a symbol has no value.
    [[nodiscard]] std::optional<std::int64_t>
    evaluate(const std::map<Symbol, std::int64_t>& values) const;

    /// "threadIdx.x + blockIdx.x*blockDim.x + 4", with names from `body`.
    [[nodiscard]] std::string describe(const FunctionBody& body) const;
    /// The same with names from `nameOf`.
    [[nodiscard]] std::string describe(const std::function<std::string(Symbol)>& nameOf) const;

private:
    std::map<Monomial, std::int64_t> terms_;
};

} // namespace kernelskill::analysis
