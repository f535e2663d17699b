/// Finds where two accesses go to the same element.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/nest/point_set.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Writes in isl's notation where two accesses to one array meet.
class MeetingPlaces {
public:
    /// Iterators that have one value in both runs of a thread; nullopt: runs of two threads.
    using SameIterators = std::optional<std::vector<Symbol>>;

    /// Keeps the reference. `isOneLaunch`: the points have the numbers of one launch, by which flat
    /// indices are compared without assumptions on extents.
    MeetingPlaces(const Nest& nest, bool isOneLaunch) : nest_(nest), isOneLaunch_(isOneLaunch) {}

    /// Says that both accesses go to one element. Adds to `conditions` what that rests on.
    [[nodiscard]] std::string formula(PointSet& points, const NestAccess& first,
                                      const NestAccess& second, const SameIterators& iterators,
                                      std::vector<std::string>& conditions) const;

private:
    /// The number of leading subscripts that have one value in both runs, by `iterators`.
    [[nodiscard]] std::size_t alikeSubscripts(const NestAccess& a, const NestAccess& b,
                                              const SameIterators& iterators) const;
    /// Whether the split into dimensions tells elements apart only if the assumption holds. What
    /// `alike` leading subscripts contribute is the same in both runs, so that neither they nor
    /// the one behind them have to be within their extents.
    [[nodiscard]] static bool isNeeded(const NestAccess& access, const NestCondition& assumption,
                                       std::size_t alike);
    /// Whether the symbol has one value in both runs of a thread; of iterators, `iterators` have.
    [[nodiscard]] bool isSame(Symbol symbol, const std::vector<Symbol>& iterators) const;
    [[nodiscard]] bool isSame(const IndexExpression& expression,
                              const std::vector<Symbol>& iterators) const;
    /// Says that a = b; empty where it is not linear. Terms of one value in both runs, by
    /// `iterators`, are taken off both sides first: they may be products, which are not linear.
    [[nodiscard]] std::string equality(PointSet& points, const IndexExpression& a,
                                       const IndexExpression& b,
                                       const SameIterators& iterators) const;
    /// Says that the bytes of both, whose elements differ in size, overlap.
    static std::string overlap(PointSet& points, const NestAccess& a, const NestAccess& b);

    const Nest& nest_;
    bool isOneLaunch_;
};

} // namespace kernelskill::analysis
