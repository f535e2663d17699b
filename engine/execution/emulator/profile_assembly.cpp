#include "engine/execution/emulator/profile_assembly.h"

#include "engine/execution/emulator/pin_example.h"
#include "engine/execution/emulator/profile_metrics.h"
#include "engine/execution/integer_division.h"
#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelskill::engine::emulator {

namespace {

std::string spelled(const SourcePlace& place) {
    if (place.file.empty())
        return "a place without a line";
    const std::size_t slash = place.file.rfind('/');
    return fmt::format("{}:{}", place.file.substr(slash == std::string::npos ? 0 : slash + 1),
                       place.line + 1);
}

/// Every site in the report's counters, hazards and texts.
std::vector<Site> sitesOf(const WorkerReport& report) {
    std::vector<Site> sites;
    const auto collect = [&](const std::string& text) {
        static_cast<void>(replaceSiteReferences(text, [&](Site site) {
            sites.push_back(site);
            return std::string();
        }));
    };
    for (const auto& [site, counters] : report.sites)
        sites.push_back(site);
    for (const HazardReport& hazard : report.hazards) {
        sites.push_back(hazard.site);
        sites.push_back(hazard.otherSite);
        collect(hazard.message);
    }
    if (report.failure) {
        sites.push_back(report.failure->site);
        collect(report.failure->what);
    }
    return sites;
}

/// Whether the failure may come from inputs: an index or a divisor computed from a guess is a
/// guess.
bool mayComeFromInputs(const WorkerFailure& failure) {
    return failure.what.starts_with("out of bounds") ||
           failure.what.contains(integerDivisionByZero);
}

/// The part that is a guess: the launch, or the contents of buffers of the program's own launch.
std::string_view guessOf(const LaunchSpec& launch) {
    return launch.origin == LaunchOrigin::Guessed ? "a guessed launch"
                                                  : "guessed contents of buffers";
}

Error errorOf(const WorkerFailure& failure, const LaunchSpec& launch, const PlaceTable& places) {
    Error error{failure.kind, "", failure.where, failure.remedy};
    error.what =
        replaceSiteReferences(failure.what, [&](Site site) { return spelled(places.at(site)); });
    const SourcePlace place = places.at(failure.site);
    if (error.where.empty() && !place.file.empty())
        error.where = fmt::format("{}:{}", place.file, place.line + 1);
    if (!hasGuessedInputs(launch))
        return error;
    if (failure.isCutOff) {
        error.what = fmt::format("a loop did not end with {}, {}", guessOf(launch), error.what);
        error.remedy =
            fmt::format("pin a launch whose data let it end, such as `// {}`", pinExample(launch));
    } else if (mayComeFromInputs(failure)) {
        error.what = fmt::format("with {}, which may be at fault: {}", guessOf(launch), error.what);
        error.remedy =
            fmt::format("pin a launch with the values that the program passes, such as `// {}`",
                        pinExample(launch));
    }
    return error;
}

/// Keeps one hazard for each kind and pair of lines, even if several instructions and both
/// directions show it; of accesses out of bounds one on each side of the object. Prefers a certain
/// one, then one on the later line. Errors come before suspicions.
void rank(std::vector<Hazard>& hazards) {
    using Place = std::pair<std::string, std::uint32_t>;
    const auto here = [](const Hazard& hazard) { return Place(hazard.file, hazard.line); };
    const auto there = [&](const Hazard& hazard) {
        return hazard.otherFile.empty() ? here(hazard) : Place(hazard.otherFile, hazard.otherLine);
    };
    std::ranges::stable_sort(hazards, {}, [&](const Hazard& hazard) {
        return std::tuple(!hazard.certain, here(hazard) < there(hazard));
    });
    std::set<std::tuple<HazardKind, std::string, bool, Place, Place>> seen;
    std::erase_if(hazards, [&](const Hazard& hazard) {
        const auto [low, high] = std::minmax({here(hazard), there(hazard)});
        // For other kinds, hazards of different objects on a line differ.
        const std::string object = hazard.kind == HazardKind::Race ? "" : hazard.details.object;
        return !seen.emplace(hazard.kind, object, hazard.details.isInFront(), low, high).second;
    });
    std::ranges::stable_sort(hazards, {}, [&](const Hazard& hazard) {
        return std::tuple(!hazard.certain, here(hazard), there(hazard));
    });
}

void addHazards(Profile& profile, std::vector<HazardReport>& reports, const PlaceTable& places) {
    for (HazardReport& report : reports) {
        const SourcePlace place = places.at(report.site);
        const SourcePlace other =
            report.otherSite != 0 ? places.at(report.otherSite) : SourcePlace{};
        // The compiler may make two calls of one barrier in the source.
        if (report.kind == HazardKind::BarrierDivergence && report.otherSite != 0 &&
            place.file == other.file && place.line == other.line)
            continue;
        std::string message = replaceSiteReferences(
            report.message, [&](Site site) { return spelled(places.at(site)); });
        const bool isExcused = report.kind == HazardKind::OutOfBounds && !report.certain;
        if (isExcused)
            profile.notes.push_back(fmt::format(
                "{}: {}; the launch or its data are guessed, so this may be no fault of the kernel",
                spelled(place), message));
        (isExcused ? profile.excused : profile.hazards)
            .push_back({report.kind, report.certain, place.file, place.line, other.file, other.line,
                        std::move(message), report.block, report.thread,
                        std::move(report.details)});
    }
    rank(profile.hazards);
    rank(profile.excused);
}

} // namespace

Result<void> PlaceTable::require(std::span<const Site> sites, std::stop_token stop) {
    const std::scoped_lock lock{mutex_};
    std::vector<Site> unknown;
    for (const Site site : sites) {
        if (site != 0 && places_.try_emplace(site).second)
            unknown.push_back(site);
    }
    if (unknown.empty())
        return {};
    auto found = resolvePlaces(sharedObject_, unknown, std::move(stop));
    if (!found) {
        for (const Site site : unknown)
            places_.erase(site);
        return std::unexpected(found.error());
    }
    for (std::size_t i = 0; i < unknown.size() && i < found->size(); ++i)
        places_[unknown[i]] = std::move((*found)[i]);
    return {};
}

SourcePlace PlaceTable::at(Site site) const {
    const std::scoped_lock lock{mutex_};
    const auto found = places_.find(site);
    return found == places_.end() ? SourcePlace{} : found->second;
}

Result<RunResult> assembleResult(WorkerReport report, const Job& job, PlaceTable& places,
                                 std::stop_token stop) {
    auto resolved = places.require(sitesOf(report), stop);
    if (!resolved && resolved.error().kind == ErrorKind::Cancelled)
        return std::unexpected(resolved.error());
    if (report.failure)
        return std::unexpected(errorOf(*report.failure, job.launch, places));

    RunResult result;
    Profile& profile = result.profile;
    profile.kernel = job.launch.kernel;
    profile.executor = "emulator";
    profile.launch = job.launch;
    profile.blocksRun = report.blocksRun;
    profile.extents = std::move(report.extents);
    profile.notes = std::move(report.notes);
    profile.contentions = std::move(report.contentions);
    profile.conditions = std::move(report.conditions);
    if (!resolved)
        profile.notes.push_back("no line numbers: " + resolved.error().describe());
    if (job.wantProfile) {
        profile.metrics = namedMetrics(report.totals);
        profile.metrics.try_emplace(metric::floatingOperations, 0);
    }
    std::map<std::pair<std::string, std::uint32_t>, Counters> lines;
    for (const auto& [site, counters] : report.sites) {
        const SourcePlace place = places.at(site);
        if (!place.file.empty())
            lines[{place.file, place.line}] += counters;
    }
    for (const auto& [place, counters] : lines)
        profile.lines.push_back({place.first, place.second, namedMetrics(counters)});
    addHazards(profile, report.hazards, places);
    result.outputs = std::move(report.outputs);
    result.printed = std::move(report.printed);
    return result;
}

} // namespace kernelskill::engine::emulator
