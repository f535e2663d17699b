/// Index arithmetic over the iterations of loops: its largest and smallest value, and what is never
/// negative.
#pragma once

#include "analysis/model/kernel_model.h"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace kernelskill::engine {

/// The values of a loop's variable, both ends included, whichever way it counts. They may name the
/// variables of loops further out.
struct LoopRange {
    analysis::Symbol variable;
    analysis::IndexExpression first;
    analysis::IndexExpression last;
    std::int64_t step = 1;              ///< From one value to the next, positive.
    analysis::IndexExpression distance; ///< That it counts through; it runs where this is positive.
    /// Stands for the rounds where they are no polynomial: `distance / step`, rounded up.
    std::optional<analysis::Symbol> rounds;
};

/// Loops around a piece of code, outermost first, each of which runs at least once. What it says
/// holds for all values of the parameters for which they do; integer overflow apart.
class IterationSpace {
public:
    /// `unsignedSymbols` are never negative.
    explicit IterationSpace(std::vector<LoopRange> loops,
                            const std::vector<analysis::Symbol>& unsignedSymbols = {});

    /// Takes it that these loops run at least once as well, wherever they stand.
    void assume(const std::vector<LoopRange>& loops);

    /// Over all iterations of the loops from number `from` on: a polynomial of the variables of
    /// those before and of parameters. nullopt when the arithmetic is not monotone in a variable,
    /// as far as can be proved.
    [[nodiscard]] std::optional<analysis::IndexExpression>
    largest(const analysis::IndexExpression& value, std::size_t from = 0) const;
    [[nodiscard]] std::optional<analysis::IndexExpression>
    smallest(const analysis::IndexExpression& value, std::size_t from = 0) const;

    /// Proved; false when it is not known.
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
        neverNegative_;                                ///< What rounds and distances have to do.
    std::map<analysis::Symbol, std::int64_t> atLeast_; ///< What the loops' running implies.
};

/// `value` with `symbol` replaced wherever it occurs.
[[nodiscard]] analysis::IndexExpression substitute(const analysis::IndexExpression& value,
                                                   analysis::Symbol symbol,
                                                   const analysis::IndexExpression& replacement);

} // namespace kernelskill::engine
