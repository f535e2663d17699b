#include "skills/rewriting/host_launches.h"

#include "analysis/syntax/lexer.h"
#include "skills/rewriting/gates.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isStatusQuery(std::string_view name) {
    return name == "cudaGetLastError" || name == "cudaPeekAtLastError";
}

bool isPlaceInText(std::string_view name) {
    return name == "__FILE__" || name == "__LINE__" || name == "__func__";
}

} // namespace

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
    const std::vector<Token> tokens = lex(context.file.source->text(), stmt.span);
    std::size_t at = 0;
    // `check(cudaGetLastError(), "name");`: a macro or a function around it, and constants.
    const bool isWrapped = tokens.size() > 2 && tokens[0].kind == TokenKind::Identifier &&
                           tokens[1].text == "(" && !isStatusQuery(tokens[0].text);
    if (isWrapped && (stmt.fromMacro || stmt.kind == StmtKind::Expression))
        at = 2;
    bool isCheck = false;
    for (; at < tokens.size(); ++at) {
        if (tokens[at].kind != TokenKind::Identifier)
            continue;
        if (!isStatusQuery(tokens[at].text) && !isPlaceInText(tokens[at].text))
            return false;
        isCheck = isCheck || isStatusQuery(tokens[at].text);
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
