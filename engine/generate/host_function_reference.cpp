#include "engine/generate/host_function_reference.h"

#include "analysis/queries/source_layout.h"
#include "engine/generate/kernel_writer.h"
#include "engine/generate/reference_program.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

std::string listOf(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ", ") + name;
    return list;
}

/// The explanation for one nest.
std::string whyOf(const SourceText& source, const KernelModel& function,
                  const ParallelFunction& parallel, const ParallelNest& nest) {
    std::vector<std::string> variables;
    for (const MappedLoop& mapped : nest.loops)
        variables.push_back(
            function.body.variable(function.loops[mapped.loop].inductionVariable).name);
    std::string why = fmt::format("The iterations over {}", listOf(variables));
    if (parallel.nests.size() > 1)
        why +=
            fmt::format(" of line {}",
                        source.lineColumn(function.body.stmt(nest.statement).span.begin).line + 1);
    why += " touch no element that another one writes";
    std::vector<std::string> folded;
    bool isRounded = false;
    for (const Reduction& reduction : nest.reductions) {
        folded.push_back(function.body.variable(reduction.variable).name);
        isRounded = isRounded || rounds(function.body, reduction);
    }
    if (!folded.empty())
        why += fmt::format(", and meet in {} alone{}", listOf(folded),
                           isRounded ? ", reassociated" : "");
    return why;
}

std::string whyOf(const SourceText& source, const KernelModel& function,
                  const ParallelFunction& parallel) {
    std::string why;
    for (const ParallelNest& nest : parallel.nests)
        why += (why.empty() ? "" : ". ") + whyOf(source, function, parallel, nest);
    if (!parallel.apart.empty())
        why += fmt::format(", taken that {} do not overlap", listOf(parallel.apart));
    return why + ".";
}

} // namespace

std::expected<KernelOffer, skills::Refusal> offerKernel(const FileModel& file,
                                                        const KernelModel& function) {
    const auto parallel = findParallelFunction(file, function);
    if (!parallel)
        return std::unexpected(parallel.error());
    return KernelOffer{function.qualifiedName, function.span,
                       whyOf(*file.source, function, *parallel)};
}

std::expected<KernelDraft, skills::Refusal> HostFunctionReference::draft() const {
    const auto parallel = findParallelFunction(file_, function_);
    if (!parallel)
        return std::unexpected(parallel.error());
    const SourceText& source = *file_.source;
    DerivedNames names(source, function_);
    const WrittenFunction written = writeFunction(file_, function_, *parallel, names);
    const analysis::SourceLayout layout(source, function_);
    const std::string& newline = layout.newline();
    const std::uint32_t after = layout.endOfLineTrivia(function_.span.end);
    std::string added = newline + newline + written.text(newline);
    KernelDraft draft;
    draft.kernel =
        function_.qualifiedName.substr(0, function_.qualifiedName.size() - function_.name.size()) +
        written.kernels.front().name;
    draft.why = whyOf(source, function_, *parallel);
    for (std::size_t number = 0; number < written.kernels.size(); ++number) {
        auto check = checkOf(file_, function_, *parallel, parallel->nests[number],
                             written.kernels[number], added, after, names);
        if (!check)
            return std::unexpected(std::move(check.error()));
        if (check->numerics == skills::Numerics::Reassociates)
            draft.numerics = check->numerics;
        draft.checks.push_back(std::move(*check));
    }
    added.resize(added.size() - newline.size()); // The file's own line end follows.
    draft.edits[file_.file] = {{{after, after}, std::move(added)}};
    return draft;
}

} // namespace kernelskill::engine
