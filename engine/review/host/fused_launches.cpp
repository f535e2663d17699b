#include "engine/review/host/fused_launches.h"

#include "analysis/syntax/lexer.h"
#include "engine/review/host/counterpart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::FileModel;
using analysis::LaunchSite;

std::vector<const LaunchSite*> launchesOf(const FileModel& file, std::uint32_t function) {
    std::vector<const LaunchSite*> launches;
    for (const analysis::KernelModel& kernel : file.kernels)
        for (const LaunchSite& launch : kernel.launches)
            if (launch.host == function)
                launches.push_back(&launch);
    std::ranges::sort(launches, {}, [](const LaunchSite* launch) { return launch->span; });
    return launches;
}

/// The arguments as written, without comments and white space.
std::vector<std::string> argumentsOf(const FileModel& file, const LaunchSite& launch) {
    std::vector<std::string> arguments;
    const analysis::SourceText* source = sourceOf(file, launch);
    if (source == nullptr)
        return arguments;
    for (const analysis::Span span : launch.argumentSpans)
        arguments.push_back(analysis::tokenText(source->text(), span));
    return arguments;
}

/// The place of each of `arguments` in `fused`; nullopt if one is not there. Where a fused launch
/// passes one value several times, each of them goes to a place of its own, as long as there are
/// such.
std::optional<std::vector<std::size_t>> placesIn(const std::vector<std::string>& fused,
                                                 const std::vector<std::string>& arguments) {
    std::vector<std::size_t> places;
    for (const std::string& argument : arguments) {
        std::optional<std::size_t> found;
        for (std::size_t place = 0; place < fused.size(); ++place) {
            if (fused[place] != argument)
                continue;
            const bool isFree = std::ranges::find(places, place) == places.end();
            if (!found || isFree)
                found = place;
            if (isFree)
                break;
        }
        if (!found)
            return std::nullopt;
        places.push_back(*found);
    }
    return places;
}

/// Like placesIn(), but searches from the last argument to the first: a fused kernel has the
/// parameters that only its second part uses behind the others.
std::optional<std::vector<std::size_t>> placesFromTheEnd(std::vector<std::string> fused,
                                                         std::vector<std::string> arguments) {
    std::ranges::reverse(fused);
    std::ranges::reverse(arguments);
    auto places = placesIn(fused, arguments);
    if (!places)
        return std::nullopt;
    std::ranges::reverse(*places);
    for (std::size_t& place : *places)
        place = fused.size() - 1 - place;
    return places;
}

/// Whether `fused` has the template arguments of `launch` for template parameters of their names.
bool agreeInTemplate(const FileModel& before, const LaunchSite& launch, const FileModel& after,
                     const LaunchSite& fused) {
    const auto* kernel = analysis::kernelNamed(before, launch.kernelName);
    const auto* merged = analysis::kernelNamed(after, fused.kernelName);
    if (kernel == nullptr || merged == nullptr ||
        launch.templateArguments.size() != kernel->templateParameters.size() ||
        fused.templateArguments.size() != merged->templateParameters.size())
        return false;
    for (std::size_t i = 0; i < kernel->templateParameters.size(); ++i) {
        const auto same =
            std::ranges::find(merged->templateParameters, kernel->templateParameters[i].name,
                              &analysis::TemplateParameter::name);
        if (same == merged->templateParameters.end() ||
            fused.templateArguments[static_cast<std::size_t>(
                same - merged->templateParameters.begin())] != launch.templateArguments[i])
            return false;
    }
    return true;
}

std::optional<FusedKernel> fusedKernel(const FileModel& before, const LaunchSite& first,
                                       const LaunchSite& second, const FileModel& after,
                                       const LaunchSite& fused) {
    const auto arguments = argumentsOf(after, fused);
    auto ofFirst = placesIn(arguments, argumentsOf(before, first));
    auto ofSecond = placesFromTheEnd(arguments, argumentsOf(before, second));
    if (!ofFirst || !ofSecond || !agreeInTemplate(before, first, after, fused) ||
        !agreeInTemplate(before, second, after, fused))
        return std::nullopt;
    return FusedKernel{fused.kernelName, first.kernelName, second.kernelName, std::move(*ofFirst),
                       std::move(*ofSecond)};
}

bool areAlike(const FusedKernel& a, const FusedKernel& b) {
    return a.first == b.first && a.second == b.second && a.firstArguments == b.firstArguments &&
           a.secondArguments == b.secondArguments;
}

/// Tells which of two versions has the new kernels.
enum class NewKernels : std::uint8_t { One, Two };

/// Adds the kernels of the fused launches in one host function to `found`: launches of `two` in
/// pairs, for which `one` has a single one. Returns false if the two versions of the function
/// differ in another way.
bool addFused(const FileModel& two, std::uint32_t functionOfTwo, const FileModel& one,
              std::uint32_t functionOfOne, NewKernels newKernels, std::vector<FusedKernel>& found) {
    const auto wanted = launchesOf(two, functionOfTwo);
    std::size_t at = 0;
    for (const LaunchSite* launch : launchesOf(one, functionOfOne)) {
        const bool isAlike =
            newKernels == NewKernels::One
                ? analysis::kernelNamed(two, launch->kernelName) != nullptr
                : at >= wanted.size() ||
                      analysis::kernelNamed(one, wanted[at]->kernelName) != nullptr;
        if (isAlike) {
            if (at >= wanted.size() || wanted[at++]->kernelName != launch->kernelName)
                return false;
            continue;
        }
        if (at + 2 > wanted.size())
            return false;
        auto fused = fusedKernel(two, *wanted[at], *wanted[at + 1], one, *launch);
        at += 2;
        if (!fused)
            return false;
        const auto known = std::ranges::find(found, fused->name, &FusedKernel::name);
        if (known == found.end())
            found.push_back(std::move(*fused));
        else if (!areAlike(*known, *fused))
            return false;
    }
    return at == wanted.size();
}

bool hasValues(const HostStep& step, const HostStep& fused,
               const std::vector<std::size_t>& places) {
    if (step.configuration != fused.configuration || step.stream != fused.stream ||
        step.arguments.size() != places.size())
        return false;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] >= fused.arguments.size() || step.arguments[i] != fused.arguments[places[i]])
            return false;
    return true;
}

std::optional<std::vector<MemoryUse>> memoryOfBoth(const HostStep& first, const HostStep& second) {
    if (!first.memory || !second.memory)
        return std::nullopt;
    std::vector<MemoryUse> both = *first.memory;
    both.insert(both.end(), second.memory->begin(), second.memory->end());
    return both;
}

/// The places in `steps`, from `from` on, of the two launches that `fused` stands for.
std::optional<std::pair<std::size_t, std::size_t>> findPair(const std::vector<HostStep>& steps,
                                                            std::size_t from, const HostStep& fused,
                                                            const FusedKernel& kernel) {
    for (std::size_t first = from; first < steps.size(); ++first) {
        if (steps[first].kernel != kernel.first ||
            !hasValues(steps[first], fused, kernel.firstArguments))
            continue;
        std::size_t second = first + 1;
        while (second < steps.size() && steps[second].kind == HostStepKind::Wait)
            ++second;
        if (second < steps.size() && steps[second].kernel == kernel.second &&
            hasValues(steps[second], fused, kernel.secondArguments))
            return std::pair{first, second};
    }
    return std::nullopt;
}

} // namespace

std::vector<FusedKernel> fusedKernels(const FileModel& before, const FileModel& after) {
    std::vector<FusedKernel> found;
    for (std::uint32_t i = 0; i < before.hostFunctions.size(); ++i) {
        const auto other = counterpart(before, i, after);
        if (!other || !addFused(before, i, after, *other, NewKernels::One, found))
            return {};
    }
    return found;
}

std::vector<FusedKernel> splitKernels(const FileModel& before, const FileModel& after) {
    std::vector<FusedKernel> found;
    for (std::uint32_t i = 0; i < before.hostFunctions.size(); ++i) {
        const auto other = counterpart(before, i, after);
        if (!other || !addFused(after, *other, before, i, NewKernels::Two, found))
            return {};
    }
    return found;
}

std::expected<HostTrace, std::string> withFusedLaunches(const HostTrace& before,
                                                        const HostTrace& after,
                                                        const std::vector<FusedKernel>& fused,
                                                        FusedPlace place) {
    std::map<std::size_t, HostStep> merged; // By the place of the launch that it stands for.
    std::vector<bool> isGone(before.steps.size());
    std::size_t from = 0;
    for (const HostStep& step : after.steps) {
        const auto kernel = std::ranges::find(fused, step.kernel, &FusedKernel::name);
        if (step.kind != HostStepKind::Launch || kernel == fused.end())
            continue;
        const auto pair = findPair(before.steps, from, step, *kernel);
        if (!pair)
            return std::unexpected(
                fmt::format("line {} launches {}, and {} and {} were not launched so, one after "
                            "the other",
                            step.line, kernel->name, kernel->first, kernel->second));
        const auto [first, second] = *pair;
        HostStep one = step;
        one.memory = memoryOfBoth(before.steps[first], before.steps[second]);
        one.line = before.steps[first].line;
        isGone[first] = isGone[second] = true;
        merged.emplace(place == FusedPlace::First ? first : second, std::move(one));
        from = second + 1;
    }
    HostTrace folded = before;
    folded.steps.clear();
    for (std::size_t i = 0; i < before.steps.size(); ++i) {
        if (const auto one = merged.find(i); one != merged.end())
            folded.steps.push_back(one->second);
        else if (!isGone[i])
            folded.steps.push_back(before.steps[i]);
    }
    return folded;
}

} // namespace kernelskill::engine
