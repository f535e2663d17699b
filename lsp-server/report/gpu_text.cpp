#include "lsp-server/report/gpu_text.h"

#include "analysis/source/json.h"
#include "engine/execution/metric_names.h"
#include "engine/static_facts/local_memory.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

std::string factsLine(const engine::StaticFacts& facts) {
    std::string line = fmt::format("{} ({}): {} registers a thread", facts.architecture,
                                   facts.compiler, facts.registers);
    if (facts.spillStoreBytes + facts.spillLoadBytes > 0)
        line += fmt::format(", spills {} bytes stored and {} loaded", facts.spillStoreBytes,
                            facts.spillLoadBytes);
    else
        line += ", no spills";
    if (facts.stackBytes > 0)
        line += fmt::format(", {} bytes of stack", facts.stackBytes);
    if (facts.staticSharedBytes > 0)
        line += fmt::format(", {} bytes of static shared memory", facts.staticSharedBytes);
    return line;
}

std::string stepText(const std::optional<analysis::OccupancyStep>& step, std::string_view what) {
    return step ? fmt::format("; {} {} fewer: {:.0f} %", step->fewer, what, step->percent) : "";
}

std::string occupancyLine(const analysis::Occupancy& occupancy) {
    std::vector<std::string_view> limiters;
    for (const analysis::OccupancyLimiter limiter : occupancy.limiters)
        limiters.push_back(spelling(limiter));
    return fmt::format("theoretical occupancy {:.3g} % ({} warps in {} blocks a multiprocessor), "
                       "limited by {}{}{}",
                       occupancy.percent, occupancy.warps, occupancy.blocks,
                       fmt::join(limiters, " and "),
                       stepText(occupancy.fewerRegisters, "registers a thread"),
                       stepText(occupancy.fewerSharedBytes, "bytes of shared memory a block"));
}

void addFacts(std::vector<std::string>& lines, const engine::StaticFacts& facts) {
    lines.push_back(factsLine(facts));
    if (!engine::usesNoLocalMemory(facts))
        lines.push_back("local memory " + engine::describeLocalMemory(facts));
}

json stepJson(const std::optional<analysis::OccupancyStep>& step) {
    return step ? json{{"fewer", step->fewer}, {"blocks", step->blocks}, {"percent", step->percent}}
                : json(nullptr);
}

json intervalJson(const engine::Interval& interval) {
    return json::array({interval.low, interval.high});
}

} // namespace

std::vector<std::string> gpuLines(const engine::KernelReport& report) {
    std::vector<std::string> lines;
    if (report.facts) {
        if (*report.facts)
            addFacts(lines, **report.facts);
        else
            lines.push_back("registers and occupancy are not known: " +
                            report.facts->error().describe());
    }
    if (report.occupancy)
        lines.push_back(occupancyLine(*report.occupancy));
    if (report.measured)
        lines.push_back("measured: " + describe(*report.measured));
    else if (report.roofline)
        lines.push_back(describe(*report.roofline));
    return lines;
}

MeasuredTexts measuredTexts(const engine::KernelReport& report) {
    const auto time = report.profile->metrics.find(engine::metric::medianTime);
    if (time == report.profile->metrics.end())
        return {};
    return {durationText(time->second * 1e-3),
            report.measured ? fmt::format("{:.0f} %", report.measured->percent()) : std::string()};
}

std::string measuredHeadline(const engine::KernelReport& report) {
    const MeasuredTexts texts = measuredTexts(report);
    return texts.percent.empty() ? texts.time
                                 : fmt::format("{} · {} of roofline", texts.time, texts.percent);
}

std::string measuredWhere(const engine::KernelReport& report) {
    if (!report.measurement)
        return {};
    return fmt::format("on {}, {}", report.measurement->gpu, report.measurement->time);
}

json factsJson(const engine::KernelReport& report) {
    if (!report.facts)
        return nullptr;
    if (!*report.facts)
        return {{"error", report.facts->error().describe()}};
    const engine::StaticFacts& facts = **report.facts;
    json result{{"architecture", facts.architecture},
                {"compiler", facts.compiler},
                {"registers", facts.registers},
                {"spill_store_bytes", facts.spillStoreBytes},
                {"spill_load_bytes", facts.spillLoadBytes},
                {"stack_bytes", facts.stackBytes},
                {"shared_bytes", facts.staticSharedBytes},
                {"barriers", facts.barriers},
                {"local_memory", engine::describeLocalMemory(facts)},
                {"notes", facts.notes},
                {"occupancy", nullptr}};
    if (report.occupancy) {
        json limiters = json::array();
        for (const analysis::OccupancyLimiter limiter : report.occupancy->limiters)
            limiters.push_back(spelling(limiter));
        result["occupancy"] = {
            {"percent", report.occupancy->percent},
            {"warps", report.occupancy->warps},
            {"blocks", report.occupancy->blocks},
            {"limiters", std::move(limiters)},
            {"fewer_registers", stepJson(report.occupancy->fewerRegisters)},
            {"fewer_shared_bytes", stepJson(report.occupancy->fewerSharedBytes)}};
    }
    return result;
}

json measuredJson(const engine::KernelReport& report) {
    if (!report.measured)
        return nullptr;
    const engine::MeasuredRoofline& measured = *report.measured;
    const auto known = [](const std::optional<double>& value) {
        return value ? json(*value) : json(nullptr);
    };
    return {{"gpu", measured.ceilings.gpu},
            {"microseconds", measured.microseconds},
            {"bytes_per_second", measured.bytesPerSecond},
            {"flops", known(measured.operationsPerSecond)},
            {"intensity", known(measured.intensity)},
            {"memory_percent", measured.memoryPercent},
            {"compute_percent", known(measured.computePercent)},
            {"roofline_percent", measured.percent()},
            {"ceilings",
             {{"bytes_per_second", measured.ceilings.bytesPerSecond},
              {"fp32_flops", measured.ceilings.singlePerSecond},
              {"fp64_flops", measured.ceilings.doublePerSecond}}},
            {"text", describe(measured)}};
}

json rooflineJson(const engine::KernelReport& report) {
    if (!report.roofline)
        return nullptr;
    const engine::Roofline& roofline = *report.roofline;
    return {{"gpu", roofline.gpu},
            {"least_seconds", roofline.seconds.low},
            {"intensity", roofline.intensity ? intervalJson(*roofline.intensity) : json(nullptr)},
            {"ridge", roofline.ridge.operationsPerByte},
            {"ridge_basis", basisOf(roofline.ridge)},
            {"position", spelling(roofline.position)},
            {"text", describe(roofline)}};
}

} // namespace kernelskill::lsp
