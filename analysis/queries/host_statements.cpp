#include "analysis/queries/host_statements.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

namespace {

bool isStatusQuery(std::string_view name) {
    return name == "cudaGetLastError" || name == "cudaPeekAtLastError";
}

bool waits(std::string_view name) {
    return name == "cudaDeviceSynchronize" || name == "cudaThreadSynchronize" ||
           name == "cudaStreamSynchronize";
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

namespace {

/// The place among its tokens of the one that a check around the statement holds first:
/// `check(cudaGetLastError(), "name");`, a macro or a function and constants beside it.
std::size_t checkedToken(const std::vector<Token>& tokens, const Stmt& stmt) {
    const bool isWrapped = tokens.size() > 2 && tokens[0].kind == TokenKind::Identifier &&
                           tokens[1].text == "(" && !isStatusQuery(tokens[0].text) &&
                           !waits(tokens[0].text);
    return isWrapped && (stmt.fromMacro || stmt.kind == StmtKind::Expression) ? 2 : 0;
}

} // namespace

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
    if (at + 1 >= tokens.size() || !waits(tokens[at].text) || tokens[at + 1].text != "(")
        return false;
    const std::size_t close = matchingBracket(tokens, at + 1);
    const auto isName = [](const Token& token) { return token.kind == TokenKind::Identifier; };
    const auto place = [&](std::size_t index) {
        return tokens.begin() + static_cast<std::ptrdiff_t>(index);
    };
    return close < tokens.size() && close - at <= 3 &&
           std::all_of(
               place(close), tokens.end(),
               [&](const Token& token) { return !isName(token) || isPlaceInText(token.text); });
}

} // namespace kernelskill::analysis
