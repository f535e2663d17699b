#include "analysis/queries/host_statements.h"

#include "analysis/syntax/lexer.h"

#include <string_view>
#include <vector>

namespace kernelskill::analysis {

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

const LaunchSite* launchAt(const FileModel& file, std::uint32_t host, ExprId id) {
    if (id == noId)
        return nullptr;
    const Span span = file.hostFunctions[host].body.expr(id).span;
    for (const KernelModel& kernel : file.kernels)
        for (const LaunchSite& launch : kernel.launches)
            if (launch.host == host && launch.span == span && !launch.fromMacro &&
                sourceOf(file, launch) != nullptr &&
                sourceOf(file, launch)->slice(launch.configurationSpan).ends_with(">>>"))
                return &launch;
    return nullptr;
}

bool isErrorCheck(const SourceText& source, const Stmt& stmt) {
    const std::vector<Token> tokens = lex(source.text(), stmt.span);
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

} // namespace kernelskill::analysis
