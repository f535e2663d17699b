/// Fixes missing and surplus braces. Syntax cannot tell the place; indentation usually does.
#include "engine/repair/compile_fixes/fix_candidate.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Token;
using analysis::TokenKind;

constexpr std::size_t maxBracePlaces = 6;

/// The first token of each line that has tokens, without directives.
std::vector<std::size_t> lineStarts(const RepairContext& context) {
    std::vector<std::size_t> starts;
    std::uint32_t lastLine = 0xffffffffu;
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        if (context.tokens[index].kind == TokenKind::Directive)
            continue;
        std::uint32_t line = context.lineOf(context.tokens[index].span.begin);
        if (line != lastLine)
            starts.push_back(index);
        lastLine = line;
    }
    return starts;
}

bool isContinuation(const Token& token) {
    return token.text == "{" || token.text == ")" || token.text == "public" ||
           token.text == "private" || token.text == "protected" || token.text == "case" ||
           token.text == "default";
}

/// Proposes a '}' where a line is indented less than its block allows.
std::vector<FixCandidate> missingClosings(const RepairContext& context) {
    struct Open {
        std::uint32_t indentation;
        std::uint32_t line;
    };
    std::vector<FixCandidate> candidates;
    std::vector<Open> open;
    std::uint32_t previousLine = 0xffffffffu;
    std::uint32_t previousEnd = 0;
    auto close = [&](const Open& block) {
        std::string brace = "\n" + std::string(block.indentation, ' ') + "}";
        candidates.push_back(insertion("missing-brace", previousEnd, std::move(brace), "insert '}'",
                                       Ladder::ClosingBrace));
    };
    for (const Token& token : context.tokens) {
        if (token.kind == TokenKind::Directive)
            continue;
        std::uint32_t line = context.lineOf(token.span.begin);
        bool startsLine = line != previousLine;
        if (startsLine && !open.empty() && candidates.size() < maxBracePlaces) {
            std::uint32_t indentation = context.indentationOf(line);
            bool isOutside = token.text == "}"
                                 ? indentation < open.back().indentation
                                 : indentation <= open.back().indentation &&
                                       line > open.back().line && !isContinuation(token);
            if (isOutside) {
                close(open.back());
                open.pop_back();
            }
        }
        if (token.text == "{")
            open.push_back({context.indentationOf(line), line});
        else if (token.text == "}" && !open.empty())
            open.pop_back();
        previousLine = line;
        previousEnd = token.span.end;
    }
    while (!open.empty() && candidates.size() < maxBracePlaces) {
        close(open.back());
        open.pop_back();
    }
    return candidates;
}

/// Proposes a '{' after a header (`for (...)`, `else`, a function's) whose block is closed but
/// never opened.
std::vector<FixCandidate> missingOpenings(const RepairContext& context) {
    std::vector<FixCandidate> candidates;
    auto starts = lineStarts(context);
    for (std::size_t row = 0; row + 1 < starts.size() && candidates.size() < maxBracePlaces;
         ++row) {
        const Token& last = context.tokens[starts[row + 1] - 1];
        bool isHeader =
            last.text == ")" || last.text == "else" || last.text == "do" || last.text == "const";
        if (!isHeader || context.tokens[starts[row + 1]].text == "{")
            continue;
        std::uint32_t indentation = context.indentationOf(context.lineOf(last.span.begin));
        std::size_t next = row + 1;
        auto indentationOfRow = [&](std::size_t at) {
            return context.indentationOf(context.lineOf(context.tokens[starts[at]].span.begin));
        };
        while (next < starts.size() && indentationOfRow(next) > indentation)
            ++next;
        bool isClosed = next > row + 1 && next < starts.size() &&
                        context.tokens[starts[next]].text == "}" &&
                        indentationOfRow(next) == indentation;
        if (isClosed)
            candidates.push_back(insertion("missing-brace", last.span.end, " {", "insert '{'",
                                           Ladder::OpeningBrace));
    }
    return candidates;
}

/// Removes a surplus '}': the text after it is indented more than the closed block allows.
std::vector<FixCandidate> extraClosings(const RepairContext& context, const Diagnostic& error) {
    std::vector<std::size_t> closings;
    std::size_t suspect = context.tokens.size();
    int depth = 0;
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        const Token& token = context.tokens[index];
        if (token.kind == TokenKind::Directive)
            continue;
        bool startsLine = index == 0 || context.lineOf(context.tokens[index - 1].span.begin) !=
                                            context.lineOf(token.span.begin);
        bool isOutside = depth <= 0 && token.text != "{" &&
                         context.indentationOf(context.lineOf(token.span.begin)) > 0;
        if (startsLine && isOutside && suspect == context.tokens.size() && !closings.empty())
            suspect = closings.back();
        depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
        if (token.text == "}")
            closings.push_back(index);
        if (depth < 0 && suspect == context.tokens.size())
            suspect = index;
    }
    std::vector<std::size_t> places;
    if (suspect < context.tokens.size())
        places.push_back(suspect);
    std::size_t at = context.tokenAt(error.span.begin);
    if (at < context.tokens.size() && context.tokens[at].text == "}")
        places.push_back(at);
    for (auto closing = closings.rbegin(); closing != closings.rend(); ++closing)
        if (context.tokens[*closing].span.begin < error.span.begin &&
            places.size() < maxBracePlaces)
            places.push_back(*closing);
    std::vector<FixCandidate> candidates;
    for (std::size_t place : places)
        candidates.push_back(
            {"extra-brace", "remove '}'", {{context.tokens[place].span, ""}}, Ladder::ExtraBrace});
    return candidates;
}

int balanceOf(const RepairContext& context) {
    int balance = 0;
    for (const Token& token : context.tokens) {
        if (token.kind == TokenKind::Punctuator)
            balance += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
    }
    return balance;
}

} // namespace

std::vector<FixCandidate> braceFixes(const RepairContext& context, const Diagnostic& error) {
    int balance = balanceOf(context);
    if (balance > 0)
        return missingClosings(context);
    if (balance == 0)
        return {};
    auto candidates = missingOpenings(context);
    auto extra = extraClosings(context, error);
    candidates.insert(candidates.end(), extra.begin(), extra.end());
    return candidates;
}

} // namespace kernelskill::engine
