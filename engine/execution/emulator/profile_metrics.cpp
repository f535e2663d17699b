#include "engine/execution/emulator/profile_metrics.h"

#include "engine/execution/metric_names.h"

#include <tuple>

namespace kernelskill::engine::emulator {

namespace {

struct NamedCounter {
    Counter counter;
    const char* name;
};

constexpr NamedCounter sums[] = {
    {Counter::GlobalLoadRequests, metric::load.globalRequests},
    {Counter::GlobalLoadSectors, metric::load.globalSectors},
    {Counter::GlobalLoadBytes, metric::load.globalBytes},
    {Counter::GlobalStoreRequests, metric::store.globalRequests},
    {Counter::GlobalStoreSectors, metric::store.globalSectors},
    {Counter::GlobalStoreBytes, metric::store.globalBytes},
    {Counter::GlobalAtomicRequests, metric::globalAtomicRequests},
    {Counter::GlobalAtomicSectors, metric::globalAtomicSectors},
    {Counter::SharedAtomicRequests, metric::sharedAtomicRequests},
    {Counter::AtomicSerializations, metric::atomicSerializations},
    {Counter::AtomicLanes, metric::atomicLanes},
    {Counter::SharedLoadRequests, metric::load.sharedRequests},
    {Counter::SharedLoadWavefronts, metric::load.sharedWavefronts},
    {Counter::SharedLoadConflicts, metric::load.sharedConflicts},
    {Counter::SharedStoreRequests, metric::store.sharedRequests},
    {Counter::SharedStoreWavefronts, metric::store.sharedWavefronts},
    {Counter::SharedStoreConflicts, metric::store.sharedConflicts},
    {Counter::BranchTargets, metric::branchTargets},
    {Counter::BranchTargetsDivergent, metric::divergentBranchTargets},
    {Counter::Barriers, metric::barriers},
    {Counter::WarpOperations, metric::warpOperations},
    {Counter::UniqueBytesLoaded, metric::load.uniqueBytes},
    {Counter::UniqueBytesStored, metric::store.uniqueBytes},
    {Counter::SingleAdds, metric::single.add},
    {Counter::SingleMultiplies, metric::single.multiply},
    {Counter::SingleFused, metric::single.fused},
    {Counter::DoubleAdds, metric::dbl.add},
    {Counter::DoubleMultiplies, metric::dbl.multiply},
    {Counter::DoubleFused, metric::dbl.fused},
    {Counter::HalfAdds, metric::half.add},
    {Counter::HalfMultiplies, metric::half.multiply},
    {Counter::HalfFused, metric::half.fused},
    {Counter::HalfOperations, metric::halfOperations},
    {Counter::Conversions, metric::conversions},
    {Counter::UncountedCalls, metric::uncountedCalls},
};

constexpr double bytesPerSector = 32;
constexpr double percent = 100;

/// Adds no ratio if the denominator is zero.
void addRatio(Metrics& metrics, const char* name, double numerator, double denominator) {
    if (denominator != 0)
        metrics[name] = numerator / denominator;
}

/// A fused operation counts as two.
double floatingOperations(const Counters& counters) {
    const auto value = [&](Counter counter) { return static_cast<double>(counters[counter]); };
    return value(Counter::SingleAdds) + value(Counter::SingleMultiplies) +
           2 * value(Counter::SingleFused) + value(Counter::DoubleAdds) +
           value(Counter::DoubleMultiplies) + 2 * value(Counter::DoubleFused) +
           value(Counter::HalfOperations);
}

} // namespace

Metrics namedMetrics(const Counters& counters) {
    Metrics metrics;
    // A load without conflicts reports zero, which is informative.
    const bool loadsShared = counters[Counter::SharedLoadRequests] != 0;
    const bool storesShared = counters[Counter::SharedStoreRequests] != 0;
    const bool branches = counters[Counter::BranchTargets] != 0;
    for (const NamedCounter& sum : sums) {
        const bool isNews = (sum.counter == Counter::SharedLoadConflicts && loadsShared) ||
                            (sum.counter == Counter::SharedStoreConflicts && storesShared) ||
                            (sum.counter == Counter::BranchTargetsDivergent && branches);
        if (counters[sum.counter] != 0 || isNews)
            metrics[sum.name] = static_cast<double>(counters[sum.counter]);
    }
    const auto value = [&](Counter counter) { return static_cast<double>(counters[counter]); };
    addRatio(metrics, metric::load.sectorsPerRequest, value(Counter::GlobalLoadSectors),
             value(Counter::GlobalLoadRequests));
    addRatio(metrics, metric::store.sectorsPerRequest, value(Counter::GlobalStoreSectors),
             value(Counter::GlobalStoreRequests));
    addRatio(metrics, metric::load.bytesPerSector, percent * value(Counter::GlobalLoadBytes),
             bytesPerSector * value(Counter::GlobalLoadSectors));
    addRatio(metrics, metric::store.bytesPerSector, percent * value(Counter::GlobalStoreBytes),
             bytesPerSector * value(Counter::GlobalStoreSectors));
    for (const auto& [names, sectors, requested, unique] :
         {std::tuple{&metric::load, Counter::GlobalLoadSectors, Counter::GlobalLoadBytes,
                     Counter::UniqueBytesLoaded},
          std::tuple{&metric::store, Counter::GlobalStoreSectors, Counter::GlobalStoreBytes,
                     Counter::UniqueBytesStored}}) {
        if (counters[sectors] != 0)
            metrics[names->movedBytes] = bytesPerSector * value(sectors);
        addRatio(metrics, names->reuse, value(requested), value(unique));
    }
    addRatio(metrics, metric::atomicContention, value(Counter::AtomicSerializations),
             value(Counter::GlobalAtomicRequests) + value(Counter::SharedAtomicRequests));
    addRatio(metrics, metric::activeThreads, value(Counter::ThreadEvents),
             value(Counter::WarpEvents));
    addRatio(metrics, metric::uniformBranchPercent,
             percent * (value(Counter::BranchTargets) - value(Counter::BranchTargetsDivergent)),
             value(Counter::BranchTargets));
    const double operations = floatingOperations(counters);
    if (operations > 0) {
        metrics[metric::floatingOperations] = operations;
        addRatio(metrics, metric::operationsPerUniqueByte, operations,
                 value(Counter::UniqueBytesLoaded) + value(Counter::UniqueBytesStored));
        addRatio(metrics, metric::operationsPerSectorByte, operations,
                 bytesPerSector *
                     (value(Counter::GlobalLoadSectors) + value(Counter::GlobalStoreSectors) +
                      value(Counter::GlobalAtomicSectors)));
    }
    return metrics;
}

} // namespace kernelskill::engine::emulator
