#include "skills/patterns/pattern_rewriter.h"

#include "analysis/queries/source_layout.h"
#include "skills/base/held_values.h"
#include "skills/editing/code_lines.h"
#include "skills/patterns/brackets.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Spaces that one level of indentation is in a pattern.
constexpr std::size_t levelWidth = 4;

class Renderer {
public:
    Renderer(const SkillContext& context, const CodePattern& pattern, const PatternMatch& match)
        : context_(context), pattern_(pattern), match_(match) {}

    /// `code` with metavariables replaced.
    [[nodiscard]] std::string filled(std::string_view code) const {
        const std::vector<Token> tokens = lex(code);
        std::string result;
        std::size_t copied = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const int index = metavariableNamed(pattern_.metavariables, tokens[i].text);
            if (index < 0)
                continue;
            result += code.substr(copied, tokens[i].span.begin - copied);
            copied = tokens[i].span.end;
            const std::string_view text = bound(index);
            const bool isBracketed = kind(index) == MetavariableKind::Expression &&
                                     !isFoundBetween(index, tokens, i) &&
                                     needsBrackets(text, tokens, i, i + 1);
            result += isBracketed ? "(" + std::string(text) + ")" : std::string(text);
        }
        return result + std::string(code.substr(copied));
    }

    /// The statements, each line at the match's indentation and deeper as the pattern says.
    [[nodiscard]] std::string statements(const SourceLayout& layout) const {
        const std::string base = layout.indentation(match_.span.begin);
        std::string result;
        for (std::size_t begin = 0; begin < pattern_.after.size();) {
            const std::size_t end =
                std::min(pattern_.after.find('\n', begin), pattern_.after.size());
            addLine(std::string_view(pattern_.after).substr(begin, end - begin), base, layout,
                    result);
            begin = end + 1;
        }
        // The match starts behind its line's indentation and ends before the line's end.
        if (result.starts_with(base))
            result.erase(0, base.size());
        while (result.ends_with('\n') || result.ends_with('\r'))
            result.pop_back();
        return result;
    }

private:
    void addLine(std::string_view line, const std::string& base, const SourceLayout& layout,
                 std::string& result) const {
        const std::size_t indented = std::min(line.find_first_not_of(' '), line.size());
        const std::string_view code = line.substr(indented);
        if (code.empty()) {
            result += layout.newline();
            return;
        }
        std::string indentation = base;
        for (std::size_t level = 0; level < indented / levelWidth; ++level)
            indentation += layout.unit();
        indentation.append(indented % levelWidth, ' ');
        CodeLines lines(layout, indentation);
        const int index = metavariableNamed(pattern_.metavariables, code);
        if (index >= 0 && isStatements(kind(index))) {
            if (!match_.bindings[static_cast<std::size_t>(index)].empty())
                lines.addBlock(
                    bound(index),
                    layout.indentation(match_.bindings[static_cast<std::size_t>(index)].begin));
        } else {
            lines.add(filled(code));
        }
        result += lines.text();
    }

    /// True if `before` has the metavariable between the same neighbours as `tokens` has it at
    /// `place`: its code was read as one there already.
    [[nodiscard]] bool isFoundBetween(int index, const std::vector<Token>& tokens,
                                      std::size_t place) const {
        const auto textAt = [](const auto& list, std::size_t i) {
            return i < list.size() ? std::string_view(list[i].text) : std::string_view();
        };
        const std::vector<PatternToken>& found = pattern_.before;
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i].metavariable == index &&
                textAt(found, i - 1) == textAt(tokens, place - 1) &&
                textAt(found, i + 1) == textAt(tokens, place + 1))
                return true;
        return false;
    }
    static bool isStatements(MetavariableKind kind) {
        return kind == MetavariableKind::Statement || kind == MetavariableKind::Statements;
    }
    [[nodiscard]] MetavariableKind kind(int index) const {
        return pattern_.metavariables[static_cast<std::size_t>(index)].kind;
    }
    [[nodiscard]] std::string_view bound(int index) const {
        return context_.file.source->slice(match_.bindings[static_cast<std::size_t>(index)]);
    }

    const SkillContext& context_;
    const CodePattern& pattern_;
    const PatternMatch& match_;
};

} // namespace

const PatternMatcher& matcherOf(const SkillContext& context) {
    return context.held<PatternMatcher>(
        nullptr, [&] { return PatternMatcher(context.file, context.kernel); });
}

TextEdit rewriteOf(const SkillContext& context, const CodePattern& pattern,
                   const PatternMatch& match) {
    const SourceLayout layout(*context.file.source, context.kernel);
    const Renderer renderer(context, pattern, match);
    if (pattern.isStatements) {
        std::string text = renderer.statements(layout);
        return {text.empty() ? layout.statementWithLine(match.span) : match.span, std::move(text)};
    }
    std::string text = renderer.filled(pattern.after);
    while (text.ends_with('\n'))
        text.pop_back();
    const auto [first, end] = matcherOf(context).tokensOf(match.span);
    if (needsBrackets(text, matcherOf(context).tokens(), first, end))
        text = "(" + text + ")";
    return {match.span, std::move(text)};
}

} // namespace kernelskill::skills
