/// Tells two runs of statements apart: of two threads, of two rounds, or one behind the other.
#pragma once

#include "analysis/nest/dependences.h"
#include "analysis/nest/nest.h"
#include "analysis/nest/point_set.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The built-in indices that the nest names along an axis.
struct AxisUse {
    bool thread = false;
    bool block = false;
    bool position = false;

    [[nodiscard]] bool tellsThreads() const { return thread || position; }
    [[nodiscard]] bool tellsBlocks() const { return block || position; }
};

/// Writes in isl's notation which runs a carrier tells apart.
class RunPairs {
public:
    /// Keeps the reference.
    explicit RunPairs(const Nest& nest);

    [[nodiscard]] const std::array<AxisUse, 3>& axes() const { return axes_; }

    /// Says that the second run is another one than the first as the carrier tells. Adds to
    /// `conditions` what has to hold where the nest does not tell threads or blocks apart.
    [[nodiscard]] std::string formula(PointSet& points, NestNodeId first, NestNodeId second,
                                      const NestCarrier& carrier,
                                      std::vector<std::string>& conditions) const;

    /// The iterators that have one value in both runs of a thread that the carrier tells apart;
    /// nullopt: they are runs of two threads.
    [[nodiscard]] std::optional<std::vector<Symbol>>
    sameInBothRuns(NestNodeId first, NestNodeId second, const NestCarrier& carrier) const;

private:
    using Level = NestCarrier::Level;

    void findAxes();
    /// Says that the run `second` has a later round of the loop than the run `first`.
    [[nodiscard]] std::string isLater(PointSet& points, NestNodeId id, int first, int second) const;
    [[nodiscard]] std::vector<Symbol> indicesOf(std::uint8_t axis, bool thread, bool block,
                                                bool position) const;
    [[nodiscard]] std::string sameThread(PointSet& points) const;
    [[nodiscard]] std::string otherThread(PointSet& points, NestNodeId first, NestNodeId second,
                                          Level level, std::vector<std::string>& conditions) const;
    /// Says that the run `lower` has the smaller index along the axis.
    [[nodiscard]] std::string differs(PointSet& points, std::uint8_t axis, int lower, int higher,
                                      Level level) const;
    [[nodiscard]] std::string sameBlock(PointSet& points) const;
    /// Requires both runs to be in the same round of each loop whose rounds barriers separate.
    [[nodiscard]] std::string sameRounds(PointSet& points, NestNodeId first,
                                         NestNodeId second) const;
    /// Whether the expression has the same value in all threads of a block, given that `iterators`
    /// have. False if there is none.
    [[nodiscard]] bool isAlikeInBlock(const std::optional<IndexExpression>& expression,
                                      const std::vector<Symbol>& iterators) const;
    /// Whether the threads that a loop is shared by begin apart and nothing else moves its start.
    [[nodiscard]] bool isOwnStart(const IndexExpression& first, std::uint8_t axis,
                                  Level level) const;
    /// Says that threads which share the rounds of a loop do not have the same one.
    [[nodiscard]] std::string otherRounds(PointSet& points, NestNodeId first, NestNodeId second,
                                          std::uint8_t axis, Level level) const;

    const Nest& nest_;
    std::array<AxisUse, 3> axes_;
};

} // namespace kernelskill::analysis
