/// Which runs of statements have to stay in order, found by isl.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/nest/polyhedra.h"

#include <array>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::analysis {

enum class NestDependenceKind : std::uint8_t {
    Flow,   ///< Written, then read.
    Anti,   ///< Read, then written.
    Output, ///< Written twice.
};

/// The level at which the two runs of a dependence differ.
struct NestCarrier {
    enum class Level : std::uint8_t {
        Blocks,  ///< Threads of different blocks: no order holds between them.
        Threads, ///< Different threads of a block: barriers alone order them.
        Loop,    ///< Rounds of `loop` in one thread.
        Order,   ///< One round of all loops around both; the text's order.
    };
    Level level = Level::Order;
    NestNodeId loop = noId;
    /// A loop inside of `loop`, at the level Loop: the second run has an earlier round of it. noId
    /// if the carrier says nothing about a further loop.
    NestNodeId crossed = noId;
    bool operator==(const NestCarrier&) const = default;
};

/// Whether two accesses are independent.
enum class NestCertainty : std::uint8_t {
    Proved, ///< They never meet.
    Likely, ///< They never meet if the conditions hold.
    Broken, ///< They meet, or it cannot be excluded; the reason tells which.
};

struct NestDependence {
    NestAccessId from = noId; ///< Runs first, where an order holds.
    NestAccessId to = noId;
    NestDependenceKind kind = NestDependenceKind::Flow;
    NestCarrier carrier;
    NestCertainty independence = NestCertainty::Broken;
    std::vector<std::string> conditions; ///< Of Likely, as clauses: "j + 1 < n".
    std::string reason;                  ///< Of Broken.
    bool isSynchronised = false; ///< Between threads: a barrier of the block stands between them.
    bool isReduction = false; ///< Both are of one statement `x = x op y`: any order gives the sum.
};

/// Two arrays that are apart unless a caller passes memory that overlaps; one of them is written.
struct NestOverlap {
    NestArrayId first = noId;
    NestArrayId second = noId;
};

struct NestDependences {
    /// All pairs that are not proved to be independent, in the order of the accesses.
    std::vector<NestDependence> dependences;
    std::vector<NestOverlap> overlaps;
    /// Whether the kernel uses the index of its thread, or of its block, along each axis.
    std::array<bool, 3> tellsThreads{};
    std::array<bool, 3> tellsBlocks{};
    bool isComplete = true; ///< False where there were too many pairs; `judge` then proves nothing.
};

/// Axes that the kernel does not name are taken to have one thread and one block. Threads that
/// nothing tells apart are one thread. Takes milliseconds for most kernels, and is bounded. When
/// `stop` is requested, the pairs that are left are not compared, and the result is not complete.
/// `values` are those of blockDim, gridDim and parameters in one launch: then the result is about
/// that launch alone, and rests on no condition on them. Empty: it is about all launches.
[[nodiscard]] NestDependences dependencesOf(const Nest& nest, Polyhedra& polyhedra,
                                            const std::stop_token& stop = {},
                                            const std::map<Symbol, std::int64_t>& values = {});

/// The dependences that an exchange of two loops of each thread turns around, with `inner` inside
/// of `outer`: those between two runs of a thread of which the second has a later round of `outer`
/// and an earlier round of `inner`. All others keep their order. Bounded as above.
[[nodiscard]] NestDependences crossedDependences(const Nest& nest, Polyhedra& polyhedra,
                                                 NestNodeId outer, NestNodeId inner);

/// Whether the work that the carrier separates is independent, over all pairs. Sums and the like,
/// which any order serves, count as dependent.
struct NestJudgement {
    NestCertainty certainty = NestCertainty::Proved;
    std::vector<std::string> conditions;
    std::string reason;
};
[[nodiscard]] NestJudgement judge(const Nest& nest, const NestDependences& dependences,
                                  const NestCarrier& carrier);

/// "c[j - 1] -> c[j] from round to round of j: read before write, …": one line for people.
[[nodiscard]] std::string dependenceText(const Nest& nest, const NestDependence& dependence);
/// One line for each way in which runs are independent, then one for each pair that is not.
[[nodiscard]] std::string dependencesText(const Nest& nest, const NestDependences& dependences);
[[nodiscard]] std::string_view dependenceName(NestDependenceKind kind);
/// "between blocks", "from round to round of j".
[[nodiscard]] std::string carrierText(const Nest& nest, const NestCarrier& carrier);

} // namespace kernelskill::analysis
