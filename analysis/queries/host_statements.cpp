#include "analysis/queries/host_statements.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

namespace {

bool isStatusQuery(std::string_view name) {
    return name == "cudaGetLastError" || name == "cudaPeekAtLastError";
}

bool isWaitCall(std::string_view name) {
    return name == "cudaDeviceSynchronize" || name == "cudaThreadSynchronize" ||
           name == "cudaStreamSynchronize";
}

bool isPlaceInText(std::string_view name) {
    return name == "__FILE__" || name == "__LINE__" || name == "__func__";
}

/// The index of the first token within a check around the statement, a macro or a function:
/// `cudaGetLastError` in `check(cudaGetLastError(), "name");`. 0 without one.
std::size_t checkedToken(const std::vector<Token>& tokens, const Stmt& stmt) {
    const bool isWrapped = tokens.size() > 2 && tokens[0].kind == TokenKind::Identifier &&
                           tokens[1].text == "(" && !isStatusQuery(tokens[0].text) &&
                           !isWaitCall(tokens[0].text);
    return isWrapped && (stmt.fromMacro || stmt.kind == StmtKind::Expression) ? 2 : 0;
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
    bool isCheck = false;
    for (std::size_t at = checkedToken(tokens, stmt); at < tokens.size(); ++at) {
        if (tokens[at].kind != TokenKind::Identifier)
            continue;
        if (!isStatusQuery(tokens[at].text) && !isPlaceInText(tokens[at].text))
            return false;
        isCheck = isCheck || isStatusQuery(tokens[at].text);
    }
    return isCheck;
}

bool isWait(const SourceText& source, const Stmt& stmt) {
    const std::vector<Token> tokens = lex(source.text(), stmt.span);
    const std::size_t at = checkedToken(tokens, stmt);
    if (at + 1 >= tokens.size() || !isWaitCall(tokens[at].text) || tokens[at + 1].text != "(")
        return false;
    const std::size_t close = matchingBracket(tokens, at + 1);
    const bool hasPlainArgument = close < tokens.size() && close - at <= 3; // none or one token
    return hasPlainArgument &&
           std::ranges::all_of(std::span(tokens).subspan(close), [](const Token& token) {
               return token.kind != TokenKind::Identifier || isPlaceInText(token.text);
           });
}

} // namespace kernelskill::analysis
