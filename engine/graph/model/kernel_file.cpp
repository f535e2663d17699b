#include "engine/graph/model/kernel_file.h"

#include "engine/graph/kernels/device_helpers.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine::graph {

namespace {

std::string launcherHead(const ModelPlan& plan, const Kernel& kernel) {
    const std::string list = parameterList(plan.program, kernel);
    return fmt::format("cudaError_t {}({}{}cudaStream_t stream)", launcherName(kernel), list,
                       list.empty() ? "" : ", ");
}

/// The statements of a launcher.
std::string launchText(const ModelPlan& plan, const Kernel& kernel) {
    std::string text;
    std::string isEmpty;
    constexpr std::array<char, 3> axes = {'x', 'y', 'z'};
    constexpr std::int64_t mostBlocks = 0x7fffffff;
    constexpr std::int64_t mostNarrow = std::int64_t{1} << 30;
    std::string isTooLarge;
    const auto limit = [&](const analysis::raise::Index& number, std::int64_t most) {
        if (const auto high = number.bounds().high; !high || *high > most)
            isTooLarge +=
                fmt::format("{}{} > {}", isTooLarge.empty() ? "" : " || ", hostText(number), most);
    };
    for (const analysis::raise::Index& number : kernel.narrow)
        limit(number, mostNarrow);
    for (const analysis::raise::Index& count : kernel.blocks)
        limit(count, mostBlocks);
    if (!isTooLarge.empty())
        text +=
            fmt::format("    if ({})\n        return cudaErrorInvalidConfiguration;\n", isTooLarge);
    text += "    dim3 blocks;\n";
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const analysis::raise::Index& count = kernel.blocks[i];
        if (count.constant() != 1)
            text += fmt::format("    blocks.{} = static_cast<unsigned>({});\n", axes[i],
                                hostText(count));
        if (const auto low = count.bounds().low; !low || *low < 1)
            isEmpty += fmt::format("{}blocks.{} == 0", isEmpty.empty() ? "" : " || ", axes[i]);
    }
    if (!isEmpty.empty())
        text += fmt::format("    if ({})\n        return cudaSuccess;\n", isEmpty);
    constexpr std::size_t sharedWithoutAsking = 48 * 1024;
    if (kernel.sharedBytes > sharedWithoutAsking)
        text += fmt::format("    const cudaError_t status =\n"
                            "        cudaFuncSetAttribute({}_kernel, "
                            "cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n"
                            "    if (status != cudaSuccess)\n        return status;\n",
                            kernel.name, kernel.sharedBytes);
    const auto& threads = kernel.threads;
    const std::string block =
        threads[1] * threads[2] == 1
            ? std::to_string(threads[0])
            : fmt::format("dim3({}, {}, {})", threads[0], threads[1], threads[2]);
    return text + fmt::format("    {}_kernel<<<blocks, {}, {}, stream>>>({});\n", kernel.name,
                              block, kernel.sharedBytes, argumentList(plan.program, kernel));
}

/// Whether a launcher's parameters may have types of the header; others are for device code alone.
bool declaresTypes(const std::string& header) {
    return header == "cuda_fp16.h" || header == "cuda_bf16.h";
}

/// "//   linear  aten.linear.default  layers.0"
std::string nodeLine(const Program& graph, const std::string& name) {
    const auto node = std::ranges::find(graph.nodes, name, &Node::name);
    if (node == graph.nodes.end())
        return "";
    return fmt::format("//   {}  {}{}\n", name, node->target,
                       node->module.empty() ? "" : "  of " + node->module);
}

} // namespace

std::string launcherName(const Kernel& kernel) {
    return "launch_" + kernel.name;
}

std::string shapeText(const std::vector<analysis::raise::Index>& shape) {
    std::string text;
    for (const analysis::raise::Index& extent : shape)
        text += (text.empty() ? "" : ", ") + extent.text();
    return "[" + text + "]";
}

std::string kernelFile(const ModelPlan& plan, const Kernel& kernel) {
    std::string text = fmt::format("// {}: {}.\n", kernel.name, kernel.schedule);
    std::string nodes;
    for (const std::string& source : kernel.sources)
        nodes += nodeLine(plan.graph, source);
    if (!nodes.empty())
        text += "// Nodes of the graph:\n" + nodes;
    text += "// Tensors:\n";
    for (const KernelParameter& parameter : kernel.parameters) {
        const analysis::raise::Buffer& buffer = plan.program.buffers.at(parameter.buffer);
        text += fmt::format("//   {} {}{}\n", buffer.name, shapeText(buffer.shape),
                            parameter.isWritten ? ", written" : "");
    }
    text += "#include <cuda_runtime.h>\n";
    for (const std::string& header : kernel.headers)
        text += fmt::format("#include <{}>\n", header);
    text += "\n#include <math.h>\n\n";
    text += helperTexts({kernel.helpers.begin(), kernel.helpers.end()});
    text += kernel.definition;
    text += fmt::format("\n{}\n{{\n{}    return cudaGetLastError();\n}}\n",
                        launcherHead(plan, kernel), launchText(plan, kernel));
    return text;
}

std::string launchersHeader(const ModelPlan& plan) {
    std::string text = "// The kernels of the model. Pointers are device memory; a launch is "
                       "asynchronous.\n#pragma once\n\n#include <cuda_runtime.h>\n";
    std::string headers;
    std::string launchers;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work)) {
            for (const std::string& header : kernel->headers)
                if (declaresTypes(header) && headers.find(header) == std::string::npos)
                    headers += fmt::format("#include <{}>\n", header);
            launchers += launcherHead(plan, *kernel) + ";\n";
        }
    return text + headers + "\n" + launchers;
}

} // namespace kernelskill::engine::graph
