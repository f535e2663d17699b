#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

namespace kernelskill::skills {

using namespace analysis;

std::unexpected<Refusal> refuse(std::string gate, std::string reason) {
    return std::unexpected(Refusal{std::move(gate), std::move(reason)});
}

std::uint32_t lineNumber(const SkillContext& context, std::uint32_t offset) {
    return context.file.source->lineColumn(offset).line + 1;
}

std::string placeOf(const SkillContext& context, const LaunchSite& launch) {
    const SourceText* source = sourceOf(context.file, launch);
    const std::uint32_t line =
        (source == nullptr ? *context.file.source : *source).lineColumn(launch.span.begin).line + 1;
    if (source == nullptr || isInMainFile(context.file, launch))
        return fmt::format("line {}", line);
    const std::filesystem::path file(context.file.hostFunctions[launch.host].file);
    return fmt::format("line {} of {}", line, file.filename().string());
}

std::string alsoLaunchedIn(const SkillContext& context) {
    std::string names;
    const auto& files = context.kernel.alsoLaunchedIn;
    for (std::size_t i = 0; i < files.size(); ++i) {
        names += i == 0 ? "" : i + 1 == files.size() ? " and " : ", ";
        names += std::filesystem::path(files[i]).filename().string();
    }
    return names;
}

Gated<const CompiledKernel*> requireCompiled(const SkillContext& context) {
    if (context.compiled == nullptr)
        return refuse(std::string(needsCompiledFacts),
                      fmt::format("registers, spills and occupancy of {} are not known: profile it "
                                  "first, where a CUDA toolkit is installed",
                                  context.kernel.name));
    return context.compiled;
}

Gated<void> requireEditable(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    if (kernel.file != context.file.file)
        return refuse("kernel-in-header", fmt::format("{} is defined in {}, not in this file",
                                                      kernel.name, kernel.file));
    if (kernel.fromMacro || kernel.body.root == noId)
        return refuse("kernel-from-macro",
                      fmt::format("the definition of {} comes out of a macro (line {})",
                                  kernel.name, lineNumber(context, kernel.span.begin)));
    const auto error = std::ranges::find_if(context.file.diagnostics, [&](const Diagnostic& found) {
        return isCompileError(found) && found.file == kernel.file &&
               kernel.span.contains(found.span.begin);
    });
    if (error != context.file.diagnostics.end())
        return refuse("does-not-compile",
                      fmt::format("{} has a compile error on line {}: {}", kernel.name,
                                  lineNumber(context, error->span.begin), error->message));
    if (!context.cursor().touches(kernel.span))
        return refuse("cursor-outside", fmt::format("the cursor is not in {}", kernel.name));
    return {};
}

Error unsupported(const SkillContext& context, const Refusal& refusal) {
    return Error{ErrorKind::Unsupported, refusal.reason,
                 fmt::format("{}:{}", context.kernel.file,
                             lineNumber(context, context.kernel.nameSpan.begin)),
                 ""};
}

} // namespace kernelskill::skills
