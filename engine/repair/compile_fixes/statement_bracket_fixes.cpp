/// Fixes statements with unbalanced round or square brackets. Tries all places; the file's other
/// text tells which of those that parse is meant.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

constexpr std::size_t maxBracketPlaces = 26;

struct Bracket {
    char open;
    char close;
    std::string_view cause;
};

int balanceOf(const RepairContext& context, TokenRange range, const Bracket& bracket) {
    int balance = 0;
    for (std::size_t index = range.begin; index < range.end; ++index) {
        const Token& token = context.tokens[index];
        if (token.kind == TokenKind::Punctuator && token.text.size() == 1)
            balance += token.text[0] == bracket.open ? 1 : token.text[0] == bracket.close ? -1 : 0;
    }
    return balance;
}

bool isKnown(const RepairContext& context, std::string_view name) {
    for (const Token& token : context.tokens)
        if (token.kind == TokenKind::Identifier && token.text == name)
            return true;
    return false;
}

/// Splits a word that consists of two names whose separator is missing.
void addSplits(const RepairContext& context, const Token& word, const Bracket& bracket,
               std::vector<FixCandidate>& candidates) {
    for (std::size_t cut = 1; cut < word.text.size(); ++cut) {
        if (!isKnown(context, word.text.substr(0, cut)))
            continue;
        auto place = word.span.begin + static_cast<std::uint32_t>(cut);
        candidates.push_back(insertion(std::string(bracket.cause), place,
                                       std::string(1, bracket.open),
                                       fmt::format("insert '{}'", bracket.open), Ladder::Bracket));
    }
}

void addOpenings(const RepairContext& context, TokenRange range, const Bracket& bracket,
                 std::vector<FixCandidate>& candidates) {
    for (std::size_t index = range.begin; index < range.end; ++index) {
        const Token& token = context.tokens[index];
        if (token.kind == TokenKind::Directive)
            continue;
        if (index > range.begin)
            candidates.push_back(insertion(
                std::string(bracket.cause), token.span.begin, std::string(1, bracket.open),
                fmt::format("insert '{}'", bracket.open), Ladder::Bracket));
        if (token.kind == TokenKind::Identifier)
            addSplits(context, token, bracket, candidates);
    }
}

void addClosings(const RepairContext& context, TokenRange range, const Bracket& bracket,
                 std::vector<FixCandidate>& candidates) {
    bool isOpened = false;
    for (std::size_t index = range.begin; index < range.end; ++index) {
        const Token& token = context.tokens[index];
        isOpened |= token.text == std::string_view(&bracket.open, 1);
        bool endsOperand = token.kind != TokenKind::Punctuator || token.text == ")" ||
                           token.text == "]" || token.text == "(" || token.text == "[";
        if (isOpened && endsOperand && token.kind != TokenKind::Directive)
            candidates.push_back(
                insertion(std::string(bracket.cause), token.span.end, std::string(1, bracket.close),
                          fmt::format("insert '{}'", bracket.close), Ladder::Bracket));
    }
}

void addRemovals(const RepairContext& context, TokenRange range, char extra,
                 std::vector<FixCandidate>& candidates) {
    for (std::size_t index = range.begin; index < range.end; ++index) {
        const Token& token = context.tokens[index];
        if (token.text == std::string_view(&extra, 1))
            candidates.push_back({"extra-punctuation",
                                  fmt::format("remove '{}'", extra),
                                  {{token.span, ""}},
                                  Ladder::Bracket});
    }
}

} // namespace

std::vector<FixCandidate> statementBracketFixes(const RepairContext& context,
                                                const analysis::Diagnostic& error) {
    static constexpr Bracket brackets[] = {{'(', ')', "missing-parenthesis"},
                                           {'[', ']', "missing-bracket"}};
    std::vector<FixCandidate> candidates;
    TokenRange range = statementLines(context, error.span.begin);
    if (range.isEmpty())
        return candidates;
    for (const Bracket& bracket : brackets) {
        int balance = balanceOf(context, range, bracket);
        if (balance == 1) {
            addClosings(context, range, bracket, candidates);
        } else if (balance == -1) {
            addRemovals(context, range, bracket.close, candidates);
            addOpenings(context, range, bracket, candidates);
        }
    }
    if (candidates.size() > maxBracketPlaces) {
        // Take those nearest to the error.
        auto distance = [&](const FixCandidate& candidate) {
            std::int64_t away =
                std::int64_t{candidate.edits.front().span.begin} - std::int64_t{error.span.begin};
            return away < 0 ? -away : away;
        };
        std::ranges::stable_sort(candidates, {}, distance);
        candidates.resize(maxBracketPlaces);
    }
    return candidates;
}

} // namespace kernelskill::engine
