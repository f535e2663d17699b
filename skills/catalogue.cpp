#include "skills/catalogue.h"

#include "skills/address-strength-reduction/address-strength-reduction.h"
#include "skills/async-copy/async-copy.h"
#include "skills/atomics-privatization/atomics-privatization.h"
#include "skills/block-swizzle/block-swizzle.h"
#include "skills/coalesced-access/coalesced-access.h"
#include "skills/cuda-graph-replay/cuda-graph-replay.h"
#include "skills/fast-math-intrinsics/fast-math-intrinsics.h"
#include "skills/grid-stride-loop/grid-stride-loop.h"
#include "skills/launch-bounds/launch-bounds.h"
#include "skills/launch-tuning/launch-tuning.h"
#include "skills/live-range-reduction/live-range-reduction.h"
#include "skills/loop-unrolling/loop-unrolling.h"
#include "skills/memory-level-parallelism/memory-level-parallelism.h"
#include "skills/occupancy-shared-memory-tradeoff/occupancy-shared-memory-tradeoff.h"
#include "skills/reduced-unrolling/reduced-unrolling.h"
#include "skills/restrict-and-const/restrict-and-const.h"
#include "skills/shared-memory-padding/shared-memory-padding.h"
#include "skills/software-prefetch/software-prefetch.h"
#include "skills/stream-overlap/stream-overlap.h"
#include "skills/thread-coarsening/thread-coarsening.h"
#include "skills/vectorization-refinement/vectorization-refinement.h"
#include "skills/vectorized-access/vectorized-access.h"
#include "skills/vectorized-math/vectorized-math.h"
#include "skills/warp-shuffle-reduction/warp-shuffle-reduction.h"
#include "skills/warp-uniform-control-flow/warp-uniform-control-flow.h"

namespace kernelskill::skills {

std::vector<std::unique_ptr<Skill>> makeCatalogue() {
    std::vector<std::unique_ptr<Skill>> skills;
    skills.push_back(makeCoalescedAccess());
    skills.push_back(makeSharedMemoryPadding());
    skills.push_back(makeWarpShuffleReduction());
    skills.push_back(makeVectorizedAccess());
    skills.push_back(makeRestrictAndConst());
    skills.push_back(makeLoopUnrolling());
    skills.push_back(makeThreadCoarsening());
    skills.push_back(makeLaunchTuning());
    skills.push_back(makeGridStrideLoop());
    skills.push_back(makeAtomicsPrivatization());
    skills.push_back(makeFastMathIntrinsics());
    skills.push_back(makeMemoryLevelParallelism());
    skills.push_back(makeWarpUniformControlFlow());
    skills.push_back(makeLaunchBounds());
    skills.push_back(makeReducedUnrolling());
    skills.push_back(makeLiveRangeReduction());
    skills.push_back(makeOccupancySharedMemoryTradeoff());
    skills.push_back(makeBlockSwizzle());
    skills.push_back(makeCudaGraphReplay());
    skills.push_back(makeStreamOverlap());
    skills.push_back(makeAddressStrengthReduction());
    skills.push_back(makeSoftwarePrefetch());
    skills.push_back(makeAsyncCopy());
    skills.push_back(makeVectorizedMath());
    skills.push_back(makeVectorizationRefinement());
    return skills;
}

} // namespace kernelskill::skills
