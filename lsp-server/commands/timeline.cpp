#include "analysis/source/json.h"
#include "engine/timeline/activity_file.h"
#include "engine/timeline/timeline_summary.h"
#include "engine/timeline/trace_json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/commands/user_program.h"
#include "lsp-server/program/injected_run.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <ranges>

namespace kernelskill::lsp {
namespace {

using engine::DeviceTimes;
using engine::KernelTimes;
using engine::TimelineSummary;
using nlohmann::json;

struct TimelineArguments {
    std::string trace;
    std::uint64_t maxKernels = 20;
};

std::string timeText(std::uint64_t nanoseconds) {
    const auto value = static_cast<double>(nanoseconds);
    if (nanoseconds < 100'000)
        return fmt::format("{:.2f} us", value * 1e-3);
    if (nanoseconds < 100'000'000)
        return fmt::format("{:.3f} ms", value * 1e-6);
    return fmt::format("{:.3f} s", value * 1e-9);
}

double percentOf(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string sizeText(const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

json deviceJson(const DeviceTimes& device) {
    json result{{"device", device.device},    {"span_ns", device.span()},
                {"busy_ns", device.busy},     {"kernels_ns", device.kernels},
                {"copies_ns", device.copies}, {"copied_bytes", device.copiedBytes}};
    if (device.worst.launches > 0)
        result["short_launches"] = {{"launches", device.worst.launches},
                                    {"begin_ns", device.worst.begin - device.begin},
                                    {"span_ns", device.worst.end - device.worst.begin},
                                    {"idle_ns", device.worst.idle}};
    return result;
}

json kernelJson(const KernelTimes& kernel) {
    return {{"name", kernel.name},           {"launches", kernel.launches},
            {"total_ns", kernel.total},      {"median_ns", kernel.median},
            {"min_ns", kernel.shortest},     {"max_ns", kernel.longest},
            {"grid", kernel.grid},           {"block", kernel.block},
            {"registers", kernel.registers}, {"shared_bytes", kernel.sharedBytes}};
}

json timelineJson(const std::vector<std::string>& program, int status,
                  const engine::ActivityFile& file, const TimelineSummary& summary) {
    json devices = json::array();
    for (const DeviceTimes& device : summary.devices)
        devices.push_back(deviceJson(device));
    json kernels = json::array();
    for (const KernelTimes& kernel : summary.kernels)
        kernels.push_back(kernelJson(kernel));
    return {{"program", program},
            {"status", status},
            {"dropped", file.dropped},
            {"devices", std::move(devices)},
            {"kernels", std::move(kernels)}};
}

void printDevice(const Terminal& terminal, const DeviceTimes& device) {
    const std::uint64_t span = device.span();
    fmt::print("{}  busy {:.1f} % of the {} from its first work to its last\n",
               terminal.paint(Colour::Cyan, fmt::format("GPU {}", device.device)),
               percentOf(device.busy, span), timeText(span));
    fmt::print("       kernels {}, copies {}", timeText(device.kernels), timeText(device.copies));
    if (device.copies > 0)
        fmt::print(" ({}B at {:.3g} GB/s)", shortNumber(static_cast<double>(device.copiedBytes)),
                   static_cast<double>(device.copiedBytes) / static_cast<double>(device.copies));
    fmt::print("\n");
    const auto& train = device.worst;
    if (train.launches == 0)
        return;
    fmt::print("       {} {} launches of at most {} in a row, from {} on: the GPU waited {} of "
               "their {}\n",
               terminal.paint(Colour::Yellow, "launch-overhead"), train.launches,
               timeText(engine::shortKernel), timeText(train.begin - device.begin),
               timeText(train.idle), timeText(train.end - train.begin));
    fmt::print("       {}\n",
               terminal.paint(Colour::Dim,
                              "a CUDA graph issues them at once; or fuse them, or give each more "
                              "work"));
}

void printKernels(const Terminal& terminal, const TimelineSummary& summary, std::size_t most) {
    std::uint64_t total = 0;
    for (const KernelTimes& kernel : summary.kernels)
        total += kernel.total;
    fmt::print(
        "\n{}\n",
        terminal.paint(Colour::Bold,
                       fmt::format("{:>6}  {:>11}  {:>8}  {:>11}  {:>11}  {:>11}  kernel", "share",
                                   "total", "launches", "median", "shortest", "longest")));
    for (const KernelTimes& kernel : summary.kernels | std::views::take(most)) {
        fmt::print("{:>5.1f}%  {:>11}  {:>8}  {:>11}  {:>11}  {:>11}  {}\n",
                   percentOf(kernel.total, total), timeText(kernel.total), kernel.launches,
                   timeText(kernel.median), timeText(kernel.shortest), timeText(kernel.longest),
                   kernel.name);
        fmt::print(
            "{:68}{}\n", "",
            terminal.paint(Colour::Dim, fmt::format("grid {}, block {}, {} registers, {} B shared",
                                                    sizeText(kernel.grid), sizeText(kernel.block),
                                                    kernel.registers, kernel.sharedBytes)));
    }
    if (summary.kernels.size() > most)
        fmt::print("and {} more kernels (--kernels, or --json)\n", summary.kernels.size() - most);
}

int runTimeline(const TimelineArguments& arguments, const Invocation& invocation) {
    const auto& words = invocation.options.fallbackFlags;
    if (words.empty())
        return reportError({ErrorKind::InvalidInput, "no program to run", "timeline",
                            "put it behind `--`: kernelskill timeline -- ./program arguments"},
                           invocation);
    const auto recorded = recordTimeline(invocation.options, [&](const auto& added) {
        return runUserProgram({words, added, {}, invocation.json});
    });
    if (!recorded)
        return reportError(recorded.error(), invocation);
    const engine::ActivityFile& file = recorded->file;
    const auto summary = engine::summaryOf(file.activities);
    if (!arguments.trace.empty() &&
        !(std::ofstream(arguments.trace) << engine::traceJson(file.activities)).flush())
        return reportError({ErrorKind::Failed, "the trace cannot be written", arguments.trace, {}},
                           invocation);
    if (invocation.json) {
        printJson(timelineJson(words, recorded->status, file, summary));
    } else {
        const Terminal terminal(stdout);
        if (recorded->status != 0)
            fmt::print(stderr, "the program ended with status {}\n", recorded->status);
        for (const DeviceTimes& device : summary.devices)
            printDevice(terminal, device);
        if (summary.kernels.empty())
            fmt::print("no kernel ran\n");
        else
            printKernels(terminal, summary, arguments.maxKernels);
        if (file.dropped > 0)
            fmt::print("\nCUPTI dropped {} records: times are too low\n", file.dropped);
    }
    return summary.kernels.empty() ? exitNothingFound : exitDone;
}

} // namespace

void addTimelineCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("timeline", "Run a CUDA program on a GPU and show when its kernels ran");
    command.footer("\nExamples:\n"
                   "  kernelskill timeline -- ./program arguments\n"
                   "  kernelskill timeline --trace out.json -- ./program\n"
                   "\nTimes come from CUPTI, for every launch; recording makes launches a little "
                   "slower. The trace opens in\n"
                   "Perfetto (ui.perfetto.dev) or chrome://tracing.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<TimelineArguments>();
    command.option(&arguments->trace, {.name = "--trace",
                                       .placeholder = "OUT.json",
                                       .help = "Write every launch and copy to this file"});
    command.option(
        &arguments->maxKernels,
        {.name = "--kernels", .placeholder = "N", .help = "Max number of kernels to list (20)"});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runTimeline(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
