/// Fixes semicolons, parentheses and brackets, and applies the compiler's own proposals.
#include "engine/repair/compile_fixes/fix_candidate.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Token;
using analysis::TokenKind;

constexpr std::size_t maxPunctuationPlaces = 8;

std::string causeOf(const Diagnostic& error) {
    if (error.code == "expected-semicolon")
        return "missing-semicolon";
    if (error.code == "expected-parenthesis")
        return "missing-parenthesis";
    if (error.code == "expected-bracket")
        return "missing-bracket";
    if (error.code == "kernel-returns-value")
        return "kernel-return-type";
    if (error.message.find("did you mean") != std::string::npos)
        return "misspelled-identifier";
    return error.code;
}

std::string titleOf(const RepairContext& context, const std::vector<analysis::TextEdit>& edits) {
    const analysis::TextEdit& edit = edits.front();
    std::string_view old = context.slice(edit.span);
    if (edits.size() > 1)
        return "apply the compiler's fix";
    if (old.empty())
        return fmt::format("insert '{}'", edit.newText);
    if (edit.newText.empty())
        return fmt::format("remove '{}'", old);
    return fmt::format("change '{}' to '{}'", old, edit.newText);
}

/// The places where a bracket opened at `open` may close: after each token up to the end of its
/// statement.
std::vector<std::uint32_t> placesBehind(const RepairContext& context, std::size_t open) {
    std::vector<std::uint32_t> places;
    int depth = 0;
    for (std::size_t index = open + 1; index < context.tokens.size(); ++index) {
        const Token& token = context.tokens[index];
        if (token.kind == TokenKind::Directive || token.text == ";" || token.text == "{" ||
            token.text == "}")
            break;
        if (token.text == "(" || token.text == "[")
            ++depth;
        else if (token.text == ")" || token.text == "]")
            --depth;
        if (depth < 0)
            break;
        bool isOperand =
            token.kind != TokenKind::Punctuator || token.text == ")" || token.text == "]";
        if (depth == 0 && isOperand)
            places.push_back(token.span.end);
    }
    return places;
}

std::vector<FixCandidate> closings(const RepairContext& context, const Diagnostic& error) {
    bool isBracket = error.code == "expected-bracket";
    std::string closing = isBracket ? "]" : ")";
    std::string cause = isBracket ? "missing-bracket" : "missing-parenthesis";
    std::string title = fmt::format("insert '{}'", closing);
    std::vector<FixCandidate> candidates;
    // For an index, the shortest expression is the likeliest; for a condition or a call, the
    // longest.
    std::vector<std::uint32_t> places;
    if (!isBracket)
        places.push_back(context.endOfPrevious(error.span.begin));
    for (const analysis::RelatedPlace& note : error.related) {
        if (note.message.find("to match this") == std::string::npos ||
            note.file != context.model.file)
            continue;
        auto behind = placesBehind(context, context.tokenAt(note.span.begin));
        if (!isBracket)
            std::ranges::reverse(behind);
        places.insert(places.end(), behind.begin(), behind.end());
    }
    if (isBracket)
        places.push_back(context.endOfPrevious(error.span.begin));
    for (std::uint32_t place : places) {
        if (candidates.size() == maxPunctuationPlaces)
            break;
        candidates.push_back(insertion(cause, place, closing, title, Ladder::Bracket));
    }
    return candidates;
}

} // namespace

std::vector<FixCandidate> compilerFixes(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> candidates;
    // The compiler proposes names without knowing their meaning in the file, see spellingFixes().
    bool isName = error.message.find("did you mean '") != std::string::npos &&
                  error.message.find("::") == std::string::npos;
    if (isName)
        return candidates;
    for (const analysis::FixIt& fix : error.fixIts) {
        if (fix.edits.empty())
            continue;
        // The compiler notices a missing bracket late; closings() tries earlier places.
        const analysis::TextEdit& edit = fix.edits.front();
        bool closes = fix.edits.size() == 1 && (edit.newText == ")" || edit.newText == "]");
        if (!closes)
            candidates.push_back({causeOf(error), titleOf(context, fix.edits), fix.edits});
    }
    return candidates;
}

std::vector<FixCandidate> punctuationFixes(const RepairContext& context, const Diagnostic& error) {
    const std::string& message = error.message;
    if (message.starts_with("expected ';'"))
        return {insertion("missing-semicolon", context.endOfPrevious(error.span.begin), ";",
                          "insert ';'")};
    if (message.starts_with("expected ')'") || message.starts_with("expected ']'"))
        return closings(context, error);
    if (message.starts_with("expected '('"))
        return {insertion("missing-parenthesis", error.span.begin, "(", "insert '('")};
    if (message.starts_with("expected ','"))
        return {
            insertion("missing-comma", context.endOfPrevious(error.span.begin), ",", "insert ','")};
    std::size_t at = context.tokenAt(error.span.begin);
    if (at < context.tokens.size() && context.tokens[at].span.begin <= error.span.begin &&
        (message.starts_with("extraneous ')'") || message.starts_with("expected expression") ||
         message.starts_with("expected unqualified-id"))) {
        const Token& token = context.tokens[at];
        if (token.text == ")" || token.text == "]" || token.text == ",")
            return {
                {"extra-punctuation", fmt::format("remove '{}'", token.text), {{token.span, ""}}}};
    }
    return {};
}

} // namespace kernelskill::engine
