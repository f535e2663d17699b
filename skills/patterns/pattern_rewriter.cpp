#include "skills/patterns/pattern_rewriter.h"

#include "skills/rewriting/code_map.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Spaces that one level of indentation is in a pattern.
constexpr std::size_t levelWidth = 4;

constexpr std::array<std::string_view, 9> delimiters = {"", "(", ")", "[", "]", ",", ";", "{", "}"};

bool isDelimiter(std::string_view text) {
    return std::ranges::find(delimiters, text) != delimiters.end();
}

/// Read as one whatever stands beside it: a name, a number, a call, something in brackets.
bool isPrimary(std::string_view text) {
    const std::vector<Token> tokens = lex(text);
    if (tokens.size() <= 1)
        return true;
    const bool isBracketed =
        tokens.front().text == "(" && matchingBracket(tokens, 0) == tokens.size() - 1;
    if (isBracketed)
        return true;
    if (tokens.front().kind != TokenKind::Identifier)
        return false;
    for (std::size_t i = 1; i < tokens.size(); ++i) {
        if (tokens[i].text == "(" || tokens[i].text == "[") {
            i = matchingBracket(tokens, i);
            continue;
        }
        const bool joins = tokens[i].text == "." || tokens[i].text == "->" ||
                           tokens[i].text == "::" || tokens[i].kind == TokenKind::Identifier;
        if (!joins)
            return false;
    }
    return true;
}

/// True if an expression at `span` is an operand, so that what replaces it is read together with
/// its neighbours.
bool isOperand(const SkillContext& context, ExprId expr) {
    const ExprId parent = context.shared().code().parent(expr);
    if (parent == noId)
        return false;
    const Expr& holder = context.kernel.body.expr(parent);
    switch (holder.kind) {
    case ExprKind::Unary:
    case ExprKind::Conditional:
    case ExprKind::Cast:
    case ExprKind::Member:
    case ExprKind::Other:
        return true;
    case ExprKind::Binary:
        return !(isAssignment(holder.op) && holder.children.size() == 2 &&
                 holder.children[1] == expr);
    case ExprKind::Subscript:
        return !holder.children.empty() && holder.children[0] == expr;
    case ExprKind::Call:
        return holder.isMethod && !holder.children.empty() && holder.children[0] == expr;
    default:
        return false;
    }
}

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
            const bool isExpression = kind(index) == MetavariableKind::Expression;
            const std::string_view left = i == 0 ? "" : tokens[i - 1].text;
            const std::string_view right = i + 1 == tokens.size() ? "" : tokens[i + 1].text;
            // '=' to the left takes all that follows; '(' to the right calls.
            const bool isAlone = (isDelimiter(left) || left == "=" || left == "return") &&
                                 isDelimiter(right) && right != "(" && right != "[";
            const bool needsBrackets =
                isExpression && !isAlone && !isPrimary(text) && !isFoundBetween(index, left, right);
            result += needsBrackets ? "(" + std::string(text) + ")" : std::string(text);
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

    /// True if `before` has the metavariable between the same neighbours, where its code was read
    /// as one already.
    [[nodiscard]] bool isFoundBetween(int index, std::string_view left,
                                      std::string_view right) const {
        const std::vector<PatternToken>& found = pattern_.before;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::string_view before = i == 0 ? "" : std::string_view(found[i - 1].text);
            const std::string_view behind =
                i + 1 == found.size() ? "" : std::string_view(found[i + 1].text);
            if (found[i].metavariable == index && before == left && behind == right)
                return true;
        }
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
    if (!isPrimary(text) &&
        isOperand(context, context.shared().patterns().expressionAt(match.span)))
        text = "(" + text + ")";
    return {match.span, std::move(text)};
}

} // namespace kernelskill::skills
