#include "lsp-server/report/program_optimization_report.h"

#include "analysis/source/json.h"
#include "engine/review/timing_verdict.h"
#include "engine/storage/size_text.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {
namespace {

using engine::OptimizedKernel;
using engine::TimePair;
using nlohmann::json;

template <typename T>
json orNull(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

json heldJson(const engine::HeldSearch& held) {
    return {{"launch", held.launch},
            {"allocations", held.allocations},
            {"allocated_bytes", held.allocatedBytes},
            {"saved_bytes", held.savedBytes},
            {"restarts", held.restarts},
            {"end", held.end},
            {"same_output", orNull(held.isOutputSame)}};
}

/// Lists the attempts of a search, in order.
json triedJson(const std::vector<engine::Attempt>& attempts) {
    json tried = json::array();
    for (const engine::Attempt& attempt : attempts) {
        const skills::Offer& offer = attempt.plan.offer;
        tried.push_back({{"round", attempt.round},
                         {"from", attempt.from},
                         {"version", attempt.isKept ? json(attempt.version) : json(nullptr)},
                         {"skill", offer.skillId},
                         {"option", offer.option},
                         {"title", offer.title},
                         {"decision", attempt.decision}});
    }
    return tried;
}

json kernelJson(const OptimizedKernel& kernel, const std::vector<OptimizedKernel>& all) {
    const engine::KernelTimes& times = kernel.share.times;
    json result{{"name", times.name},
                {"symbol", times.symbol},
                {"file", nullptr},
                {"line", nullptr},
                {"launches", times.launches},
                {"microseconds", static_cast<double>(times.total) * 1e-3},
                {"median_microseconds", static_cast<double>(times.median) * 1e-3},
                {"share", kernel.share.share},
                {"saving", kernel.saving},
                {"seconds", kernel.seconds},
                {"executor", nullptr},
                {"held", kernel.held ? heldJson(*kernel.held) : json(nullptr)},
                {"not_held", kernel.notHeld},
                {"base", kernel.base ? json(all[*kernel.base].share.times.symbol) : json(nullptr)},
                {"attempts", nullptr},
                {"tried", json::array()},
                {"skills", json::array()},
                {"stop", nullptr},
                {"search_speedup", nullptr},
                {"model_gain", nullptr},
                {"outcome", spelling(kernel.outcome)},
                {"why", kernel.why},
                {"speedup", orNull(kernel.speedup)}};
    if (kernel.share.place) {
        result["file"] = kernel.share.place->file.string();
        result["line"] = kernel.share.place->line;
    }
    if (kernel.found) {
        result["executor"] = kernel.found->executor;
        result["skills"] = kernel.found->skills;
        result["attempts"] = kernel.found->attempts.size();
        result["tried"] = triedJson(kernel.found->attempts);
        result["stop"] = spelling(kernel.found->stop);
        if (kernel.found->verdict)
            result["search_speedup"] = orNull(kernel.found->verdict->speedup);
        result["model_gain"] = orNull(kernel.found->modelledGain);
    }
    return result;
}

json timesJson(const std::vector<TimePair>& pairs) {
    json seconds = json::array();
    for (const TimePair& pair : pairs)
        seconds.push_back({{"before", pair.before}, {"after", pair.after}});
    return {{"speedup", orNull(engine::speedupOf(pairs))}, {"seconds", std::move(seconds)}};
}

/// Where the kernel's edits were tried; empty if it was not searched.
std::string placeLine(const OptimizedKernel& kernel) {
    const std::string indent(10, ' ');
    if (kernel.held) {
        const engine::HeldSearch& held = *kernel.held;
        return fmt::format("{}tried in the program at launch {}: {} allocation{}, {}{}{}", indent,
                           held.launch, held.allocations, held.allocations == 1 ? "" : "s",
                           engine::sizeText(held.allocatedBytes),
                           held.restarts.empty()
                               ? std::string()
                               : fmt::format("; it was started again {}: {}",
                                             held.restarts.size() == 1
                                                 ? std::string("once")
                                                 : fmt::format("{} times", held.restarts.size()),
                                             held.restarts.back()),
                           held.end.empty() ? "" : "; " + held.end);
    }
    if (kernel.found && !kernel.notHeld.empty())
        return fmt::format("{}tried on the captured launch, not in the program: {}", indent,
                           kernel.notHeld);
    return {};
}

std::string kernelLine(const OptimizedKernel& kernel) {
    std::string line = fmt::format("{:>5.1f} %  {:<14}  {}", 100 * kernel.share.share,
                                   spelling(kernel.outcome), kernel.share.times.name);
    if (kernel.share.place)
        line +=
            fmt::format("  {}:{}", kernel.share.place->file.string(), kernel.share.place->line + 1);
    if (kernel.found && !kernel.found->skills.empty())
        line += fmt::format("  by {}", fmt::join(kernel.found->skills, ", then "));
    if (kernel.speedup)
        line += fmt::format("  {:.2f}x in the program", *kernel.speedup);
    return kernel.why.empty() ? line : line + ": " + kernel.why;
}

/// The outcome's word: kernels that are left out were not searched, such edits were not tried.
std::string_view outcomeOf(const engine::HostEdit& edit) {
    return edit.outcome == engine::KernelOutcome::NotSearched ? "not-tried"
                                                              : spelling(edit.outcome);
}

std::string hostLine(const engine::HostEdit& edit) {
    std::string line =
        fmt::format("{:>9}{:<14}  {} ({})", "host  ", outcomeOf(edit), edit.title, edit.skill);
    if (edit.speedup)
        line += fmt::format("  {:.2f}x alone", *edit.speedup);
    return edit.why.empty() ? line : line + ": " + edit.why;
}

/// The median of the turns in which both versions were measured. There is one at least.
std::string medianText(const std::vector<TimePair>& pairs, double TimePair::* member) {
    std::vector<double> seconds;
    for (const TimePair& pair : pairs)
        if (pair.isMeasured())
            seconds.push_back(pair.*member);
    return durationText(engine::summarise(seconds).median * 1e6);
}

std::string timesLine(std::string_view what, const std::vector<TimePair>& pairs) {
    const auto ratios = engine::ratiosOf(pairs);
    if (ratios.empty())
        return {};
    return fmt::format("{}: {:.2f}x ({:.2f} to {:.2f} in {} turn{}), {} to {}", what,
                       *engine::speedupOf(pairs), ratios.front(), ratios.back(), ratios.size(),
                       ratios.size() == 1 ? "" : "s", medianText(pairs, &TimePair::before),
                       medianText(pairs, &TimePair::after));
}

/// "3 buffers on the GPU (12.6 MB)"
std::string bufferText(const BufferCount& buffers) {
    return fmt::format("{} buffer{} on the GPU ({:.3g} MB)", buffers.count,
                       buffers.count == 1 ? "" : "s", static_cast<double>(buffers.bytes) / 1e6);
}

std::string checkLine(const ProgramOptimizationReport& report) {
    switch (report.check) {
    case engine::ProgramCheck::Command:
        return "checked by its check command";
    case engine::ProgramCheck::Pattern:
        return "checked by its pattern";
    case engine::ProgramCheck::Output:
        return report.buffers.count == 0
                   ? "checked by its output, which is the original's"
                   : fmt::format("checked by its output and {}, which are the original's",
                                 bufferText(report.buffers));
    case engine::ProgramCheck::Buffers:
        return fmt::format("checked by {}, which {} the original's", bufferText(report.buffers),
                           report.buffers.count == 1 ? "is" : "are");
    case engine::ProgramCheck::Status:
        break;
    }
    return "checked by its exit status alone";
}

/// Lines about the program as a whole. Some may be empty.
std::vector<std::string> wholeLines(const ProgramOptimizationReport& report) {
    std::vector<std::string> lines;
    if (report.isImproved()) {
        lines.push_back(timesLine("kernels of the program", report.turns.ofKernels()));
        lines.push_back(timesLine("GPU time with copies", report.turns.gpu()));
        lines.push_back(timesLine("whole program", report.turns.wall));
        lines.push_back(checkLine(report));
    } else if (report.isStopped) {
        lines.emplace_back(report.diff.empty()
                               ? "stopped before anything better was found"
                               : "stopped: the edits are those that searches have found, and the "
                                 "whole program does not answer for them; nothing is written");
    } else {
        lines.emplace_back("nothing is better than the original");
    }
    if (!report.outputNote.empty())
        lines.push_back(report.outputNote);
    if (!report.bufferNote.empty())
        lines.push_back(report.bufferNote);
    return lines;
}

} // namespace

json programOptimizationJson(const ProgramOptimizationReport& report) {
    json kernels = json::array();
    for (const OptimizedKernel& kernel : report.kernels)
        kernels.push_back(kernelJson(kernel, report.kernels));
    json hostEdits = json::array();
    for (const engine::HostEdit& edit : report.hostEdits)
        hostEdits.push_back({{"skill", edit.skill},
                             {"title", edit.title},
                             {"kernel", edit.kernel},
                             {"outcome", outcomeOf(edit)},
                             {"why", edit.why},
                             {"speedup", orNull(edit.speedup)}});
    return {{"program", report.command},
            {"check", spelling(report.check)},
            {"output_note", report.outputNote},
            {"buffers",
             {{"compared", report.buffers.count},
              {"bytes", report.buffers.bytes},
              {"note", report.bufferNote}}},
            {"kernels", std::move(kernels)},
            {"host_edits", std::move(hostEdits)},
            {"program_time", timesJson(report.turns.wall)},
            {"gpu_time", timesJson(report.turns.gpu())},
            {"kernel_time", timesJson(report.turns.ofKernels())},
            {"diff", report.diff},
            {"written", report.isWritten},
            {"stopped", report.isStopped}};
}

std::string summaryOf(const ProgramOptimizationReport& report) {
    std::vector<std::string> lines = wholeLines(report);
    std::erase(lines, "");
    return fmt::format("{}.", fmt::join(lines, "; "));
}

std::vector<std::string> programOptimizationLines(const ProgramOptimizationReport& report) {
    std::vector<std::string> lines;
    for (const OptimizedKernel& kernel : report.kernels) {
        lines.push_back(kernelLine(kernel));
        lines.push_back(placeLine(kernel));
    }
    for (const engine::HostEdit& edit : report.hostEdits)
        lines.push_back(hostLine(edit));
    for (std::string& line : wholeLines(report))
        lines.push_back(std::move(line));
    std::erase(lines, "");
    return lines;
}

} // namespace kernelskill::lsp
