#include "engine/graph/model/model_source.h"

#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/model/kernel_file.h"
#include "engine/graph/model/sizes_source.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::LibraryCall;

std::string_view elementOf(const ModelPlan& plan, BufferId buffer) {
    return analysis::raise::spelling(plan.program.buffers.at(buffer).element);
}

std::string fields(const ModelPlan& plan, const std::vector<ModelTensor>& tensors,
                   std::string_view qualifier) {
    std::string text;
    for (const ModelTensor& tensor : tensors) {
        const Buffer& buffer = plan.program.buffers.at(tensor.buffer);
        text += fmt::format("        {}{}* {} = nullptr; ///< {}\n", qualifier,
                            elementOf(plan, tensor.buffer), buffer.name, shapeText(buffer.shape));
    }
    return text;
}

/// The bytes of a place that buffers of dynamic size share, as an expression.
std::string placeBytes(const ModelPlan& plan, const std::vector<BufferId>& place) {
    std::string list;
    for (const BufferId buffer : place) {
        const std::string bytes = fmt::format(
            "bytesOf({}, sizeof({}))", hostText(elementsOf(plan.program.buffers.at(buffer).shape)),
            elementOf(plan, buffer));
        if (!list.contains(bytes))
            list += (list.empty() ? "" : ", ") + bytes;
    }
    return list.contains(", bytesOf") ? "std::max({" + list + "})" : list;
}

/// Declares the buffers that lie in `memory`.
std::string placedBuffers(const ModelPlan& plan, const Placement& placement,
                          std::string_view memory, bool isConst, const std::set<BufferId>& used) {
    std::string text;
    const std::string_view qualifier = isConst ? "const " : "";
    for (const auto& [buffer, offset] : placement.offsets)
        if (used.contains(buffer))
            text += fmt::format("    {0}{1}* const {2} = reinterpret_cast<{0}{1}*>({3} + {4});\n",
                                qualifier, elementOf(plan, buffer),
                                plan.program.buffers.at(buffer).name, memory, offset);
    if (placement.dynamic.empty())
        return text;
    text += fmt::format("    std::size_t next = {};\n", placement.bytes);
    for (const std::vector<BufferId>& place : placement.dynamic) {
        for (const BufferId buffer : place)
            text +=
                fmt::format("    {0}* const {1} = reinterpret_cast<{0}*>({2} + next);\n",
                            elementOf(plan, buffer), plan.program.buffers.at(buffer).name, memory);
        text += fmt::format("    next += {};\n", placeBytes(plan, place));
    }
    return text;
}

std::set<BufferId> usedBy(const ModelPlan& plan, bool isPrepared) {
    std::set<BufferId> used;
    for (const ModelStep& step : plan.steps) {
        if (step.dependsOnWeightsAlone != isPrepared)
            continue;
        if (const auto* call = std::get_if<LibraryCall>(&step.work)) {
            used.insert(call->inputs.begin(), call->inputs.end());
            used.insert(call->outputs.begin(), call->outputs.end());
        } else {
            for (const KernelParameter& parameter : std::get<Kernel>(step.work).parameters)
                used.insert(parameter.buffer);
        }
    }
    return used;
}

/// The pointer of a buffer in the text of prepare() and forward().
std::string pointer(const ModelPlan& plan, BufferId buffer) {
    const Buffer& array = plan.program.buffers.at(buffer);
    switch (array.role) {
    case Buffer::Role::Input:
        return "inputs." + array.name;
    case Buffer::Role::Weight:
        return "weights_." + array.name;
    case Buffer::Role::Output:
        return "outputs." + array.name;
    case Buffer::Role::Local:
        break;
    }
    return array.name;
}

std::string launchLine(const ModelPlan& plan, const Kernel& kernel) {
    std::string arguments;
    for (const KernelParameter& parameter : kernel.parameters)
        arguments += pointer(plan, parameter.buffer) + ", ";
    for (const std::string& symbol : kernel.symbols)
        arguments += "sizes." + symbol + ", ";
    return fmt::format("    status = status == cudaSuccess ? {}({}stream) : status;\n",
                       launcherName(kernel), arguments);
}

/// A library gives memory for results that are none of the model's outputs.
std::string libraryLine(const ModelPlan& plan, const LibraryCall& call) {
    std::string inputs;
    for (const BufferId buffer : call.inputs)
        inputs += (inputs.empty() ? "" : ", ") + pointer(plan, buffer);
    std::string outputs;
    std::string results;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        const Buffer& buffer = plan.program.buffers.at(call.outputs[i]);
        const bool isLocal = buffer.role == Buffer::Role::Local;
        outputs += (outputs.empty() ? "" : ", ") +
                   (isLocal ? std::string("nullptr") : pointer(plan, call.outputs[i]));
        if (isLocal)
            results += fmt::format("        {} = static_cast<{}*>(results[{}]);\n", buffer.name,
                                   elementOf(plan, call.outputs[i]), i);
    }
    return fmt::format("    if (status == cudaSuccess) {{\n"
                       "        const void* const given[] = {{{}}};\n"
                       "        void* results[] = {{{}}};\n"
                       "        status = library.run(\"{}\", given, results, stream);\n"
                       "{}"
                       "    }}\n",
                       inputs.empty() ? "nullptr" : inputs, outputs.empty() ? "nullptr" : outputs,
                       call.node, results);
}

/// Declares what libraries give memory for.
std::string libraryBuffers(const ModelPlan& plan) {
    std::string text;
    for (const LibraryCall* call : libraryCalls(plan))
        for (const BufferId buffer : call->outputs)
            if (plan.program.buffers.at(buffer).role == Buffer::Role::Local)
                text += fmt::format("    [[maybe_unused]] {}* {} = nullptr;\n",
                                    elementOf(plan, buffer), plan.program.buffers.at(buffer).name);
    return text;
}

std::string steps(const ModelPlan& plan, bool isPrepared) {
    std::string text = "    cudaError_t status = cudaSuccess;\n";
    for (const ModelStep& step : plan.steps) {
        if (step.dependsOnWeightsAlone != isPrepared)
            continue;
        const auto* call = std::get_if<LibraryCall>(&step.work);
        text += call != nullptr ? libraryLine(plan, *call)
                                : launchLine(plan, std::get<Kernel>(step.work));
    }
    return text + "    return status;\n";
}

std::string forwardHead(const ModelPlan& plan, std::string_view scope) {
    return fmt::format("cudaError_t {}forward(const Inputs& inputs, const Outputs& outputs, void* "
                       "workspace{}{}, cudaStream_t stream) const",
                       scope, plan.symbols.empty() ? "" : ", const Sizes& sizes",
                       libraryCalls(plan).empty() ? "" : ", Library& library");
}

/// The definition of a function that says whether a node is one of these; nothing if there are
/// none.
std::string nodesDefinition(std::string_view function, const std::set<std::string>& names) {
    if (names.empty())
        return "";
    std::string nodes;
    for (const std::string& node : names)
        nodes += fmt::format("{}name == \"{}\"", nodes.empty() ? "" : " || ", node);
    return fmt::format("bool Model::{}(const char* node)\n{{\n"
                       "    const std::string_view name = node;\n    return {};\n}}\n\n",
                       function, nodes);
}

} // namespace

std::string modelHeader(const ModelPlan& plan) {
    std::string text = fmt::format(
        "/// The model {0}, by kernels of its own. Tensors are contiguous, in device memory.\n"
        "#pragma once\n\n"
        "#include <cuda_runtime.h>\n",
        plan.name);
    for (const char* header : {"cuda_fp16.h", "cuda_bf16.h"})
        if (std::ranges::any_of(plan.program.buffers, [&](const Buffer& buffer) {
                return buffer.element == (std::string_view(header) == "cuda_fp16.h"
                                              ? analysis::ScalarKind::Half
                                              : analysis::ScalarKind::BFloat16);
            }))
            text += fmt::format("#include <{}>\n", header);
    text += fmt::format("\n#include <cstddef>\n{}\nnamespace {} {{\n\nclass Model {{\npublic:\n",
                        plan.symbols.empty() ? "" : "#include <string>\n", plan.name);
    text += "    struct Weights {\n" + fields(plan, plan.weights, "const ") + "    };\n";
    text += "    struct Inputs {\n" + fields(plan, plan.inputs, "const ") + "    };\n";
    std::string free;
    for (const std::size_t place : outputsOfLibraries(plan))
        free +=
            (free.empty() ? "" : ", ") + plan.program.buffers.at(plan.outputs[place].buffer).name;
    if (!free.empty())
        text += fmt::format(
            "    /// May be null, where the library's memory is to hold them: {}.\n", free);
    text += "    struct Outputs {\n" + fields(plan, distinctOutputs(plan), "") + "    };\n";
    text += sizesMembers(plan);
    if (const auto calls = libraryCalls(plan); !calls.empty()) {
        text += "    /// Runs the nodes that no kernel was made for:\n";
        for (const LibraryCall* call : calls)
            text += fmt::format("    ///   {}: {}\n", call->node, call->reason);
        text +=
            "    class Library {\n    public:\n        virtual ~Library() = default;\n"
            "        /// Computes the node's outputs, on the stream, where `outputs` say. For one "
            "that is null, it gives\n"
            "        /// memory of its own, which stays valid until forward() has run.\n"
            "        virtual cudaError_t run(const char* node, const void* const* inputs,\n"
            "                                void** outputs, cudaStream_t stream) = 0;\n"
            "    };\n";
        if (!plan.float32Nodes.empty())
            text += "    /// Whether a node has to be computed in float32, even if others may use "
                    "TF32.\n"
                    "    static bool needsFloat32(const char* node);\n";
        if (!channelsLastCalls(plan).empty())
            text += "    /// Whether the tensors of a node with four or more axes are in "
                    "channels-last order: the second\n"
                    "    /// axis is the innermost one in memory. All others are contiguous.\n"
                    "    static bool isChannelsLast(const char* node);\n";
    }
    const std::string sizes = plan.symbols.empty() ? "" : "const Sizes& sizes";
    text += fmt::format(
        "\n    /// Bytes of what prepare() computes from the weights.\n"
        "    static constexpr std::size_t preparedBytes = {};\n"
        "    /// Bytes that one call of forward() works in.\n"
        "    static std::size_t workspaceBytes({});\n\n"
        "    /// `prepared` has preparedBytes, aligned to 256 bytes; it may be null if these are "
        "0.\n"
        "    Model(const Weights& weights, void* prepared) : weights_(weights), "
        "prepared_(static_cast<char*>(prepared)) {{}}\n"
        "    /// Computes what depends on the weights alone; before the first call, and after each "
        "change of them.\n"
        "    cudaError_t prepare(cudaStream_t stream) const;\n"
        "    /// Asynchronous. Calls on several streams need a workspace each.{}\n"
        "    {};\n\n"
        "private:\n    Weights weights_;\n    char* prepared_;\n}};\n\n}} // namespace {}\n",
        plan.prepared.bytes, sizes,
        plan.symbols.empty() ? ""
                             : " cudaErrorInvalidValue for sizes that the\n"
                               "    /// program does not take.",
        forwardHead(plan, ""), plan.name);
    return text;
}

std::string modelSource(const ModelPlan& plan) {
    const bool isDynamic = !plan.workspace.dynamic.empty();
    std::string text = "#include \"model.h\"\n\n#include \"kernels.h\"\n\n";
    if (isDynamic)
        text += "#include <algorithm>\n\n";
    if (!plan.float32Nodes.empty() || !channelsLastCalls(plan).empty())
        text += "#include <string_view>\n\n";
    text += fmt::format("namespace {} {{\n\n", plan.name);
    if (isDynamic)
        text += fmt::format("namespace {{\n\n"
                            "/// A tensor's bytes, rounded up to the alignment of the next.\n"
                            "std::size_t bytesOf(long long elements, std::size_t size)\n{{\n"
                            "    return (elements * size + {0}) / {1} * {1};\n}}\n\n"
                            "}} // namespace\n\n",
                            placementAlignment - 1, placementAlignment);
    text += sizesDefinitions(plan) + nodesDefinition("needsFloat32", plan.float32Nodes) +
            nodesDefinition("isChannelsLast", channelsLastCalls(plan));
    text += fmt::format("std::size_t Model::workspaceBytes({})\n{{\n    std::size_t bytes = {};\n",
                        plan.symbols.empty() ? ""
                        : isDynamic          ? "const Sizes& sizes"
                                             : "const Sizes&",
                        plan.workspace.bytes);
    if (isDynamic)
        text += sizeConstants(plan, "sizes");
    for (const std::vector<BufferId>& place : plan.workspace.dynamic)
        text += fmt::format("    bytes += {};\n", placeBytes(plan, place));
    text += "    return bytes;\n}\n\n";

    const std::set<BufferId> preparing = usedBy(plan, true);
    const bool prepares = !preparing.empty();
    text += fmt::format("cudaError_t Model::prepare(cudaStream_t{}) const\n{{\n",
                        prepares ? " stream" : "");
    if (prepares)
        text +=
            placedBuffers(plan, plan.prepared, "prepared_", false, preparing) + steps(plan, true);
    else
        text += "    return cudaSuccess;\n";
    text += "}\n\n";

    const std::set<BufferId> used = usedBy(plan, false);
    text += forwardHead(plan, "Model::") + "\n{\n";
    if (!plan.symbols.empty())
        text += "    if (!problemOf(sizes).empty())\n        return cudaErrorInvalidValue;\n";
    text += placedBuffers(plan, plan.prepared, "prepared_", true, used);
    if (plan.workspace.offsets.empty() && !isDynamic) {
        text += "    (void)workspace;\n";
    } else {
        text += "    char* const memory = static_cast<char*>(workspace);\n";
        if (isDynamic)
            text += sizeConstants(plan, "sizes");
        text += placedBuffers(plan, plan.workspace, "memory", false, used);
    }
    text += libraryBuffers(plan) + steps(plan, false) +
            fmt::format("}}\n\n}} // namespace {}\n", plan.name);
    return text;
}

} // namespace kernelskill::engine::graph
