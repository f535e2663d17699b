#include "skills/editing/added_include.h"

#include "analysis/queries/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Returns "include" of `#  include <x>`.
std::string_view directiveName(std::string_view directive) {
    directive.remove_prefix(std::min(directive.find_first_not_of("# \t"), directive.size()));
    return directive.substr(0, directive.find_first_of(" \t<\"\r\n"));
}

/// Returns "NAME" of `#define NAME value`.
std::string_view directiveOperand(std::string_view directive) {
    directive.remove_prefix(std::min(directive.find_first_not_of("# \t"), directive.size()));
    directive.remove_prefix(std::min(directive.find_first_of(" \t"), directive.size()));
    directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
    return directive.substr(0, directive.find_first_of(" \t\r\n"));
}

/// Whether the file begins with the `#ifndef X` and `#define X` of an include guard.
bool hasIncludeGuard(const std::vector<Token>& tokens) {
    const auto isDirective = [&](std::size_t at, std::string_view name) {
        return at < tokens.size() && tokens[at].kind == TokenKind::Directive &&
               directiveName(tokens[at].text) == name;
    };
    return isDirective(0, "ifndef") && isDirective(1, "define") &&
           directiveOperand(tokens[0].text) == directiveOperand(tokens[1].text);
}

} // namespace

std::uint32_t includePlace(std::string_view text, const std::vector<Token>& tokens) {
    const bool isGuarded = hasIncludeGuard(tokens);
    std::optional<std::uint32_t> behind; // The directive that the new one follows.
    if (isGuarded)
        behind = tokens[1].span.begin;
    int depth = isGuarded ? -1 : 0;
    for (const Token& token : tokens) {
        if (token.kind != TokenKind::Directive)
            break;
        const std::string_view name = directiveName(token.text);
        if (name.starts_with("if"))
            ++depth;
        else if (name == "endif")
            --depth;
        else if (depth == 0 && (name == "include" ||
                                (name == "pragma" && directiveOperand(token.text) == "once")))
            behind = token.span.begin;
    }
    if (behind)
        return static_cast<std::uint32_t>(std::min(text.find('\n', *behind), text.size() - 1) + 1);
    const std::uint32_t first = tokens.empty() ? 0 : tokens.front().span.begin;
    return static_cast<std::uint32_t>(first == 0 ? 0 : text.rfind('\n', first - 1) + 1);
}

std::optional<TextEdit> addedInclude(const SkillContext& context, std::string_view header) {
    if (std::ranges::find(context.file.includes, header, &Include::spelling) !=
        context.file.includes.end())
        return std::nullopt;
    const SourceLayout layout(*context.file.source, context.kernel);
    const std::uint32_t at = includePlace(context.file.source->text(), context.shared().tokens());
    return TextEdit{{at, at}, fmt::format("#include {}{}", header, layout.newline())};
}

} // namespace kernelskill::skills
