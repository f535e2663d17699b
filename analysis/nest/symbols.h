/// The integers that a nest's index arithmetic is made of, beside the built-in indices.
#pragma once

#include "analysis/nest/condition.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::analysis {

enum class NestSymbolKind : std::uint8_t {
    Parameter, ///< Given to the launch: a scalar parameter, a field of one, a __constant__ integer.
    Position,  ///< blockIdx * blockDim + threadIdx along `axis`.
    Iterator,  ///< Counts the rounds of a loop.
    Derived,   ///< `op` of `operands`.
    Value,     ///< A number that the text does not tell: loaded from memory, carried by a loop.
};

struct NestSymbol {
    NestSymbolKind kind = NestSymbolKind::Value;
    std::string name; ///< As people write it; one name a symbol.
    std::uint8_t axis = 0;
    /// "/" and "%" round towards zero; "min", "max", "abs"; "select" chooses by `choice`; any other
    /// is an operator or a function of which nothing is known but that it is one.
    std::string op;
    std::vector<IndexExpression> operands;
    std::vector<NestCondition> choice; ///< Of "select": the condition.
    bool isNotNegative = false;
    int depth = 0; ///< Of Derived: how deeply operands are derived themselves.
    /// Value alone: the frame, and the expression that has the number or the variable that holds
    /// it; noId where neither is told.
    std::uint32_t frame = 0;
    ExprId expression = noId;
    VariableId variable = noId;
};

/// Integers are meant as numbers: an index that wraps around is not followed.
class NestSymbols {
public:
    /// A new symbol; its name gets a number where it is taken.
    [[nodiscard]] Symbol add(NestSymbol symbol);
    /// The Position along an axis.
    [[nodiscard]] Symbol position(std::uint8_t axis);
    /// The same symbol for the same operator and operands.
    [[nodiscard]] Symbol derived(std::string_view op, std::vector<IndexExpression> operands);
    [[nodiscard]] Symbol selection(const NestCondition& condition, IndexExpression then,
                                   IndexExpression otherwise);

    /// nullptr for built-in indices.
    [[nodiscard]] const NestSymbol* find(Symbol symbol) const;
    [[nodiscard]] const std::vector<NestSymbol>& all() const { return symbols_; }
    void markNotNegative(Symbol symbol) { symbols_[symbol.id].isNotNegative = true; }

    /// a * b, with blockIdx * blockDim as the Position less threadIdx. nullopt: too large.
    [[nodiscard]] std::optional<IndexExpression> product(const IndexExpression& a,
                                                         const IndexExpression& b);
    /// a / b and a % b. Exact where b divides the coefficients of a.
    [[nodiscard]] IndexExpression quotient(const IndexExpression& a, const IndexExpression& b);
    [[nodiscard]] IndexExpression remainder(const IndexExpression& a, const IndexExpression& b);
    /// `expression` with a - (a / b) * b written as a % b.
    [[nodiscard]] IndexExpression withRemainders(IndexExpression expression);
    /// The result of an operator of integers, or of min, max and abs.
    [[nodiscard]] IndexExpression result(std::string_view op, const IndexExpression& a,
                                         const IndexExpression& b);

    /// True if no sign of a term is in doubt.
    [[nodiscard]] bool isNotNegative(const IndexExpression& expression) const;
    /// Whether a symbol of that kind is in it, or in an operand of what is in it.
    [[nodiscard]] bool contains(const IndexExpression& expression, NestSymbolKind kind) const;
    /// True if it is the same in all threads of a launch and in all rounds of loops.
    [[nodiscard]] bool isLaunchConstant(const IndexExpression& expression) const;
    [[nodiscard]] bool isLaunchConstant(Symbol symbol) const;

    [[nodiscard]] std::string nameOf(Symbol symbol) const;
    [[nodiscard]] std::string describe(const IndexExpression& expression) const;
    [[nodiscard]] std::string describe(const NestCondition& condition) const;

private:
    [[nodiscard]] int depthOf(const IndexExpression& expression) const;
    [[nodiscard]] std::string derivedName(std::string_view op,
                                          const std::vector<IndexExpression>& operands) const;
    [[nodiscard]] IndexExpression withPositions(const IndexExpression& expression);

    std::vector<NestSymbol> symbols_;
    std::map<std::string, std::uint32_t, std::less<>> names_;
    std::map<std::pair<std::string, std::vector<std::map<Monomial, std::int64_t>>>, Symbol>
        derived_;
    std::map<std::uint8_t, Symbol> positions_;
};

/// Whether `symbol` may be negative: built-in indices may not.
[[nodiscard]] bool isBuiltIn(Symbol symbol);

} // namespace kernelskill::analysis
