#include "lsp-server/commands/compared_profiles.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"
#include "engine/execution/nsight_report.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/launch_text.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

engine::Dim3 dimensionsIn(const json& value) {
    return {value.at(0).get<std::uint32_t>(), value.at(1).get<std::uint32_t>(),
            value.at(2).get<std::uint32_t>()};
}

std::string launchText(const engine::Dim3& grid, const engine::Dim3& block,
                       std::uint64_t sharedBytes = 0) {
    engine::LaunchSpec launch;
    launch.grid = grid;
    launch.block = block;
    launch.dynamicSharedBytes = sharedBytes;
    return describeLaunch(launch);
}

ProfileSide sideIn(const json& profile, const std::string& label) {
    const json& launch = profile.at("launch");
    ProfileSide side{label,
                     profile.at("kernel").get<std::string>(),
                     profile.at("executor").get<std::string>(),
                     launchText(dimensionsIn(launch.at("grid")), dimensionsIn(launch.at("block")),
                                launch.at("shared_bytes").get<std::uint64_t>()),
                     profile.at("bottleneck").at("kind").get<std::string>(),
                     {}};
    profile.at("metrics").get_to(side.metrics);
    return side;
}

/// "ns::scale" in "void ns::scale<float>(float *, int)".
std::string bareName(std::string name) {
    name = name.substr(0, name.find('('));
    name = name.substr(0, name.find('<'));
    const auto space = name.rfind(' ');
    return space == std::string::npos ? name : name.substr(space + 1);
}

std::string lastPart(const std::string& name) {
    const auto colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

} // namespace

ProfileSide sideOf(const engine::KernelReport& report, const std::string& label) {
    const engine::Profile& profile = *report.profile;
    return {label,
            profile.kernel,
            profile.executor,
            describeLaunch(profile.launch),
            std::string(spelling(report.bottleneck->kind)),
            reportMetrics(report)};
}

Result<std::vector<ProfileSide>> readProfiles(const std::string& file) {
    const auto text = analysis::readFile(file);
    if (!text)
        return std::unexpected(Error{ErrorKind::InvalidInput, "cannot read the baseline", file,
                                     "Write one with `kernelskill profile FILE --json`"});
    const auto noProfile = [&](std::string_view why) {
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     fmt::format("this is no profile in JSON ({})", why), file,
                                     "Write one with `kernelskill profile FILE --json`"});
    };
    if (analysis::isNestedTooDeeply(*text))
        return noProfile("it is nested too deeply");
    std::vector<ProfileSide> sides;
    try {
        const json document = json::parse(*text);
        const bool isOne = document.contains("metrics");
        for (const json& profile : isOne ? json::array({document}) : document.at("kernels"))
            if (!profile.contains("error"))
                sides.push_back(sideIn(profile, file));
    } catch (const json::exception& problem) {
        return noProfile(problem.what());
    }
    return sides;
}

Result<std::vector<ProfileSide>> importProfiles(const std::string& report, std::stop_token stop) {
    const auto kernels = engine::importNsightReport(report, stop);
    if (!kernels)
        return std::unexpected(kernels.error());
    std::vector<ProfileSide> sides;
    for (const engine::ImportedKernel& kernel : *kernels)
        sides.push_back({report, kernel.name, "Nsight Compute",
                         launchText(kernel.grid, kernel.block), "", kernel.metrics});
    return sides;
}

const ProfileSide* sideNamed(const std::vector<ProfileSide>& sides, const std::string& kernel) {
    auto found = std::ranges::find(sides, kernel, &ProfileSide::kernel);
    const auto search = [&](auto nameOf) {
        if (found == sides.end())
            found = std::ranges::find_if(sides, [&](const ProfileSide& side) {
                return nameOf(side.kernel) == nameOf(kernel);
            });
    };
    search([](const std::string& name) { return bareName(name); });
    search([](const std::string& name) { return lastPart(bareName(name)); });
    return found == sides.end() ? nullptr : &*found;
}

void printComparison(const ProfileSide& before, const ProfileSide& after) {
    const Terminal terminal(stdout);
    for (const ProfileSide* side : {&before, &after})
        fmt::print("{}  {}, on the {}, {}{}\n", terminal.paint(Colour::Bold, side->kernel),
                   side->label, side->executor, side->launch,
                   side->bottleneck.empty() ? "" : ": " + side->bottleneck);
    for (const std::string& note : comparisonNotes(before, after))
        fmt::print("{}\n", terminal.paint(Colour::Yellow, note));
    const std::vector<ComparedMetric> changed = changedMetrics(before, after);
    if (changed.empty()) {
        fmt::print("\nNo metric differs by one percent or more.\n");
        return;
    }
    fmt::print("\n{}\n",
               terminal.paint(Colour::Dim, fmt::format("{:<48} {:>16} {:>16}  {}", "metric",
                                                       "before", "after", "change")));
    for (const ComparedMetric& metric : changed)
        fmt::print("{:<48} {:>16} {:>16}  {:<20} {}\n",
                   metric.label.empty() ? metric.name : metric.label, metric.beforeText,
                   metric.afterText, changeText(metric), terminal.paint(Colour::Dim, metric.name));
}

void printImported(const std::vector<ProfileSide>& sides) {
    const Terminal terminal(stdout);
    for (const ProfileSide& side : sides) {
        fmt::print("{}  {}\n", terminal.paint(Colour::Bold, side.kernel), side.launch);
        for (const MetricSection& section : metricSections(side.metrics)) {
            fmt::print("\n{}\n", terminal.paint(Colour::Bold, section.title));
            for (const MetricText& text : section.metrics)
                fmt::print("  {:<36} {:>16}   {}\n", text.label, text.value,
                           terminal.paint(Colour::Dim, text.name));
        }
        fmt::print("\n");
    }
}

json importedJson(const std::vector<ProfileSide>& sides) {
    json kernels = json::array();
    for (const ProfileSide& side : sides)
        kernels.push_back({{"kernel", side.kernel},
                           {"executor", side.executor},
                           {"launch", side.launch},
                           {"metrics", side.metrics}});
    return {{"kernels", std::move(kernels)}};
}

} // namespace kernelskill::lsp
