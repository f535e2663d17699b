#include "engine/diagnosis/signals.h"
#include "engine/execution/metric_names.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr double sectorBytes = 32;
constexpr std::uint64_t warpSize = 32;

std::optional<double> valueOf(const Metrics& metrics, const std::string& name) {
    auto found = metrics.find(name);
    if (found == metrics.end())
        return std::nullopt;
    return found->second;
}

double sum(const Metrics& metrics, std::initializer_list<const char*> names) {
    double total = 0;
    for (const char* name : names)
        total += valueOf(metrics, name).value_or(0);
    return total;
}

/// Of one block; the last one may be partly empty.
double warpsOf(const Dim3& block) {
    const std::uint64_t warps = (block.count() + warpSize - 1) / warpSize;
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
            auto requests = valueOf(place.metrics, access->globalRequests);
            auto sectors = valueOf(place.metrics, access->globalSectors);
            auto bytes = valueOf(place.metrics, access->globalBytes);
            if (!requests || !sectors || !bytes || *requests <= 0 || *bytes <= 0)
                continue;
            // Lanes that ask for the same bytes, or for a part of a sector, need one sector each
            // request all the same.
            double minimum = std::max(*bytes / sectorBytes, *requests);
            Signal signal = signalAt("sector_overfetch", *sectors / minimum, place);
            signal.share = total > 0 ? *sectors / total : 1;
            signal.numbers["sectors_per_request"] = *sectors / *requests;
            signal.numbers["minimum"] = minimum / *requests;
            signal.words["access"] = std::string("global ") + access->word;
            signals.push_back(std::move(signal));
        }
    }
}

void addBankConflicts(const Profile& profile, std::vector<Signal>& signals) {
    double total =
        sum(profile.metrics, {metric::load.sharedWavefronts, metric::store.sharedWavefronts});
    for (const LineMetrics& place : profile.lines) {
        for (const metric::AccessNames* access : metric::accesses) {
            auto wavefronts = valueOf(place.metrics, access->sharedWavefronts);
            auto conflicts = valueOf(place.metrics, access->sharedConflicts);
            if (!wavefronts || !conflicts || *wavefronts - *conflicts <= 0)
                continue;
            Signal signal = signalAt("wavefronts_over_minimum",
                                     *wavefronts / (*wavefronts - *conflicts), place);
            signal.share = total > 0 ? *wavefronts / total : 1;
            signal.numbers["wavefronts"] = *wavefronts;
            signal.numbers["requests"] =
                valueOf(place.metrics, access->sharedRequests).value_or(*wavefronts - *conflicts);
            signal.words["access"] = access->word;
            signals.push_back(std::move(signal));
        }
    }
}

void addAtomics(const Profile& profile, std::vector<Signal>& signals) {
    for (const LineMetrics& place : profile.lines) {
        const double requests =
            sum(place.metrics, {metric::globalAtomicRequests, metric::sharedAtomicRequests});
        const auto turns = valueOf(place.metrics, metric::atomicSerializations);
        if (turns && requests > 0)
            signals.push_back(signalAt("atomic_lanes_per_address", *turns / requests, place));
    }
}

void addBarriers(const analysis::KernelModel& kernel, const Profile& profile,
                 std::vector<Signal>& signals) {
    auto barriers = valueOf(profile.metrics, metric::barriers);
    // A single barrier between two phases is no pattern; one in a loop is.
    bool isInLoop = std::ranges::any_of(kernel.loops, &analysis::Loop::hasBarrier);
    if (!barriers || *barriers <= 0 || !isInLoop)
        return;
    double requests = 0;
    for (const metric::AccessNames* access : metric::accesses)
        requests += sum(profile.metrics, {access->globalRequests, access->sharedRequests});
    const double warps = warpsOf(profile.launch.block);
    Signal signal = signalOf("requests_per_barrier", requests / (*barriers * warps), kernel);
    signal.numbers["barriers"] = *barriers;
    signals.push_back(std::move(signal));
}

void addDivergence(const analysis::KernelModel& kernel, const Profile& profile,
                   std::vector<Signal>& signals) {
    auto uniform = valueOf(profile.metrics, metric::uniformBranchPercent);
    if (!uniform)
        return;
    Signal signal = signalOf("divergent_branch_percent", 100 - *uniform, kernel);
    double worst = 100;
    for (const LineMetrics& place : profile.lines) {
        auto here = valueOf(place.metrics, metric::uniformBranchPercent);
        if (here && *here < worst) {
            worst = *here;
            signal.file = place.file;
            signal.line = place.line;
        }
    }
    signals.push_back(std::move(signal));
}

void addOccupancy(const analysis::KernelModel& kernel, const Profile& profile,
                  const Machine& machine, std::vector<Signal>& signals) {
    // A guessed launch says nothing about how the user launches.
    if (profile.launch.origin == LaunchOrigin::Guessed || profile.launch.block.count() == 0)
        return;
    auto threads = profile.launch.block.count();
    const double warps = warpsOf(profile.launch.block);
    auto shared = static_cast<double>(profile.launch.dynamicSharedBytes);
    for (const analysis::SharedArray& array : kernel.sharedArrays)
        shared += static_cast<double>(array.bytes);
    double blocks = std::min({machine.blocksPerMultiprocessor,
                              std::floor(machine.warpsPerMultiprocessor / warps),
                              std::floor(machine.sharedBytesPerMultiprocessor /
                                         (shared + machine.sharedBytesReservedPerBlock))});
    Signal resident = signalOf("resident_warps_percent",
                               100 * blocks * warps / machine.warpsPerMultiprocessor, kernel);
    resident.numbers["threads"] = static_cast<double>(threads);
    resident.numbers["shared"] = shared;
    signals.push_back(std::move(resident));

    auto grid = static_cast<double>(profile.launch.grid.count());
    Signal spread = signalOf("blocks_per_multiprocessor", grid / machine.multiprocessors, kernel);
    spread.numbers["blocks"] = grid;
    signals.push_back(std::move(spread));
}

void addIntensity(const analysis::KernelModel& kernel, const analysis::Features& features,
                  const Profile& profile, const analysis::SourceText* source,
                  std::vector<Signal>& signals) {
    double requested = sum(profile.metrics, {metric::load.globalBytes, metric::store.globalBytes});
    double unique = sum(profile.metrics, {metric::load.uniqueBytes, metric::store.uniqueBytes});
    if (!features.arithmeticIntensity || requested <= 0 || unique <= 0)
        return;
    // The source's estimate counts each access; what is asked for again can come out of a cache.
    double intensity = *features.arithmeticIntensity * requested / unique;
    Signal signal = signalOf("intensity_over_unique_bytes", intensity, kernel);
    signal.numbers["bytes"] = unique;
    signals.push_back(signal);
    for (const Signal& contraction : staticSignals(kernel, features, source)) {
        if (contraction.name == "contraction_over_two_axes") {
            signal.name = "contraction_intensity";
            signal.line = contraction.line;
            signals.push_back(signal);
        }
    }
}

} // namespace

std::vector<Signal> profileSignals(const analysis::KernelModel& kernel,
                                   const analysis::Features& features, const Profile& profile,
                                   const Machine& machine, const analysis::SourceText* source) {
    std::vector<Signal> signals;
    addSectors(profile, signals);
    addBankConflicts(profile, signals);
    addAtomics(profile, signals);
    addBarriers(kernel, profile, signals);
    addDivergence(kernel, profile, signals);
    addOccupancy(kernel, profile, machine, signals);
    addIntensity(kernel, features, profile, source, signals);
    return signals;
}

} // namespace kernelskill::engine
