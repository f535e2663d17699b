#include "analysis/source/gpu_constants.h"
#include "engine/diagnosis/dependent_loads.h"
#include "engine/diagnosis/signals.h"
#include "engine/execution/metric_names.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelskill::engine {
namespace {

double sum(const Metrics& metrics, std::initializer_list<const char*> names) {
    double total = 0;
    for (const char* name : names)
        total += findMetric(metrics, name).value_or(0);
    return total;
}

/// The warps of one block; the last one may be partly empty.
double warpsOf(const Dim3& block) {
    const std::uint64_t warps = (block.count() + analysis::warpLanes - 1) / analysis::warpLanes;
    return static_cast<double>(warps);
}

Signal signalAt(std::string name, double value, const LineMetrics& place) {
    Signal signal;
    signal.name = std::move(name);
    signal.value = value;
    signal.file = place.file;
    signal.line = place.line;
    return signal;
}

Signal signalOf(std::string name, double value, const analysis::KernelModel& kernel) {
    Signal signal;
    signal.name = std::move(name);
    signal.value = value;
    signal.file = kernel.file;
    return signal;
}

void addSectors(const Profile& profile, std::vector<Signal>& signals) {
    double total = sum(profile.metrics, {metric::load.globalSectors, metric::store.globalSectors});
    for (const LineMetrics& place : profile.lines) {
        for (const metric::AccessNames* access : metric::accesses) {
            auto requests = findMetric(place.metrics, access->globalRequests);
            auto sectors = findMetric(place.metrics, access->globalSectors);
            auto bytes = findMetric(place.metrics, access->globalBytes);
            if (!requests || !sectors || !bytes || *requests <= 0 || *bytes <= 0)
                continue;
            // If lanes ask for the same bytes, or for a part of a sector, each request still needs
            // one sector.
            double minimum = std::max(*bytes / analysis::sectorBytes, *requests);
            Signal signal = signalAt("sector_overfetch", *sectors / minimum, place);
            signal.share = total > 0 ? *sectors / total : 1;
            signal.numbers["sectors_per_request"] = *sectors / *requests;
            signal.numbers["minimum"] = minimum / *requests;
            signal.words["access"] = std::string("global ") + access->word;
            signals.push_back(std::move(signal));
        }
    }
}

/// Adds no signal if local memory was not counted.
void addLocalTraffic(const analysis::KernelModel& kernel, const Profile& profile,
                     std::vector<Signal>& signals) {
    const auto loads = findMetric(profile.metrics, metric::localLoadSectors);
    const auto stores = findMetric(profile.metrics, metric::localStoreSectors);
    if (!loads && !stores)
        return;
    const double local = loads.value_or(0) + stores.value_or(0);
    const double global =
        sum(profile.metrics, {metric::load.globalSectors, metric::store.globalSectors});
    const double share = local > 0 ? 100 * local / (local + global) : 0;
    Signal signal = signalOf("local_traffic_percent", share, kernel);
    signal.numbers = {{"loaded", loads.value_or(0)}, {"stored", stores.value_or(0)}};
    signals.push_back(std::move(signal));
}

void addBankConflicts(const Profile& profile, std::vector<Signal>& signals) {
    double total =
        sum(profile.metrics, {metric::load.sharedWavefronts, metric::store.sharedWavefronts});
    for (const LineMetrics& place : profile.lines) {
        for (const metric::AccessNames* access : metric::accesses) {
            auto wavefronts = findMetric(place.metrics, access->sharedWavefronts);
            auto conflicts = findMetric(place.metrics, access->sharedConflicts);
            if (!wavefronts || !conflicts || *wavefronts - *conflicts <= 0)
                continue;
            Signal signal = signalAt("wavefronts_over_minimum",
                                     *wavefronts / (*wavefronts - *conflicts), place);
            signal.share = total > 0 ? *wavefronts / total : 1;
            signal.numbers["wavefronts"] = *wavefronts;
            signal.numbers["requests"] = findMetric(place.metrics, access->sharedRequests)
                                             .value_or(*wavefronts - *conflicts);
            signal.words["access"] = access->word;
            signals.push_back(std::move(signal));
        }
    }
}

void addAtomics(const Profile& profile, std::vector<Signal>& signals) {
    for (const LineMetrics& place : profile.lines) {
        const double requests =
            sum(place.metrics, {metric::globalAtomicRequests, metric::sharedAtomicRequests});
        const auto turns = findMetric(place.metrics, metric::atomicSerializations);
        if (turns && requests > 0)
            signals.push_back(signalAt("atomic_lanes_per_address", *turns / requests, place));
    }
}

/// The line of the main file's barrier that was passed most often.
std::optional<std::uint32_t> mostPassedBarrier(const Profile& profile, const std::string& file) {
    std::optional<std::uint32_t> line;
    double most = 0;
    for (const LineMetrics& place : profile.lines) {
        const double passed = findMetric(place.metrics, metric::barriers).value_or(0);
        if (place.file == file && passed > most) {
            most = passed;
            line = place.line;
        }
    }
    return line;
}

void addBarriers(const DiagnosisInput& input, std::vector<Signal>& signals) {
    const auto& kernel = input.kernel;
    const Profile& profile = *input.profile;
    const auto barriers = findMetric(profile.metrics, metric::barriers);
    // A single barrier between two phases is normal; a barrier in a loop is a pattern.
    const bool isInLoop = std::ranges::any_of(kernel.loops, &analysis::Loop::hasBarrier);
    if (!barriers || *barriers <= 0 || !isInLoop)
        return;
    double requests = 0;
    for (const metric::AccessNames* access : metric::accesses)
        requests += sum(profile.metrics, {access->globalRequests, access->sharedRequests});
    const double warps = warpsOf(profile.launch.block);
    Signal signal = signalOf("requests_per_barrier", requests / (*barriers * warps), kernel);
    signal.numbers["barriers"] = *barriers;
    signal.line = mostPassedBarrier(profile, kernel.file);
    signals.push_back(std::move(signal));
}

void addDivergence(const analysis::KernelModel& kernel, const Profile& profile,
                   std::vector<Signal>& signals) {
    const auto uniform = findMetric(profile.metrics, metric::uniformBranchPercent);
    if (!uniform)
        return;
    Signal signal = signalOf("divergent_branch_percent", 100 - *uniform, kernel);
    double most = 0;
    for (const LineMetrics& place : profile.lines) {
        const auto here = findMetric(place.metrics, metric::uniformBranchPercent);
        if (!here)
            continue;
        const double divergent =
            findMetric(place.metrics, metric::divergentBranchTargets).value_or(100 - *here);
        if (divergent > most) {
            most = divergent;
            signal.file = place.file;
            signal.line = place.line;
            signal.numbers["here"] = 100 - *here;
        }
    }
    signals.push_back(std::move(signal));
}

/// Adds the traffic of each line with global accesses, loads and stores together.
void addTraffic(const Profile& profile, std::vector<Signal>& signals) {
    const auto sectors = [](const Metrics& metrics) {
        return sum(metrics, {metric::load.globalSectors, metric::store.globalSectors});
    };
    const double total = sectors(profile.metrics);
    for (const LineMetrics& place : profile.lines)
        if (const double here = sectors(place.metrics); here > 0 && total > 0)
            signals.push_back(signalAt("traffic_percent", 100 * here / total, place));
}

/// Adds each dependent load with the average number of times that a thread makes it.
void addDependentLoads(const DiagnosisInput& input, const std::vector<Signal>& fromText,
                       std::vector<Signal>& signals) {
    const Profile& profile = *input.profile;
    const auto threads =
        static_cast<double>(profile.launch.grid.count() * profile.launch.block.count());
    if (input.source == nullptr || threads <= 0)
        return;
    for (const Signal& chained : fromText) {
        if (chained.name != "dependent_load_in_loop")
            continue;
        const auto place = std::ranges::find_if(profile.lines, [&](const LineMetrics& line) {
            return line.line == chained.line && line.file == chained.file;
        });
        if (place == profile.lines.end())
            continue;
        const auto bytes = findMetric(place->metrics, metric::load.globalBytes);
        if (!bytes)
            continue;
        Signal signal = chained;
        signal.name = "dependent_loads_per_thread";
        signal.value = *bytes / chained.numbers.at("line_bytes") / threads;
        signals.push_back(std::move(signal));
    }
}

} // namespace

std::vector<Signal> profileSignals(const DiagnosisInput& input,
                                   const std::vector<Signal>& fromText) {
    std::vector<Signal> signals;
    if (input.profile == nullptr)
        return signals;
    const Profile& profile = *input.profile;
    addSectors(profile, signals);
    addTraffic(profile, signals);
    addLocalTraffic(input.kernel, profile, signals);
    addBankConflicts(profile, signals);
    addAtomics(profile, signals);
    addBarriers(input, signals);
    addDivergence(input.kernel, profile, signals);
    addDependentLoads(input, fromText, signals);
    return signals;
}

} // namespace kernelskill::engine
