/// Writes what nests tell of integers as sets in isl's notation.
#pragma once

#include "analysis/nest/nest.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The points of two runs of statements side by side: each symbol that varies is a dimension for
/// either run; what a launch decides is a parameter. What is not linear is left out, so that the
/// set may be larger than the truth.
class PointSet {
public:
    /// Keeps the reference. `knowsBlocks`: blocks have the size that launches tell.
    PointSet(const Nest& nest, bool knowsBlocks);

    /// nullopt where the expression is not linear.
    [[nodiscard]] std::optional<std::string> linear(const IndexExpression& expression, int run);
    /// The name of a symbol that varies.
    [[nodiscard]] std::string dimension(Symbol symbol, int run);
    /// "(...)"; what is not linear counts as true, and the set as larger.
    [[nodiscard]] std::string formula(const NestCondition& condition, int run);
    void require(std::string formula);
    void require(const NestCondition& condition, int run);
    /// Adds the loops and guards around the node.
    void requireDomain(NestNodeId node, int run);
    /// Gives a parameter its value.
    void fix(Symbol parameter, std::int64_t value);

    /// Says that a condition on the points could not be written down.
    void markInexact() { isExact_ = false; }
    /// False if the set may be larger than the truth.
    [[nodiscard]] bool isExact() const { return isExact_; }
    /// Whether a number that the launch decides is left open.
    [[nodiscard]] bool hasParameters() const { return !parameters_.empty(); }
    /// The set, with a further formula.
    [[nodiscard]] std::string text(const std::string& further = {}) const;

private:
    [[nodiscard]] std::string parameter(const Monomial& monomial);
    void define(Symbol symbol, int run);
    void defineDerived(const NestSymbol& symbol, const std::string& self, int run);
    [[nodiscard]] std::string atLeastZero(const IndexExpression& expression, int run);
    [[nodiscard]] std::string inexact();

    const Nest& nest_;
    bool knowsBlocks_;
    bool isExact_ = true;
    std::map<Monomial, std::string> parameters_;
    std::map<std::pair<Symbol, int>, std::string> dimensions_;
    std::vector<std::string> dimensionOrder_;
    std::vector<std::string> formulas_;
    std::map<Symbol, std::int64_t> fixed_;
};

} // namespace kernelskill::analysis
