#include "skills/editing/host_code.h"

#include "analysis/queries/code_map.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// "CHECK" of the first `CHECK(cudaMalloc(...))` in the function.
std::string errorCheckOf(const SourceText& source, const HostFunction& host) {
    const std::vector<Token> tokens = lex(source.text(), host.span);
    constexpr std::array<std::string_view, 4> keywords = {"if", "while", "return", "sizeof"};
    for (std::size_t i = 2; i + 1 < tokens.size(); ++i) {
        const bool isWrapped = tokens[i].kind == TokenKind::Identifier &&
                               tokens[i].text.starts_with("cuda") && tokens[i + 1].text == "(" &&
                               tokens[i - 1].text == "(" &&
                               tokens[i - 2].kind == TokenKind::Identifier &&
                               std::ranges::find(keywords, tokens[i - 2].text) == keywords.end();
        const std::size_t close = isWrapped ? matchingBracket(tokens, i + 1) : tokens.size();
        if (close + 1 < tokens.size() && tokens[close + 1].text == ")")
            return std::string(tokens[i - 2].text);
    }
    return {};
}

} // namespace

HostCode::HostCode(const SkillContext& context, std::uint32_t function)
    : source_(*context.file.source), body_(context.file.hostFunctions[function].body),
      layout_(source_, context.kernel),
      check_(errorCheckOf(source_, context.file.hostFunctions[function])) {}

std::string HostCode::textOf(ExprId expr) const {
    return std::string(source_.slice(body_.expr(expr).span));
}

std::string HostCode::stream(ExprId expr) const {
    return expr == noId ? "0" : textOf(expr);
}

std::string HostCode::name(const std::string& wanted) const {
    return freshName(body_, wanted);
}

std::string HostCode::call(const std::string& text) const {
    return check_.empty() ? text + ";" : check_ + "(" + text + ");";
}

std::string HostCode::indentation(Span span) const {
    return layout_.indentation(span.begin);
}

TextEdit HostCode::before(Span span, std::string lines) const {
    const std::uint32_t at = layout_.lineBegin(span.begin);
    return {{at, at}, std::move(lines)};
}

TextEdit HostCode::after(Span span, std::string lines) const {
    const std::uint32_t at = layout_.endOfLineTrivia(span.end);
    lines.resize(lines.size() - layout_.newline().size());
    return {{at, at}, layout_.newline() + lines};
}

TextEdit inStream(const FunctionBody& host, const LaunchSite& launch, const std::string& stream) {
    if (launch.stream != noId)
        return {host.expr(launch.stream).span, stream};
    const std::uint32_t end =
        launch.configurationSpan.end - static_cast<std::uint32_t>(sizeof ">>>" - 1);
    return {{end, end}, (launch.sharedBytes == noId ? ", 0, " : ", ") + stream};
}

} // namespace kernelskill::skills
