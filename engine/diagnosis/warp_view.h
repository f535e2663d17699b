/// One warp at the accesses and conditions of a kernel's nest: where its lanes go, and which of
/// them.
#pragma once

#include "analysis/model/dependence.h"
#include "analysis/nest/nest.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Where the lanes of a warp go at one access.
struct WarpReach {
    /// Their destinations are unknown: through numbers read from memory that differ between lanes,
    /// or by ways that the nest does not follow.
    bool isIndirect = false;
    /// Each lane walks on from a beginning of its own, which it read from memory.
    bool isRagged = false;
    bool isUniform = false;  ///< All lanes go to one element.
    int lanes = 0;           ///< Those that the conditions around the access let on.
    std::uint32_t width = 0; ///< Bytes of a lane's request.
    /// Bytes from each lane to the next; nullopt where it differs.
    std::optional<std::int64_t> stride;
    double sectors = 0;    ///< Of 32 bytes, at the best alignment of the array.
    double least = 0;      ///< The sectors that the same bytes fill.
    double wavefronts = 0; ///< Of shared memory; 1 means free of conflicts.

    [[nodiscard]] bool isKnown() const { return !isIndirect && !isRagged && lanes > 0; }
    [[nodiscard]] bool isCoalesced() const {
        return isKnown() && !isUniform && sectors < wasteful * least;
    }
    [[nodiscard]] bool isWasteful() const {
        return isKnown() && lanes >= manyLanes && sectors >= wasteful * least;
    }

    static constexpr double wasteful = 1.5; ///< As in thresholds.yaml.
    static constexpr int manyLanes = 8;
};

/// Sizes that only a launch tells stand for large ones, the same for all of them, strides as in
/// BLAS (`x[i * incx]`) for 1, and the warp is away from the borders of the grid. Keeps references
/// to both models.
class WarpView {
public:
    WarpView(const analysis::FileModel& file, const analysis::KernelModel& kernel);

    [[nodiscard]] const analysis::Nest& nest() const { return *nest_; }
    [[nodiscard]] const analysis::FileModel& file() const { return file_; }
    [[nodiscard]] const analysis::KernelModel& kernel() const { return kernel_; }
    [[nodiscard]] const analysis::KernelModel& functionOf(std::uint32_t frame) const;
    [[nodiscard]] const WarpReach& reach(analysis::NestAccessId access) const;
    /// Bytes by which lane 0 moves on at `access` from a round of the loop to the next; nullopt
    /// where that is not known.
    [[nodiscard]] std::optional<std::int64_t> step(analysis::NestAccessId access,
                                                   analysis::NestNodeId loop) const;
    /// Bytes from `from` to `to`, where they are the same in all lanes.
    [[nodiscard]] std::optional<std::int64_t> distance(analysis::NestAccessId from,
                                                       analysis::NestAccessId to) const;
    /// Bytes from a thread to its neighbour along y at `access`.
    [[nodiscard]] std::optional<std::int64_t> strideAlongY(analysis::NestAccessId access) const;
    /// Whether conditions on the thread's index let on the first warp of a block alone.
    [[nodiscard]] bool isOfFirstWarp(analysis::NestAccessId access) const;
    /// Whether lanes of each warp of a block differ in the condition; nullopt where it is not
    /// known.
    [[nodiscard]] std::optional<bool> dividesWarps(const analysis::NestCondition& condition) const;
    /// Whether the number, or the variable, may differ between lanes.
    [[nodiscard]] bool varies(const analysis::IndexExpression& expression) const;
    [[nodiscard]] analysis::Dependence dependenceOf(std::uint32_t frame,
                                                    analysis::ExprId expression) const;
    /// Whether the number is read from memory, or computed from what is. True where that is not
    /// known.
    [[nodiscard]] bool dependsOnData(const analysis::NestSymbol& value) const;
    /// The rounds of the loop if the text tells them.
    [[nodiscard]] std::optional<std::int64_t> rounds(analysis::NestNodeId loop) const;

    /// Whether elements of `width` bytes that far apart are on different rows: sizes that only a
    /// launch tells, and the differences of two of them, are larger than any block.
    [[nodiscard]] static bool isRowApart(std::int64_t bytes, std::uint32_t width) {
        return std::abs(bytes) > largestBlock * static_cast<std::int64_t>(width);
    }
    /// The condition of the `if`, the switch or the loop that the node is made from; noId: none.
    [[nodiscard]] analysis::ExprId conditionOf(analysis::NestNodeId node) const;

private:
    static constexpr std::int64_t largestBlock = 1024;

    struct Thread {
        std::array<std::int64_t, 3> index{};
        const analysis::Symbol* overridden = nullptr; ///< An iterator with a value of its own.
        std::int64_t value = 0;
    };
    enum class Unknown : std::uint8_t { No, Indirect, Ragged };

    [[nodiscard]] Thread lane(int number) const;
    [[nodiscard]] std::optional<std::int64_t> evaluate(const analysis::IndexExpression& expression,
                                                       const Thread& thread, Unknown& why,
                                                       int depth = 0) const;
    [[nodiscard]] std::optional<std::int64_t> valueOf(analysis::Symbol symbol, const Thread& thread,
                                                      Unknown& why, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> derived(const analysis::NestSymbol& symbol,
                                                      const Thread& thread, Unknown& why,
                                                      int depth) const;
    [[nodiscard]] std::optional<bool> holds(const analysis::NestCondition& condition,
                                            const Thread& thread, int depth = 0) const;
    /// The conditions of the nest around an access.
    [[nodiscard]] std::vector<analysis::NestNodeId> guardsOf(analysis::NestAccessId access) const;
    [[nodiscard]] bool isLetOn(const analysis::NestCondition& condition,
                               const std::vector<analysis::NestNodeId>& guards,
                               const Thread& thread) const;
    /// Whether no lane is let on, which may be because of a number that stands for a size.
    [[nodiscard]] bool isKeptOutBySize(const analysis::NestCondition& condition,
                                       const std::vector<analysis::NestNodeId>& guards) const;
    [[nodiscard]] bool asksForSize(const analysis::NestCondition& condition) const;
    /// Whether the node asks for one thread by a rank: `if (group.thread_rank() == 0)`.
    [[nodiscard]] bool isOfRank(analysis::NestNodeId node) const;
    [[nodiscard]] bool varies(const analysis::NestSymbol& symbol) const;
    [[nodiscard]] bool mayVary(const analysis::NestSymbol& symbol) const;
    /// An expression that names the variable whose value it is; noId: none.
    [[nodiscard]] analysis::ExprId useOf(const analysis::NestSymbol& value) const;
    [[nodiscard]] WarpReach reachOf(analysis::NestAccessId access) const;
    [[nodiscard]] std::optional<std::int64_t> addressOf(analysis::NestAccessId access,
                                                        const Thread& thread, Unknown& why) const;
    [[nodiscard]] const analysis::NestLoop* loopOf(analysis::Symbol iterator) const;

    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
    std::shared_ptr<const analysis::Nest> nest_;
    std::map<analysis::Symbol, analysis::NestNodeId> loops_; ///< By iterator.
    std::map<analysis::Symbol, std::int64_t> sizes_;         ///< What parameters stand for.
    std::map<std::pair<std::uint32_t, analysis::ExprId>, analysis::NestAccessId> loads_;
    mutable std::map<const analysis::NestSymbol*, bool> varies_;
    mutable std::map<std::uint32_t, std::unique_ptr<analysis::DependenceAnalysis>> dependences_;
    mutable std::vector<std::optional<WarpReach>> reaches_;
    mutable std::vector<char> isOpen_; ///< Of accesses: reach() is at work on it.
};

} // namespace kernelskill::engine
