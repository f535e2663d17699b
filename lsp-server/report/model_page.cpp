#include "lsp-server/report/model_page.h"

#include "engine/graph/extent_relation.h"
#include "engine/graph/model/kernel_file.h"
#include "engine/graph/symbol_values.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/model_check_text.h"
#include "lsp-server/report/model_measurement_text.h"
#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::lsp {

namespace {

namespace graph = engine::graph;
using analysis::raise::LibraryCall;

/// Tensor cores multiply TF32 numbers half as fast as fp16 ones.
double tf32Flops(const engine::Gpu& gpu) {
    return gpu.tensorFlops / 2;
}

/// The shortest time of a kernel on the GPU, in seconds.
double boundOf(const graph::Kernel& kernel, const engine::Gpu& gpu) {
    const double flops = kernel.usesTensorCores ? tf32Flops(gpu) : gpu.singleFlops;
    return std::max(kernel.bytes / gpu.memoryBytesPerSecond, kernel.operations / flops);
}

std::string ratioText(double value) {
    return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text;
}

Table kernelTable(const graph::ModelPlan& plan, const engine::Gpu& gpu) {
    double longest = 0;
    for (const graph::ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<graph::Kernel>(&step.work))
            longest = std::max(longest, boundOf(*kernel, gpu));
    Table table;
    table.columns = {{.title = "kernel", .isCode = true},
                     {.title = "nodes"},
                     {.title = "how it is shared out"},
                     {.title = "bytes", .isNumber = true},
                     {.title = "FLOP per byte", .isNumber = true},
                     {.title = "at least", .isNumber = true, .note = gpu.product}};
    for (const graph::ModelStep& step : plan.steps) {
        if (const auto* call = std::get_if<LibraryCall>(&step.work)) {
            table.rows.push_back(
                {{.text = call->node},
                 {.text = call->node},
                 {.text = "left to a library",
                  .note =
                      call->reason + (call->isChannelsLast ? ", in channels-last order" : "")}});
            continue;
        }
        const auto& kernel = std::get<graph::Kernel>(step.work);
        const double bound = boundOf(kernel, gpu);
        table.rows.push_back(
            {{.text = kernel.name},
             {.text = joined(kernel.sources)},
             {.text = kernel.schedule,
              .note = step.dependsOnWeightsAlone ? "once, before the first call" : ""},
             {.text = shortNumber(kernel.bytes) + "B"},
             {.text =
                  kernel.bytes > 0 ? ratioText(kernel.operations / kernel.bytes) : std::string()},
             {.text = durationText(bound * 1e6),
              .share = longest > 0 ? std::optional(bound / longest) : std::nullopt}});
    }
    return table;
}

/// Kernels with arithmetic, where the roofline puts them.
RooflinePlot roofline(const graph::ModelPlan& plan, const engine::Gpu& gpu) {
    RooflinePlot plot;
    plot.gpu = gpu.product;
    plot.ceilings = {{"DRAM", gpu.memoryBytesPerSecond, true, "datasheet"},
                     {"FP32", gpu.singleFlops, false, "datasheet"}};
    const bool usesTensorCores = std::ranges::any_of(plan.steps, [](const graph::ModelStep& step) {
        const auto* kernel = std::get_if<graph::Kernel>(&step.work);
        return kernel != nullptr && kernel->usesTensorCores;
    });
    if (usesTensorCores)
        plot.ceilings.push_back({"TF32", tf32Flops(gpu), false, "datasheet"});
    for (const graph::ModelStep& step : plan.steps) {
        const auto* kernel = std::get_if<graph::Kernel>(&step.work);
        if (kernel == nullptr || kernel->operations <= 0 || kernel->bytes <= 0)
            continue;
        const double perSecond = kernel->operations / boundOf(*kernel, gpu);
        const double intensity = kernel->operations / kernel->bytes;
        plot.points.push_back({.label = kernel->name,
                               .intensity = {intensity, intensity},
                               .perSecond = {perSecond, perSecond},
                               .isModel = true});
    }
    plot.caption =
        "Where each kernel would be if it reached the roof: computed from its operations "
        "and from its tensors, each read or written once. Nothing was timed.";
    return plot;
}

/// Each node of the graph and the kernels that do its work.
Table nodeTable(const graph::ModelPlan& plan) {
    std::map<std::string, std::vector<std::string>> kernels;
    for (const graph::ModelStep& step : plan.steps) {
        if (const auto* call = std::get_if<LibraryCall>(&step.work)) {
            kernels[call->node].push_back("a library");
            continue;
        }
        const auto& kernel = std::get<graph::Kernel>(step.work);
        for (const std::string& source : kernel.sources)
            kernels[source].push_back(kernel.name);
    }
    Table table;
    table.columns = {{.title = "node", .isCode = true},
                     {.title = "operator", .isCode = true},
                     {.title = "module"},
                     {.title = "done by", .isCode = true}};
    for (const graph::Node& node : plan.graph.nodes) {
        const auto found = kernels.find(node.name);
        table.rows.push_back({{.text = node.name},
                              {.text = node.target},
                              {.text = node.module},
                              found != kernels.end()
                                  ? TableCell{.text = joined(found->second)}
                                  : TableCell{.text = "no work of its own", .tone = Tone::Quiet}});
    }
    return table;
}

/// The symbols with what the program takes for them, and the conditions between them.
Table symbolTable(const graph::ModelPlan& plan) {
    Table table;
    table.columns = {{.title = "symbol", .isCode = true}, {.title = "is"}, {.title = "values"}};
    for (const graph::SymbolSource& source : plan.symbolSources)
        table.rows.push_back({{.text = source.symbol},
                              {.text = textOf(source)},
                              {.text = rangeText(plan.graph.symbols.at(source.symbol))}});
    for (const graph::PlannedRelation& relation : plan.relations)
        table.rows.push_back(
            {{.text = textOf(relation.stated)},
             {.text = relation.stated.node.empty() ? "a condition of the program"
                                                   : "asserted by " + relation.stated.node},
             {}});
    return table;
}

Table simplificationTable(const graph::ModelPlan& plan) {
    Table table;
    table.columns = {{.title = "name", .isCode = true},
                     {.title = "what"},
                     {.title = "why it may be done"},
                     {.title = "results"}};
    for (const graph::Simplification& each : plan.simplifications)
        table.rows.push_back(
            {{.text = each.name},
             {.text = each.what, .note = joined(each.nodes)},
             {.text = each.condition},
             {.text = each.reordersSums ? "differ by rounding" : "are the same",
              .note = each.needsFiniteInputs ? "if no number is Inf or NaN" : ""}});
    return table;
}

} // namespace

Report modelReport(const engine::GeneratedModel& model, const std::string& archive,
                   const engine::Gpu& gpu) {
    const graph::ModelPlan& plan = model.plan;
    const graph::ModelCheck& check = model.check;
    std::size_t kernels = 0;
    std::size_t left = 0;
    double bound = 0;
    for (const graph::ModelStep& step : plan.steps) {
        const auto* kernel = std::get_if<graph::Kernel>(&step.work);
        kernels += kernel != nullptr ? 1 : 0;
        left += kernel == nullptr ? 1 : 0;
        if (kernel != nullptr && !step.dependsOnWeightsAlone)
            bound += boundOf(*kernel, gpu);
    }
    Report report;
    report.title = plan.name;
    report.lead =
        fmt::format("{} nodes became {} {}{}. On {}, a call cannot take less than {}.",
                    plan.graph.nodes.size(), kernels, kernels == 1 ? "kernel" : "kernels",
                    left > 0 ? fmt::format("; {} are left to a library", left) : std::string(),
                    gpu.product, durationText(bound * 1e6));
    for (const graph::ModelTensor& output : plan.outputs)
        if (const auto value = plan.constantOutputs.find(output.buffer);
            value != plan.constantOutputs.end())
            report.blocks.emplace_back(Paragraph{
                fmt::format("The output {} is {} whatever the inputs: the time of this model says "
                            "nothing about a kernel.",
                            output.source, value->second),
                Tone::Bad});
    report.blocks.emplace_back(
        Paragraph{modelCheckText(check),
                  check.outcome == graph::ModelCheck::Outcome::Differs ? Tone::Bad : Tone::Plain});
    report.blocks.emplace_back(
        FactList{{{"program", archive,
                   plan.graph.torchVersion.empty() ? "" : "torch " + plan.graph.torchVersion},
                  {"weights", std::to_string(plan.weights.size()), "tensors"},
                  {"workspace", shortNumber(static_cast<double>(plan.workspace.bytes)) + "B",
                   plan.workspace.dynamic.empty() ? "" : "and what depends on dynamic sizes"},
                  {"prepared", shortNumber(static_cast<double>(plan.prepared.bytes)) + "B",
                   "computed from the weights once"}}});
    if (!plan.symbols.empty())
        report.sections.push_back({.title = "Dynamic extents", .blocks = {symbolTable(plan)}});
    report.sections.push_back(
        {.title = "Kernels", .blocks = {kernelTable(plan, gpu), roofline(plan, gpu)}});
    if (model.measurement)
        report.sections.push_back(modelMeasurementSection(*model.measurement));
    if (!plan.simplifications.empty())
        report.sections.push_back(
            {.title = "Simplifications", .blocks = {simplificationTable(plan)}});
    report.sections.push_back({.title = "The graph", .blocks = {nodeTable(plan)}});
    report.footer = fmt::format("kernelskill {}, kernelskill generate {}", version, archive);
    return report;
}

} // namespace kernelskill::lsp
