#include "lsp-server/report/file_page.h"

#include "engine/execution/metric_names.h"
#include "engine/memory/short_term_memory.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/roofline_plot.h"
#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace kernelskill::lsp {
namespace {

/// Nanoseconds.
std::optional<double> medianTimeOf(const engine::KernelReport& report) {
    const auto found = report.profile->metrics.find(engine::metric::medianTime);
    return found == report.profile->metrics.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> timeOf(const ProfiledKernel& profiled) {
    return profiled.report ? medianTimeOf(*profiled.report) : std::nullopt;
}

/// One number where both ends read the same; empty for none.
std::string intensityText(const engine::Interval& intensity) {
    if (intensity.high <= 0)
        return {};
    const auto text = [](double value) {
        return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
    };
    const std::string low = text(intensity.low);
    const std::string high = text(intensity.high);
    return low == high ? low : low + " to " + high;
}

TableCell percentCell(std::optional<double> percent) {
    return percent ? TableCell{fmt::format("{:.0f} %", *percent), *percent / 100} : TableCell{};
}

Table overview(const std::vector<ProfiledKernel>& kernels) {
    const bool isMeasured = std::ranges::any_of(kernels, [](const ProfiledKernel& profiled) {
        return profiled.report && profiled.report->measured;
    });
    Table table;
    table.columns = {
        {"kernel", false, true}, {"bottleneck"}, {"time", true}, {"FLOP per byte", true}};
    if (isMeasured) {
        table.columns.push_back({"of DRAM", true});
        table.columns.push_back({"of FP32, FP64", true});
    }
    for (const ProfiledKernel& profiled : kernels) {
        auto& row = table.rows.emplace_back();
        row.push_back({profiled.kernel->qualifiedName});
        if (!profiled.report) {
            row.push_back({"not profiled", {}, Tone::Bad});
            continue;
        }
        const engine::KernelReport& report = *profiled.report;
        row.push_back({std::string(spelling(report.bottleneck->kind))});
        row.push_back({timeText(report), {}, timeOf(profiled) ? Tone::Plain : Tone::Quiet});
        if (report.measured) {
            const engine::MeasuredRoofline& measured = *report.measured;
            const double intensity = measured.intensity.value_or(0);
            row.push_back({intensityText({intensity, intensity})});
            row.push_back(percentCell(measured.memoryPercent));
            row.push_back(percentCell(measured.computePercent));
        } else if (report.roofline && report.roofline->intensity) {
            row.push_back({intensityText(*report.roofline->intensity), {}, Tone::Quiet});
        }
    }
    return table;
}

/// One plot for each GPU that the profiles speak of.
std::vector<ReportBlock> plotsOf(const std::vector<ProfiledKernel>& kernels) {
    std::vector<RooflinePlot> plots;
    std::map<std::string, std::vector<std::string>> without;
    for (const ProfiledKernel& profiled : kernels) {
        if (!profiled.report)
            continue;
        const engine::KernelReport& report = *profiled.report;
        const std::string gpu = report.measured   ? report.measured->ceilings.gpu
                                : report.roofline ? report.roofline->gpu
                                                  : std::string();
        auto ceilings = ceilingsOf(report);
        if (ceilings.empty())
            continue;
        const auto same = std::ranges::find_if(plots, [&](const RooflinePlot& plot) {
            return plot.gpu == gpu && plot.ceilings.front().origin == ceilings.front().origin;
        });
        RooflinePlot& plot =
            same == plots.end() ? plots.emplace_back(RooflinePlot{gpu, std::move(ceilings), {}, ""})
                                : *same;
        if (auto point = rooflinePoint(report, profiled.kernel->name))
            plot.points.push_back(std::move(*point));
        else
            without[gpu].push_back(profiled.kernel->name);
    }
    std::vector<ReportBlock> blocks;
    for (RooflinePlot& plot : plots) {
        const bool isModel = !plot.points.empty() && plot.points.front().isModel;
        plot.caption = fmt::format(
            "{}. {}", plot.gpu,
            plot.points.empty() ? "No kernel of the file does floating-point arithmetic that was "
                                  "counted."
            : isModel ? "Bars are intervals of a model, from counts: at the left end every sector "
                        "comes from DRAM, at the right end each byte once."
                      : "A kernel cannot lie above the ceilings; how far below it lies is what "
                        "there is to gain.");
        if (!without[plot.gpu].empty() && !plot.points.empty())
            plot.caption += fmt::format(" Without floating-point arithmetic, and so without a "
                                        "place here: {}.",
                                        fmt::join(without[plot.gpu], ", "));
        blocks.emplace_back(std::move(plot));
    }
    return blocks;
}

std::string leadOf(const std::vector<ProfiledKernel>& kernels) {
    const ProfiledKernel& first = kernels.front();
    if (!first.report)
        return first.report.error().describe();
    if (kernels.size() == 1)
        return fmt::format("{}: {}", first.kernel->qualifiedName, kernelFinding(*first.report));
    return timeOf(first) ? fmt::format("The longest of {} kernels is {}: {}", kernels.size(),
                                       first.kernel->qualifiedName, kernelFinding(*first.report))
                         : fmt::format("{} kernels, counted on the CPU emulator.", kernels.size());
}

} // namespace

void sortByTime(std::vector<ProfiledKernel>& kernels) {
    std::ranges::stable_sort(kernels, std::ranges::greater{}, [](const ProfiledKernel& profiled) {
        return timeOf(profiled).value_or(0);
    });
}

std::string timeText(const engine::KernelReport& report) {
    if (const auto time = medianTimeOf(report))
        return durationText(*time * 1e-3);
    return report.roofline ? "at least " + durationText(report.roofline->seconds.low * 1e6)
                           : std::string();
}

std::string reportFooter(const std::string& command) {
    return fmt::format("KernelSkill {}, {} · {}", version, engine::timestamp(), command);
}

Report profileReport(const Snapshot& snapshot, std::vector<ProfiledKernel> kernels,
                     const std::string& shownName) {
    sortByTime(kernels);
    Report report;
    report.title = shownName;
    report.lead = kernels.empty() ? "The file has no kernel." : leadOf(kernels);
    if (kernels.size() > 1)
        report.blocks.emplace_back(overview(kernels));
    std::ranges::move(plotsOf(kernels), std::back_inserter(report.blocks));
    TextLookup texts(snapshot.program);
    for (const ProfiledKernel& profiled : kernels)
        report.sections.push_back(kernelSection(snapshot, profiled, texts));
    return report;
}

} // namespace kernelskill::lsp
