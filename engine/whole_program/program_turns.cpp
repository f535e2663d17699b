#include "engine/whole_program/program_turns.h"

#include "analysis/model/known_functions.h"
#include "engine/capture/kernel_symbol.h"
#include "engine/review/timing_verdict.h"

#include <algorithm>
#include <functional>

namespace kernelskill::engine {
namespace {

constexpr double perSecond = 1e9;

double secondsOf(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / perSecond;
}

std::map<std::string, double> secondsByName(const TimelineSummary& summary) {
    std::map<std::string, double> seconds;
    for (const KernelTimes& kernel : summary.kernels)
        seconds[kernelSymbol(kernel.symbol).qualifiedName] += secondsOf(kernel.total);
    return seconds;
}

/// The sum over all GPUs of a figure: a member, or a function without arguments.
template <typename Figure>
std::uint64_t sumOf(const TimelineSummary& summary, Figure figure) {
    std::uint64_t sum = 0;
    for (const DeviceTimes& device : summary.devices)
        sum += std::invoke(figure, device);
    return sum;
}

} // namespace

std::vector<double> ratiosOf(std::span<const TimePair> pairs) {
    std::vector<double> ratios;
    for (const TimePair& pair : pairs)
        if (pair.isMeasured())
            ratios.push_back(pair.before / pair.after);
    std::ranges::sort(ratios);
    return ratios;
}

std::optional<double> speedupOf(std::span<const TimePair> pairs) {
    const auto ratios = ratiosOf(pairs);
    return ratios.empty() ? std::nullopt : std::optional(summarise(ratios).median);
}

bool isFaster(std::span<const TimePair> pairs) {
    const auto ratios = ratiosOf(pairs);
    const bool isFasterInEach = ratios.size() > 1 && ratios.front() > 1;
    return !ratios.empty() && (isFasterInEach || summarise(ratios).median > 1 + runNoise);
}

bool isFasterInEachTurn(std::span<const TimePair> pairs) {
    const auto ratios = ratiosOf(pairs);
    return ratios.size() > 1 && ratios.front() > 1 && summarise(ratios).median > 1 + runNoise;
}

bool isSlower(std::span<const TimePair> pairs) {
    const auto ratios = ratiosOf(pairs);
    return !ratios.empty() && ratios.back() < 1 && summarise(ratios).median < 1 - runNoise;
}

std::vector<TimePair> ProgramTurns::gpu() const {
    std::vector<TimePair> pairs;
    for (const TimelineTurn& turn : kernels)
        pairs.push_back({secondsOf(turn.before.gpuTime()), secondsOf(turn.after.gpuTime())});
    return pairs;
}

std::vector<TimePair> ProgramTurns::gpuWithoutSameCopies() const {
    std::vector<TimePair> pairs = gpu();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [before, after] = kernels[i];
        if (sumOf(before, &DeviceTimes::copiedBytes) != sumOf(after, &DeviceTimes::copiedBytes))
            continue;
        pairs[i].before -= secondsOf(sumOf(before, &DeviceTimes::copies));
        pairs[i].after -= secondsOf(sumOf(after, &DeviceTimes::copies));
    }
    return pairs;
}

std::vector<TimePair> ProgramTurns::spans() const {
    std::vector<TimePair> pairs;
    for (const auto& [before, after] : kernels)
        pairs.push_back({secondsOf(sumOf(before, &DeviceTimes::span)),
                         secondsOf(sumOf(after, &DeviceTimes::span))});
    return pairs;
}

std::vector<TimePair> ProgramTurns::ofKernels() const {
    std::vector<TimePair> pairs;
    for (const TimelineTurn& turn : kernels)
        pairs.push_back({secondsOf(turn.before.kernelTime()), secondsOf(turn.after.kernelTime())});
    return pairs;
}

std::vector<TimePair> ProgramTurns::ofSymbol(const std::string& symbol) const {
    const auto secondsIn = [&](const TimelineSummary& summary) {
        const auto found = std::ranges::find(summary.kernels, symbol, &KernelTimes::symbol);
        return found == summary.kernels.end() ? 0.0 : secondsOf(found->total);
    };
    std::vector<TimePair> pairs;
    for (const TimelineTurn& turn : kernels)
        pairs.push_back({secondsIn(turn.before), secondsIn(turn.after)});
    return pairs;
}

std::vector<TimePair> ProgramTurns::ofInstantiation(const std::string& symbol,
                                                    const std::set<std::string>& added) const {
    auto pairs = ofSymbol(symbol);
    const bool hasMore = std::ranges::any_of(kernels, [&](const TimelineTurn& turn) {
        const auto before = secondsByName(turn.before);
        return std::ranges::any_of(secondsByName(turn.after), [&](const auto& after) {
            return !before.contains(after.first) &&
                   added.contains(std::string(analysis::unqualified(after.first)));
        });
    });
    if (!hasMore && std::ranges::all_of(pairs, &TimePair::isMeasured))
        return pairs;
    return ofKernel(kernelSymbol(symbol).qualifiedName, added);
}

std::vector<TimePair> ProgramTurns::ofKernel(const std::string& qualifiedName,
                                             const std::set<std::string>& added) const {
    std::vector<TimePair> pairs;
    for (const TimelineTurn& turn : kernels) {
        const auto before = secondsByName(turn.before);
        TimePair pair;
        if (const auto found = before.find(qualifiedName); found != before.end())
            pair.before = found->second;
        for (const auto& [name, seconds] : secondsByName(turn.after)) {
            const bool isAdded =
                !before.contains(name) && added.contains(std::string(analysis::unqualified(name)));
            if (name == qualifiedName || isAdded)
                pair.after += seconds;
        }
        pairs.push_back(pair);
    }
    return pairs;
}

} // namespace kernelskill::engine
