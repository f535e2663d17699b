#include "lsp-server/commands/model_generation.h"

#include "analysis/source/json.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/features/generated_model.h"
#include "lsp-server/report/model_check_text.h"
#include "lsp-server/report/model_measurement_text.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>

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
            fmt::print("  {:<{}}  left to a library: {}{}\n", call->node, width, call->reason,
                       call->isChannelsLast ? ", in channels-last order" : "");
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
    for (const graph::SymbolSource& source : plan.symbolSources)
        fmt::print("  dynamic: {} is the {}, {}\n", source.symbol, textOf(source),
                   rangeText(plan.graph.symbols.at(source.symbol)));
    fmt::print("{}: {} steps, {} bytes of workspace{}\n", folder, plan.steps.size(),
               plan.workspace.bytes,
               plan.workspace.dynamic.empty() ? "" : " and what depends on dynamic sizes");
}

/// Says what is wrong with the name of a simplification; empty if nothing is.
std::string problemOf(const std::string& simplification) {
    std::string known;
    for (const graph::SimplificationKind& kind : graph::simplificationKinds()) {
        if (kind.name == simplification)
            return "";
        known += (known.empty() ? "" : ", ") + std::string(kind.name);
    }
    return fmt::format("no simplification has the name {}; known are {}", simplification, known);
}

} // namespace

bool isProgramArchive(const std::string& file) {
    return file.ends_with(".pt2");
}

void addModelOptions(CliCommand& command, ModelGeneration& wanted) {
    command.option(&wanted.folder, {.name = "-o,--output",
                                    .placeholder = "FOLDER",
                                    .help = "The folder for a model's files",
                                    .excludes = "--write"});
    command.option(&wanted.precision,
                   {.name = "--precision",
                    .placeholder = "NAME",
                    .help = "What a model's products are computed in: float32 (the default), "
                            "tf32x3 (tensor cores, nearly as exact), bf16x3 (16 bits of fraction, "
                            "faster) or tf32 (10 bits)",
                    .choices = modelPrecisions()});
    command.flag(wanted.usesLibraries,
                 {.name = "--libraries",
                  .help = "Leave nodes of a model to PyTorch's libraries: those that are faster so "
                          "on this machine's GPU; without one, products and convolutions"});
    command.option(&wanted.tolerance,
                   {.name = "--tolerance",
                    .placeholder = "T",
                    .help = "With --libraries: the tolerance at which the model has to be right: "
                            "1e-2 (the default) or 1e-4, for which fewer products can be in TF32",
                    .choices = {graph::toleranceNames.begin(), graph::toleranceNames.end()}});
    command.flag(wanted.isChannelsLast,
                 {.name = "--channels-last",
                  .help =
                      "With --libraries --seconds 0: give convolutions that are left to libraries "
                      "tensors in channels-last order"});
    command.option(&wanted.seconds,
                   {.name = "--seconds",
                    .placeholder = "S",
                    .help = "With --libraries: how long to measure on a GPU (60); 0: not at all",
                    .range = {{0, 86400}}});
    command.option(&wanted.jobs,
                   {.name = "--jobs",
                    .placeholder = "N",
                    .help = "Compilers that run at once to measure; 0, the default: one a core",
                    .range = {{0, 4096}}});
    command.flag(wanted.withoutCheck,
                 {.name = "--no-check",
                  .help = "Do not run a model's kernels on the emulator beside LibTorch"});
    command.option(&wanted.without,
                   {.name = "--without",
                    .placeholder = "NAME",
                    .help = "Do not use this simplification of models; can be given again",
                    .check = problemOf});
}

int generateModel(const std::string& archive, const ModelGeneration& wanted,
                  const Invocation& invocation) {
    if (wanted.folder.empty())
        return reportError({ErrorKind::InvalidInput, "a model needs a folder", "", "add -o FOLDER"},
                           invocation);
    const auto workbench =
        makeWorkbench(invocation.options, skillFoldersOfCommand(currentWorkspaceRoot()));
    if (!workbench)
        return reportError(workbench.error(), invocation);
    const Interruption interruption;
    const auto progress = [&](const std::string& what, double) {
        if (!invocation.json)
            fmt::print(stderr, "{}\n", what);
    };
    const auto model = writeModel(**workbench,
                                  {.archive = archive,
                                   .folder = wanted.folder,
                                   .precision = wanted.precision,
                                   .tolerance = wanted.tolerance,
                                   .usesLibraries = wanted.usesLibraries,
                                   .isChannelsLast = wanted.isChannelsLast,
                                   .notSimplified = {wanted.without.begin(), wanted.without.end()},
                                   .measuringTime = std::chrono::seconds(wanted.seconds),
                                   .compilers = static_cast<std::size_t>(wanted.jobs),
                                   .progress = progress,
                                   .wantsCheck = !wanted.withoutCheck},
                                  interruption.token());
    if (!model)
        return reportError(model.error(), invocation);
    if (invocation.json) {
        printJson(modelJson(*model));
    } else {
        printModel(model->plan, wanted.folder);
        if (model->measurement)
            fmt::print("{}\n", modelMeasurementText(*model->measurement));
        fmt::print("{}\n", modelCheckText(model->check));
    }
    return exitDone;
}

} // namespace kernelskill::lsp
