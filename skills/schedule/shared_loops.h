/// Loops of a kernel whose rounds several threads can share: the lanes of a warp, those of a block,
/// or those along an axis of it.
#pragma once

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/queries/source_layout.h"
#include "skills/base/skill.h"
#include "skills/schedule/kept_element.h"
#include "skills/schedule/lane_loop.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Half of the threads that a data-centre GPU holds: enough to keep its memory busy with a few
/// loads a thread. Launches of as many gain nothing by further threads.
inline constexpr std::int64_t enoughThreads =
    analysis::DataCentreGpu::multiprocessors * analysis::DataCentreGpu::residentThreads / 2;

/// Loops, and the code around them: all threads that share the loops run it alike, on the same
/// values.
struct SharedLoops {
    std::vector<LaneLoop> loops;
    std::vector<analysis::StmtId> stores; ///< Stores outside of `loops`, for one of the threads.
    std::vector<KeptElement> kept;        ///< Elements that loops fold into.
    std::vector<std::string> names;       ///< The names of the registers of `kept`.
};

/// Returns the loop that the node is in; nullptr if it is in none.
[[nodiscard]] const LaneLoop*
sharedLoopAround(const analysis::Nest& nest, const SharedLoops& shared, analysis::NestNodeId node);

/// Returns the first loop with a running value; nullptr if there is none.
[[nodiscard]] const LaneLoop* scannedLoop(const SharedLoops& shared);

/// Returns whether the loops' floating-point sums or products are made in another order.
[[nodiscard]] bool reassociates(const SharedLoops& shared);

/// Returns the names of the values that the loops fold into.
[[nodiscard]] std::vector<std::string> foldedNames(const SkillContext& context,
                                                   const SharedLoops& shared);

/// Refuses a loop, a node of the nest, that it does not pay to share.
using LoopGate = std::function<Gated<void>(analysis::NestNodeId)>;

/// The region to look for loops in, and which loops to take.
struct LoopSearch {
    LoopScans scans = LoopScans::Refused; ///< Whether loops may have running values.
    /// The rounds that a loop needs if their number is known.
    int minRounds = analysis::warpLanes;
    /// A statement that a single thread runs, whose work the lanes of its warp are to do alike;
    /// noId: the whole kernel, whose threads do not know of each other. Statements there that store
    /// fall to one of the lanes whole.
    analysis::StmtId region = analysis::noId;
};

/// Finds the outermost loops of the kernel's own text that `isWorthIt` lets pass and that threads
/// can share. Refuses with `no-row-loop`, `short-rows`, `carries-over`, `running-variance`,
/// `columns-overlap`, `row-memory`, what keptElements() and requireDistinctWrites() refuse with,
/// and what `isWorthIt` says if there is no other reason. A region also refuses with
/// `lanes-differ`, `used-after`, `barrier` and `unknown-effects`.
[[nodiscard]] Gated<SharedLoops> sharedLoops(const SkillContext& context, const LoopGate& isWorthIt,
                                             const LoopSearch& search = {});

/// Refuses with `columns-overlap` where the nest's dependences do not show that rounds of the loops
/// are independent, the folds aside. Takes milliseconds.
[[nodiscard]] Gated<void> requireIndependentRounds(const SkillContext& context,
                                                   const SharedLoops& shared);

} // namespace kernelskill::skills
