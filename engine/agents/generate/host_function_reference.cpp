#include "engine/agents/generate/host_function_reference.h"

#include "engine/agents/generate/kernel_writer.h"
#include "engine/agents/generate/reference_launch.h"
#include "engine/agents/generate/written_function.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

std::string whyOf(const KernelModel& function, const ParallelNest& nest) {
    std::string variables;
    for (const MappedLoop& mapped : nest.loops)
        variables += (variables.empty() ? "" : ", ") +
                     function.body.variable(function.loops[mapped.loop].inductionVariable).name;
    std::string why =
        fmt::format("The iterations over {} touch no element that another one writes", variables);
    if (nest.apart.empty())
        return why + ".";
    std::string arrays;
    for (const std::string& name : nest.apart)
        arrays += (arrays.empty() ? "" : ", ") + name;
    return why + fmt::format(", taken that {} do not overlap.", arrays);
}

/// `__device__` copy of the function, and a kernel whose first thread calls it.
std::string oneThreadKernel(const SourceText& source, const KernelModel& function,
                            const ParallelNest& nest, const WrittenKernel& written) {
    const std::string copy = derivedName(source, function.name, "reference");
    std::string definition = skills::rewritten(source, function.span, {{function.nameSpan, copy}});
    std::string parameters;
    std::string arguments;
    for (const Parameter& parameter : function.parameters) {
        parameters += (parameters.empty() ? "" : ", ") + parameterText(source, parameter);
        arguments += (arguments.empty() ? "" : ", ") + parameter.name;
    }
    std::string positions;
    std::string isFirst;
    for (std::size_t axis = 0; axis < nest.loops.size(); ++axis) {
        const char name = "xyz"[axis];
        positions += fmt::format("    const unsigned int kernelskill_{0} = blockIdx.{0} * "
                                 "blockDim.{0} + threadIdx.{0};\n",
                                 name);
        isFirst += fmt::format("{}kernelskill_{} < 1", axis == 0 ? "" : " && ", name);
    }
    return fmt::format("\n__device__ {}\n__global__ void {}({}) {{\n{}    if ({})\n"
                       "        {}({});\n}}\n",
                       definition, written.kernelName, parameters, positions, isFirst, copy,
                       arguments);
}

} // namespace

std::expected<KernelOffer, skills::Refusal> offerKernel(const FileModel& file,
                                                        const KernelModel& function) {
    const auto nest = findParallelNest(file, function);
    if (!nest)
        return std::unexpected(nest.error());
    return KernelOffer{function.qualifiedName, function.span, whyOf(function, *nest)};
}

std::expected<KernelDraft, skills::Refusal> HostFunctionReference::draft() const {
    const auto nest = findParallelNest(file_, function_);
    if (!nest)
        return std::unexpected(nest.error());
    const SourceText& source = *file_.source;
    const WrittenKernel written = writeKernel(file_, function_, *nest);
    const auto launch = referenceLaunch(source, function_, *nest, written);
    if (!launch)
        return std::unexpected(launch.error());
    const skills::SourceLayout layout(source, function_);
    const std::string& newline = layout.newline();
    const std::uint32_t after = layout.endOfLineTrivia(function_.span.end);
    std::string added = newline + newline + written.kernel + newline + written.launcher;
    added.resize(added.size() - newline.size()); // the file's own follows
    KernelDraft draft;
    const std::string scope =
        function_.qualifiedName.substr(0, function_.qualifiedName.size() - function_.name.size());
    draft.kernel = scope + written.kernelName;
    draft.edits[file_.file] = {{{after, after}, std::move(added)}};
    draft.why = whyOf(function_, *nest);
    const std::string pin = newline + *launch + newline;
    const std::string& text = source.text();
    draft.referenceText = text.substr(0, after) +
                          oneThreadKernel(source, function_, *nest, written) + text.substr(after) +
                          pin;
    draft.candidateText =
        text.substr(0, after) + draft.edits[file_.file].front().newText + text.substr(after) + pin;
    return draft;
}

} // namespace kernelskill::engine
