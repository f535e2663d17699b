#include "engine/static_facts/local_memory.h"

#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine {

bool usesNoLocalMemory(const StaticFacts& facts) {
    // A note means that the numbers are incomplete.
    return facts.stackBytes == 0 && facts.spillStoreBytes == 0 && facts.spillLoadBytes == 0 &&
           facts.notes.empty();
}

void addLocalMemory(Metrics& metrics, const StaticFacts& facts) {
    if (!usesNoLocalMemory(facts))
        return;
    for (const char* name : {metric::localLoads, metric::localStores, metric::localLoadSectors,
                             metric::localStoreSectors})
        metrics.try_emplace(name, 0);
}

std::string describeLocalMemory(const StaticFacts& facts) {
    if (usesNoLocalMemory(facts))
        return "none";
    const auto spills = facts.spillStoreBytes + facts.spillLoadBytes;
    return fmt::format("not counted: {} bytes of stack a thread, {}", facts.stackBytes,
                       spills == 0 ? std::string("no spills")
                                   : fmt::format("spills of {} bytes stored and {} loaded",
                                                 facts.spillStoreBytes, facts.spillLoadBytes));
}

} // namespace kernelskill::engine
