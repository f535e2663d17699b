#include "engine/graph/model/manifest.h"

#include "analysis/source/json.h"
#include "engine/graph/extent_relation.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {

namespace {

using nlohmann::json;

json tensorJson(const ModelPlan& plan, analysis::raise::BufferId id) {
    const analysis::raise::Buffer& buffer = plan.program.buffers.at(id);
    json shape = json::array();
    for (const analysis::raise::Index& extent : buffer.shape) {
        if (const auto value = extent.constant())
            shape.push_back(*value);
        else
            shape.push_back(extent.text());
    }
    return {{"name", buffer.name},
            {"element", analysis::raise::spelling(buffer.element)},
            {"shape", shape}};
}

json signatureJson(const ModelPlan& plan, const std::vector<ModelTensor>& tensors) {
    json list = json::array();
    for (const ModelTensor& tensor : tensors) {
        json entry = tensorJson(plan, tensor.buffer);
        entry["value"] = tensor.source;
        list.push_back(std::move(entry));
    }
    return list;
}

json stepJson(const ModelPlan& plan, const ModelStep& step) {
    if (const auto* call = std::get_if<analysis::raise::LibraryCall>(&step.work)) {
        json inputs = json::array();
        for (const auto buffer : call->inputs)
            inputs.push_back(tensorJson(plan, buffer));
        json outputs = json::array();
        for (const auto buffer : call->outputs)
            outputs.push_back(tensorJson(plan, buffer));
        return {{"library", call->node},
                {"reason", call->reason},
                {"needs_float32", plan.float32Nodes.contains(call->node)},
                {"channels_last", call->isChannelsLast},
                {"reads", inputs},
                {"writes", outputs}};
    }
    const Kernel& kernel = std::get<Kernel>(step.work);
    json reads = json::array();
    json writes = json::array();
    for (const KernelParameter& parameter : kernel.parameters)
        (parameter.isWritten ? writes : reads).push_back(tensorJson(plan, parameter.buffer));
    return {{"kernel", kernel.name},
            {"file", fmt::format("kernels/{}.cu", kernel.name)},
            {"schedule", kernel.schedule},
            {"nodes", kernel.sources},
            {"runs", step.dependsOnWeightsAlone ? "once" : "each call"},
            {"operations", kernel.operations},
            {"bytes", kernel.bytes},
            {"reads", reads},
            {"writes", writes}};
}

/// Each symbol with its range and the extent that it follows from, and what holds between them.
json sizesJson(const ModelPlan& plan) {
    json symbols = json::array();
    for (const SymbolSource& source : plan.symbolSources) {
        const SymbolRange& range = plan.graph.symbols.at(source.symbol);
        symbols.push_back({{"symbol", source.symbol},
                           {"low", std::max<std::int64_t>(range.low, 0)},
                           {"high", range.high ? json(*range.high) : json()},
                           {"input", source.input},
                           {"axis", source.axis},
                           {"factor", source.factor},
                           {"offset", source.offset}});
    }
    json relations = json::array();
    for (const PlannedRelation& relation : plan.relations)
        relations.push_back(textOf(relation.stated));
    return {{"symbols", symbols}, {"relations", relations}};
}

} // namespace

std::string manifest(const ModelPlan& plan) {
    json steps = json::array();
    for (const ModelStep& step : plan.steps)
        steps.push_back(stepJson(plan, step));
    json simplifications = json::array();
    for (const Simplification& each : plan.simplifications)
        simplifications.push_back({{"name", each.name},
                                   {"nodes", each.nodes},
                                   {"what", each.what},
                                   {"condition", each.condition},
                                   {"reorders_sums", each.reordersSums},
                                   {"needs_finite_inputs", each.needsFiniteInputs}});
    json constants = json::array();
    for (const ModelTensor& output : plan.outputs)
        if (const auto value = plan.constantOutputs.find(output.buffer);
            value != plan.constantOutputs.end())
            constants.push_back({{"output", output.source}, {"value", value->second}});
    json all = {{"name", plan.name},
                {"torch", plan.graph.torchVersion},
                {"inputs", signatureJson(plan, plan.inputs)},
                {"outputs", signatureJson(plan, plan.outputs)},
                {"weights", signatureJson(plan, plan.weights)},
                {"symbols", plan.symbols},
                {"steps", steps},
                {"simplifications", simplifications},
                {"constant_outputs", constants},
                {"prepared_bytes", plan.prepared.bytes},
                {"workspace_bytes", plan.workspace.bytes}};
    if (!plan.symbols.empty())
        all["sizes"] = sizesJson(plan);
    return all.dump(2) + "\n";
}

} // namespace kernelskill::engine::graph
