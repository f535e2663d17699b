#include "lsp-server/report/metric_explanation.h"

#include "engine/execution/metric_names.h"

#include <algorithm>
#include <array>

namespace kernelskill::lsp {
namespace {

namespace metric = engine::metric;

struct Explanation {
    std::string_view metric;
    std::string_view text;
};
constexpr std::array explanations{
    Explanation{metric::medianTime, "Of a launch by itself, the L2 cache swept before each."},
    Explanation{"gpu__time_duration.sum",
                "While counters are read: usually longer than the median time."},
    Explanation{"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                "The busiest pipe of the multiprocessors, over the whole time."},
    Explanation{"dram__throughput.avg.pct_of_peak_sustained_elapsed",
                "Near 100 %, memory bandwidth is the limit."},
    Explanation{"lts__throughput.avg.pct_of_peak_sustained_elapsed",
                "The busiest part of the L2 cache."},
    Explanation{"l1tex__throughput.avg.pct_of_peak_sustained_active",
                "High with low DRAM and L2: shared memory or uncoalesced access."},
    Explanation{"sm__warps_active.avg.pct_of_peak_sustained_active",
                "Warps that are resident, of those a multiprocessor can hold."},
    Explanation{"smsp__issue_active.avg.pct_of_peak_sustained_active",
                "Cycles in which a scheduler finds a warp that can go on."},
    Explanation{metric::load.sectorsPerRequest,
                "Sectors of 32 bytes for each warp's load; 4 are enough for 32 floats."},
    Explanation{metric::store.sectorsPerRequest,
                "Sectors of 32 bytes for each warp's store; 4 are enough for 32 floats."},
    Explanation{metric::load.countedSectorsPerRequest,
                "From the addresses of the lanes, of the same launch."},
    Explanation{metric::store.countedSectorsPerRequest,
                "From the addresses of the lanes, of the same launch."},
    Explanation{metric::load.bytesPerSector, "What lanes use of what they make memory move."},
    Explanation{metric::store.bytesPerSector, "What lanes use of what they make memory move."},
    Explanation{metric::load.uniqueBytes, "DRAM moves at least so many, each once."},
    Explanation{metric::store.uniqueBytes, "DRAM moves at least so many, each once."},
    Explanation{metric::load.reuse, "Above 1, caches or shared memory can save traffic."},
    Explanation{metric::load.sharedWavefronts,
                "Turns that shared memory takes; one per request where no banks collide."},
    Explanation{metric::store.sharedWavefronts,
                "Turns that shared memory takes; one per request where no banks collide."},
    Explanation{metric::load.sharedConflicts, "Turns more than without bank conflicts."},
    Explanation{metric::store.sharedConflicts, "Turns more than without bank conflicts."},
    Explanation{metric::localLoads, "Of spilled registers, and of arrays not kept in registers."},
    Explanation{metric::localStores, "Of spilled registers, and of arrays not kept in registers."},
    Explanation{metric::atomicContention, "Lanes of a warp that update one address take turns."},
    Explanation{metric::floatingOperations, "A multiply-add counts as two."},
    Explanation{metric::operationsPerUniqueByte,
                "Arithmetic intensity if caches keep everything that is used again."},
    Explanation{metric::operationsPerSectorByte, "Arithmetic intensity if caches keep nothing."},
    Explanation{metric::activeThreads, "Of 32: fewer where lanes part ways or blocks end."},
    Explanation{metric::uniformBranchPercent, "Branches that all lanes of a warp take alike."},
    Explanation{metric::barriers, "One for each block and each time it goes through."},
    Explanation{metric::uncountedCalls, "Their arithmetic is in none of the counts."},
};

} // namespace

std::string_view explanationOf(std::string_view metric) {
    const auto found = std::ranges::find(explanations, metric, &Explanation::metric);
    return found == explanations.end() ? std::string_view() : found->text;
}

} // namespace kernelskill::lsp
