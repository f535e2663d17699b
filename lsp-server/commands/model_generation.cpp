#include "lsp-server/commands/model_generation.h"

#include "engine/graph/model/manifest.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/model/names.h"
#include "engine/graph/read_program.h"
#include "engine/graph/separate_bias.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/model_page.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <filesystem>

namespace kernelskill::lsp {

namespace {

namespace graph = engine::graph;

void printModel(const graph::ModelPlan& plan, const std::string& folder) {
    std::size_t width = 0;
    for (const graph::ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<graph::Kernel>(&step.work))
            width = std::max(width, kernel->name.size());
    for (const graph::ModelStep& step : plan.steps) {
        if (const auto* call = std::get_if<analysis::raise::LibraryCall>(&step.work))
            fmt::print("  {:<{}}  left to a library: {}\n", call->node, width, call->reason);
        else
            fmt::print("  {:<{}}  {}{}\n", std::get<graph::Kernel>(step.work).name, width,
                       std::get<graph::Kernel>(step.work).schedule,
                       step.dependsOnWeightsAlone ? "; once, before the first call" : "");
    }
    for (const graph::Simplification& each : plan.simplifications)
        fmt::print("  simplified: {}: {}\n", each.name, each.what);
    for (const graph::ModelTensor& output : plan.outputs)
        if (plan.constantOutputs.contains(output.buffer))
            fmt::print("  the output {} is {} whatever the inputs\n", output.source,
                       plan.constantOutputs.at(output.buffer));
    fmt::print("{}: {} steps, {} bytes of workspace\n", folder, plan.steps.size(),
               plan.workspace.bytes);
}

Result<graph::MultiplyUnit> unitOf(const std::string& precision) {
    if (precision.empty() || precision == "float32")
        return graph::MultiplyUnit::Float32;
    if (precision == "tf32x3")
        return graph::MultiplyUnit::TF32Split;
    if (precision == "tf32")
        return graph::MultiplyUnit::TF32;
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 fmt::format("there is no precision {}", precision),
                                 "float32, tf32x3 and tf32 are known", ""});
}

} // namespace

bool isProgramArchive(const std::string& file) {
    return file.ends_with(".pt2");
}

int generateModel(const ModelGeneration& wanted, const Invocation& invocation) {
    if (wanted.folder.empty())
        return reportError({ErrorKind::InvalidInput, "a model needs a folder", "add -o FOLDER", ""},
                           invocation);
    auto program = graph::readProgram(wanted.archive);
    if (!program) {
        program.error().kind = ErrorKind::InvalidInput;
        return reportError(program.error(), invocation);
    }
    if (wanted.usesLibraries)
        *program = graph::withSeparateBias(std::move(*program));
    const std::string name =
        graph::identifier(std::filesystem::path(wanted.archive).stem().string());
    const auto unit = unitOf(wanted.precision);
    if (!unit)
        return reportError(unit.error(), invocation);
    const auto plan = graph::plannedModel(*program, name, {wanted.usesLibraries, {*unit}, {}});
    if (!plan)
        return reportError(plan.error(), invocation);
    graph::ModelFiles files = graph::modelFiles(*plan, *program);
    if (const auto& gpus = engine::builtinGpus(); gpus)
        if (const engine::Gpu* gpu = engine::gpuNamed(*gpus, "H200"))
            files["report.html"] = writeReport(modelReport(
                *plan, *program, std::filesystem::path(wanted.archive).filename().string(), *gpu));
    if (const auto written = graph::writeModel(files, wanted.folder); !written)
        return reportError(written.error(), invocation);
    if (invocation.json)
        printJson(nlohmann::json::parse(files.at(std::string(graph::manifestName))));
    else
        printModel(*plan, wanted.folder);
    return exitDone;
}

} // namespace kernelskill::lsp
