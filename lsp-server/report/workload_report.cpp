#include "lsp-server/report/workload_report.h"

#include "analysis/source/json.h"
#include "engine/program/command_words.h"
#include "engine/program/workload_json.h"
#include "lsp-server/report/json_report.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json stepJson(const std::optional<engine::WorkloadStep>& step) {
    if (!step)
        return nullptr;
    return {{"command", step->command}, {"status", step->status}, {"seconds", step->seconds}};
}

} // namespace

json programsJson(const engine::WorkspacePrograms& programs) {
    json list = json::array();
    for (const engine::Workload& workload : programs.workloads)
        list.push_back(engine::workloadJson(workload));
    return {{"programs", std::move(list)}, {"picked", programs.picked}, {"notes", programs.notes}};
}

json workloadRunJson(const engine::Workload& workload, const engine::WorkloadRun& run) {
    return {{"program", engine::workloadJson(workload)},
            {"passed", !run.failure.has_value()},
            {"build", stepJson(run.build)},
            {"run", stepJson(run.run)},
            {"check", stepJson(run.check)},
            {"failure", run.failure ? errorJson(*run.failure).at("error") : json(nullptr)}};
}

std::string workloadTitle(const engine::Workload& workload) {
    return fmt::format("{}: {}, in {}", workload.name, engine::commandText(workload.command),
                       workload.folder.string());
}

std::string workloadRunText(const engine::Workload& workload, const engine::WorkloadRun& run) {
    if (run.failure)
        return fmt::format("{} failed: {}", workload.name, run.failure->describe());
    std::string steps;
    const auto add = [&](std::string_view name, const std::optional<engine::WorkloadStep>& step) {
        if (step)
            steps += fmt::format("{}{} {:.2f} s", steps.empty() ? "" : ", ", name, step->seconds);
    };
    add("build", run.build);
    add("run", run.run);
    add("check", run.check);
    return fmt::format("{} passed: {}", workload.name, steps);
}

} // namespace kernelskill::lsp
