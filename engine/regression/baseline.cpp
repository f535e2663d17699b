#include "engine/regression/baseline.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "analysis/source/try.h"
#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace kernelskill::engine {

using nlohmann::json;

namespace {

constexpr int formatVersion = 1;

constexpr const char* formatOf(BaselineSubject subject) {
    return subject == BaselineSubject::Files ? "kernelskill-baseline"
                                             : "kernelskill-program-baseline";
}

Error unusable(const std::filesystem::path& file, std::string what,
               std::string remedy = "write it anew with --update") {
    return {ErrorKind::InvalidInput, std::move(what), file.string(), std::move(remedy)};
}

constexpr std::array allMetrics{
    CountedMetric{metric::load.globalSectors, "sectors loaded"},
    CountedMetric{metric::store.globalSectors, "sectors stored"},
    CountedMetric{metric::load.globalRequests, "load requests"},
    CountedMetric{metric::store.globalRequests, "store requests"},
    CountedMetric{metric::globalAtomicSectors, "sectors of atomics"},
    CountedMetric{metric::atomicSerializations, "turns of atomics"},
    CountedMetric{metric::load.sharedWavefronts, "shared-memory load wavefronts"},
    CountedMetric{metric::store.sharedWavefronts, "shared-memory store wavefronts"},
    CountedMetric{metric::load.sharedConflicts, "bank conflicts of loads"},
    CountedMetric{metric::store.sharedConflicts, "bank conflicts of stores"},
    CountedMetric{metric::floatingOperations, "floating-point operations"},
    CountedMetric{metric::conversions, "conversions"},
    CountedMetric{metric::barriers, "barriers"},
    CountedMetric{metric::warpOperations, "warp operations"},
    CountedMetric{metric::branchTargets, "branches"},
    CountedMetric{metric::divergentBranchTargets, "divergent branches"},
};

std::string problemOf(const LaunchSpec& launch) {
    std::string text(spelling(launch.origin));
    for (const std::string& argument : launch.templateArguments)
        text += fmt::format(", <{}>", argument);
    for (const ArgumentSpec& argument : launch.arguments) {
        if (const auto* scalar = std::get_if<ScalarSpec>(&argument)) {
            if (scalar->integer)
                text += fmt::format(", {}={}", scalar->name, *scalar->integer);
            else if (scalar->floating)
                text += fmt::format(", {}={:g}", scalar->name, *scalar->floating);
        }
    }
    return text;
}

std::string launchOf(const LaunchSpec& launch) {
    const auto size = [](const Dim3& size) {
        return fmt::format("{}x{}x{}", size.x, size.y, size.z);
    };
    return fmt::format("grid {}, block {}, {} bytes", size(launch.grid), size(launch.block),
                       launch.dynamicSharedBytes);
}

/// Throws json::exception where the file has another shape.
CountedKernel kernelFrom(const json& entry) {
    CountedKernel kernel;
    entry.at("file").get_to(kernel.file);
    entry.at("kernel").get_to(kernel.kernel);
    kernel.failure = entry.value("failure", "");
    kernel.problem = entry.value("problem", "");
    kernel.launch = entry.value("launch", "");
    kernel.counts = entry.value("counts", Metrics());
    kernel.hazards = entry.value("hazards", std::vector<std::string>());
    if (const auto seconds = entry.find("modelled_seconds");
        seconds != entry.end() && !seconds->is_null())
        kernel.seconds = Interval{seconds->at(0).get<double>(), seconds->at(1).get<double>()};
    return kernel;
}

json kernelJson(const CountedKernel& kernel) {
    json entry{{"file", kernel.file}, {"kernel", kernel.kernel}};
    if (!kernel.failure.empty()) {
        entry["failure"] = kernel.failure;
        return entry;
    }
    entry["problem"] = kernel.problem;
    entry["launch"] = kernel.launch;
    entry["counts"] = kernel.counts;
    entry["hazards"] = kernel.hazards;
    if (kernel.seconds)
        entry["modelled_seconds"] = {kernel.seconds->low, kernel.seconds->high};
    return entry;
}

} // namespace

std::span<const CountedMetric> countedMetrics() {
    return allMetrics;
}

const CountedKernel* Baseline::find(const std::string& file, const std::string& kernel) const {
    const auto found = std::ranges::find_if(kernels, [&](const CountedKernel& each) {
        return each.file == file && each.kernel == kernel;
    });
    return found == kernels.end() ? nullptr : &*found;
}

CountedKernel countedKernel(const Profile& profile) {
    CountedKernel result;
    result.kernel = profile.kernel;
    result.problem = problemOf(profile.launch);
    result.launch = launchOf(profile.launch);
    for (const CountedMetric& metric : countedMetrics())
        if (const double count = metricValue(profile.metrics, metric.name); count != 0)
            result.counts[metric.name] = count;
    std::set<std::string> kinds;
    for (const Hazard& hazard : profile.hazards)
        if (hazard.certain && !profile.launch.isShapeGuessed)
            kinds.emplace(spelling(hazard.kind));
    result.hazards.assign(kinds.begin(), kinds.end());
    return result;
}

json baselineJson(const Baseline& baseline) {
    json document = baselineHead(BaselineSubject::Files);
    document["tool"] = baseline.tool;
    document["gpu"] = baseline.gpu;
    document["kernels"] = json::array();
    for (const CountedKernel& kernel : baseline.kernels)
        document["kernels"].push_back(kernelJson(kernel));
    return document;
}

Baseline baselineFrom(const json& document) {
    Baseline baseline;
    document.at("tool").get_to(baseline.tool);
    document.at("gpu").get_to(baseline.gpu);
    for (const json& entry : document.at("kernels"))
        baseline.kernels.push_back(kernelFrom(entry));
    return baseline;
}

json baselineHead(BaselineSubject subject) {
    return {{"format", formatOf(subject)}, {"version", formatVersion}};
}

Result<std::string> readBaselineText(const std::filesystem::path& file) {
    if (!analysis::pathExists(file))
        return std::unexpected(Error{ErrorKind::Missing, "there is no such baseline", file.string(),
                                     "write it with --update"});
    auto text = analysis::readFile(file);
    if (!text)
        return std::unexpected(
            unusable(file, "the baseline cannot be read: " + analysis::unreadableReason(file)));
    return *std::move(text);
}

Result<json> baselineDocument(std::string_view text, const std::filesystem::path& file,
                              BaselineSubject subject) {
    json document = analysis::parseJson(text);
    const auto has = [&](const char* member, const json& value) {
        return document.is_object() && document.value(member, json()) == value;
    };
    if (subject == BaselineSubject::Files && has("format", formatOf(BaselineSubject::Program)))
        return std::unexpected(unusable(file, "the baseline is that of a program",
                                        "put the program behind `--`, or write it anew with "
                                        "--update"));
    if (subject == BaselineSubject::Program && has("format", formatOf(BaselineSubject::Files)))
        return std::unexpected(unusable(file, "the baseline is that of files, not of a program",
                                        "name another file, or write it anew with --update"));
    if (!has("format", formatOf(subject)) || !has("version", formatVersion))
        return std::unexpected(unusable(file, "the file is no baseline that this version reads"));
    return document;
}

Error damagedBaseline(const std::filesystem::path& file) {
    return unusable(file, "the baseline is damaged");
}

Result<Baseline> readBaseline(const std::filesystem::path& file) {
    KERNELSKILL_TRY(const auto text, readBaselineText(file));
    return parseBaseline(text, file);
}

Result<Baseline> parseBaseline(std::string_view text, const std::filesystem::path& file) {
    KERNELSKILL_TRY(const auto document, baselineDocument(text, file, BaselineSubject::Files));
    try {
        return baselineFrom(document);
    } catch (const json::exception&) {
        return std::unexpected(damagedBaseline(file));
    }
}

} // namespace kernelskill::engine
