#include "skills/rewriting/host_launches.h"

#include "analysis/syntax/lexer.h"
#include "skills/rewriting/gates.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

const KernelModel* kernelOf(const FileModel& file, const LaunchSite& launch) {
    for (const KernelModel& kernel : file.kernels)
        for (const LaunchSite& own : kernel.launches)
            if (&own == &launch)
                return &kernel;
    return nullptr;
}

std::expected<void, Refusal> requireEditableLaunch(const SkillContext& context,
                                                   const LaunchSite& launch) {
    if (launch.fromMacro)
        return refuse("launch-from-macro", fmt::format("the launch on line {} comes out of a macro",
                                                       lineNumber(context, launch.span.begin)));
    if (launch.host >= context.file.hostFunctions.size() ||
        context.file.hostFunctions[launch.host].file != context.file.file)
        return refuse("launch-in-header",
                      fmt::format("{} is launched in a header", context.kernel.name));
    return {};
}

const LaunchSite* launchAt(const SkillContext& context, std::uint32_t host, ExprId id) {
    if (id == noId)
        return nullptr;
    const Span span = context.file.hostFunctions[host].body.expr(id).span;
    for (const KernelModel& kernel : context.file.kernels)
        for (const LaunchSite& launch : kernel.launches)
            if (launch.host == host && launch.span == span && !launch.fromMacro &&
                context.file.source->slice(launch.configurationSpan).ends_with(">>>"))
                return &launch;
    return nullptr;
}

bool isErrorCheck(const SkillContext& context, const Stmt& stmt) {
    bool isCheck = false;
    for (const Token& token : lex(context.file.source->text(), stmt.span)) {
        if (token.kind != TokenKind::Identifier)
            continue;
        const bool reads = token.text == "cudaGetLastError" || token.text == "cudaPeekAtLastError";
        const bool isMacro = stmt.fromMacro && token.span.begin == stmt.span.begin;
        if (!reads && !isMacro)
            return false;
        isCheck = isCheck || reads;
    }
    return isCheck;
}

TextEdit inStream(const FunctionBody& host, const LaunchSite& launch, const std::string& stream) {
    if (launch.stream != noId)
        return {host.expr(launch.stream).span, stream};
    const std::uint32_t end =
        launch.configurationSpan.end - static_cast<std::uint32_t>(sizeof ">>>" - 1);
    return {{end, end}, (launch.sharedBytes == noId ? ", 0, " : ", ") + stream};
}

} // namespace kernelskill::skills
