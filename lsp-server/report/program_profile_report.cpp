#include "lsp-server/report/program_profile_report.h"

#include "analysis/source/json.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/transport/utf8.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace kernelskill::lsp {
namespace {

using engine::KernelShare;
using nlohmann::json;

std::string time(std::uint64_t nanoseconds) {
    return durationText(static_cast<double>(nanoseconds) * 1e-3);
}

json deviceJson(const engine::DeviceTimes& device) {
    return {{"device", device.device},
            {"span_ns", device.span()},
            {"busy_ns", device.busy},
            {"idle_ns", device.idle()},
            {"kernels_ns", device.kernels},
            {"copies_ns", device.copies},
            {"copied_bytes", device.copiedBytes},
            {"sets_ns", device.sets},
            {"text", deviceText(device)}};
}

json kernelJson(const KernelShare& kernel,
                const std::optional<Result<engine::KernelReport>>& details,
                const std::map<std::string, double>& alone) {
    const auto& times = kernel.times;
    json result{{"name", times.name},
                {"symbol", times.symbol},
                {"file", nullptr},
                {"line", nullptr},
                {"launches", times.launches},
                {"share", kernel.share},
                {"at_most", nullptr},
                {"microseconds", static_cast<double>(times.total) * 1e-3},
                {"median_microseconds", static_cast<double>(times.median) * 1e-3},
                {"alone_microseconds", nullptr},
                {"roofline_percent", nullptr},
                {"bottleneck", nullptr},
                {"profile", nullptr}};
    if (const auto measured = alone.find(times.symbol); measured != alone.end())
        result["alone_microseconds"] = measured->second;
    if (kernel.place) {
        result["file"] = kernel.place->file.string();
        result["line"] = kernel.place->line;
    }
    if (std::isfinite(kernel.gainAtMost()))
        result["at_most"] = kernel.gainAtMost();
    if (!details)
        return result;
    if (!*details) {
        result["profile"] = errorJson(details->error());
        return result;
    }
    const engine::KernelReport& report = **details;
    if (report.measured)
        result["roofline_percent"] = report.measured->percent();
    result["bottleneck"] = bottleneckJson(*report.bottleneck);
    result["profile"] = profileJson(report);
    return result;
}

/// The place under the roofline: as measured, else what bounds it by the counts.
std::string rooflineText(const engine::KernelReport& report) {
    if (report.measured)
        return fmt::format("{:.0f} %", report.measured->percent());
    return report.roofline ? std::string(spelling(report.roofline->position)) : std::string();
}

} // namespace

json programProfileJson(const ProgramProfileReport& report) {
    json devices = json::array();
    for (const engine::DeviceTimes& device : report.profile.devices)
        devices.push_back(deviceJson(device));
    json kernels = json::array();
    for (std::size_t i = 0; i < report.profile.kernels.size(); ++i)
        kernels.push_back(
            kernelJson(report.profile.kernels[i], report.details.at(i), report.alone));
    return {{"program", report.command},
            {"status", report.status},
            {"dropped", report.dropped},
            {"devices", std::move(devices)},
            {"kernels", std::move(kernels)}};
}

std::vector<std::vector<std::string>> programProfileTable(const ProgramProfileReport& report,
                                                          std::size_t most) {
    std::vector<std::vector<std::string>> rows{
        {"share", "at most", "total", "launches", "median", "roofline", "bottleneck", "kernel"}};
    constexpr std::ptrdiff_t behindMedian = 5;
    if (!report.alone.empty())
        rows.front().insert(rows.front().begin() + behindMedian, "alone");
    for (std::size_t i = 0; i < std::min(most, report.profile.kernels.size()); ++i) {
        const KernelShare& kernel = report.profile.kernels[i];
        const auto& details = report.details.at(i);
        std::string place = kernel.times.name;
        if (kernel.place)
            place += fmt::format("  {}:{}", kernel.place->file.string(), kernel.place->line + 1);
        rows.push_back(
            {fmt::format("{:.1f} %", 100 * kernel.share),
             std::isfinite(kernel.gainAtMost()) ? fmt::format("{:.2f}x", kernel.gainAtMost())
                                                : "any",
             time(kernel.times.total), std::to_string(kernel.times.launches),
             time(kernel.times.median), details && *details ? rooflineText(**details) : "",
             !details   ? ""
             : *details ? std::string(spelling((*details)->bottleneck->kind))
                        : "not known",
             std::move(place)});
        if (report.alone.empty())
            continue;
        const auto measured = report.alone.find(kernel.times.symbol);
        rows.back().insert(rows.back().begin() + behindMedian,
                           measured == report.alone.end() ? "" : durationText(measured->second));
    }
    return rows;
}

std::vector<std::string> alignedRows(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size() - 1);
    for (const auto& row : rows)
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], charactersOf(row[i]));
    std::vector<std::string> lines;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::string gap(widths[i] - charactersOf(row[i]), ' ');
            const bool isText = i + 1 == widths.size(); // The bottleneck is no number.
            line += (isText ? row[i] + gap : gap + row[i]) + "  ";
        }
        lines.push_back(line + row.back());
    }
    return lines;
}

std::string deviceText(const engine::DeviceTimes& device) {
    std::string text = fmt::format("GPU {}: kernels {}, copies {}", device.device,
                                   time(device.kernels), time(device.copies));
    if (device.copies > 0)
        text += fmt::format(" ({}B)", shortNumber(static_cast<double>(device.copiedBytes)));
    return text + fmt::format(", memsets {}, idle {} of the {} from its first work to its last",
                              time(device.sets), time(device.idle()), time(device.span()));
}

} // namespace kernelskill::lsp
