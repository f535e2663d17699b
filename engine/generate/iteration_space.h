/// Index arithmetic over loop iterations: the minimum and maximum of an index, and whether it is
/// never negative.
#pragma once

#include "analysis/model/kernel_model.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace kernelskill::engine {

/// The values of a loop's variable in either direction, both ends included. They may use the
/// variables of outer loops.
struct LoopRange {
    analysis::Symbol variable;
    analysis::IndexExpression first;
    analysis::IndexExpression last;
    std::int64_t step = 1; ///< The positive distance from one value to the next.
    /// The distance that it counts through; the loop runs if it is positive.
    analysis::IndexExpression distance;
    /// The symbol for the iterations if they are no polynomial: `distance / step`, rounded up.
    std::optional<analysis::Symbol> rounds;
};

/// Loops around a piece of code, outermost first, each of which runs at least once. Results hold
/// for all parameter values for which that is true, without integer overflow.
class IterationSpace {
public:
    /// `unsignedSymbols` are never negative.
    explicit IterationSpace(std::vector<LoopRange> loops,
                            const std::vector<analysis::Symbol>& unsignedSymbols = {});

    /// Assumes that these loops run at least once as well, wherever they are.
    void assume(const std::vector<LoopRange>& loops);

    /// The minimum or maximum over all iterations of the loops from number `from` on, as a
    /// polynomial of outer loop variables and parameters. nullopt if the arithmetic is not provably
    /// monotone in a variable.
    [[nodiscard]] std::optional<analysis::IndexExpression>
    largest(const analysis::IndexExpression& value, std::size_t from = 0) const;
    [[nodiscard]] std::optional<analysis::IndexExpression>
    smallest(const analysis::IndexExpression& value, std::size_t from = 0) const;

    /// True if proved; false if not known.
    [[nodiscard]] bool isNeverNegative(const analysis::IndexExpression& value) const;

private:
    [[nodiscard]] std::optional<analysis::IndexExpression>
    extreme(analysis::IndexExpression value, std::size_t from, bool wantLargest) const;
    [[nodiscard]] bool isNeverNegative(const analysis::IndexExpression& value,
                                       std::size_t loops) const;
    [[nodiscard]] bool hasNoNegativeTerm(const analysis::IndexExpression& value) const;
    [[nodiscard]] bool followsFromRunning(const analysis::IndexExpression& value) const;

    std::vector<LoopRange> loops_;
    std::vector<analysis::IndexExpression>
        neverNegative_; ///< Iterations and distances, which cannot be negative.
    /// Lower bounds that follow because the loops run.
    std::map<analysis::Symbol, std::int64_t> atLeast_;
};

/// Replaces `symbol` by an expression everywhere in `value`.
[[nodiscard]] analysis::IndexExpression substitute(const analysis::IndexExpression& value,
                                                   analysis::Symbol symbol,
                                                   const analysis::IndexExpression& replacement);

} // namespace kernelskill::engine
