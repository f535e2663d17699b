#include "skills/patterns/code_pattern.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Failure = std::unexpected<PatternError>;

int lineOf(const CodeBlock& block, const Token& token) {
    return block.line + static_cast<int>(std::ranges::count(
                            std::string_view(block.text).substr(0, token.span.begin), '\n'));
}

bool isStatementKind(MetavariableKind kind) {
    return kind == MetavariableKind::Statement || kind == MetavariableKind::Statements;
}

bool opens(std::string_view text) {
    return text == "(" || text == "[" || text == "{";
}
bool closes(std::string_view text) {
    return text == ")" || text == "]" || text == "}";
}

/// The first token of `block` that opens or closes a bracket without its other half.
std::optional<Token> unbalanced(const std::vector<Token>& tokens) {
    std::size_t covered = 0; // Closing brackets met so far belong to an opening one.
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (opens(tokens[i].text)) {
            const std::size_t end = matchingBracket(tokens, i);
            if (end == tokens.size())
                return tokens[i];
            ends.push_back(end);
            covered = std::max(covered, end);
        } else if (closes(tokens[i].text) && std::ranges::find(ends, i) == ends.end()) {
            return tokens[i];
        }
    }
    return std::nullopt;
}

std::expected<void, PatternError> checkTokens(const CodeBlock& block,
                                              const std::vector<Token>& tokens,
                                              const std::vector<Metavariable>& metavariables,
                                              bool mayHavePragma) {
    for (const Token& token : tokens) {
        if (token.kind == TokenKind::Directive) {
            const bool isUnroll = lex(token.text.substr(1)).size() >= 2 &&
                                  lex(token.text.substr(1))[0].text == "pragma" &&
                                  lex(token.text.substr(1))[1].text == "unroll";
            if (!mayHavePragma || !isUnroll)
                return Failure(PatternError{
                    lineOf(block, token),
                    mayHavePragma ? "a pattern may have no preprocessor directive but "
                                    "'#pragma unroll'"
                                  : "the code to be found may have no preprocessor directive"});
        }
        if (token.text.starts_with('$') && metavariableNamed(metavariables, token.text) < 0)
            return Failure(
                PatternError{lineOf(block, token),
                             fmt::format("the metavariable '{}' is not declared", token.text)});
    }
    if (const auto token = unbalanced(tokens))
        return Failure(PatternError{lineOf(block, *token),
                                    fmt::format("'{}' has no other half", token->text)});
    return {};
}

bool isStatementCode(const std::vector<Token>& tokens,
                     const std::vector<Metavariable>& metavariables) {
    if (tokens.empty())
        return true; // Nothing takes the place of statements.
    const std::string_view last = tokens.back().text;
    const int metavariable = metavariableNamed(metavariables, last);
    if (metavariable >= 0)
        return isStatementKind(metavariables[static_cast<std::size_t>(metavariable)].kind);
    return last == ";" || last == "}";
}

std::vector<std::size_t> countUses(const std::vector<Token>& tokens,
                                   const std::vector<Metavariable>& metavariables) {
    std::vector<std::size_t> counts(metavariables.size());
    for (const Token& token : tokens)
        if (const int index = metavariableNamed(metavariables, token.text); index >= 0)
            ++counts[static_cast<std::size_t>(index)];
    return counts;
}

} // namespace

int metavariableNamed(const std::vector<Metavariable>& metavariables, std::string_view token) {
    if (!token.starts_with('$'))
        return -1;
    const auto found = std::ranges::find(metavariables, token.substr(1), &Metavariable::name);
    return found == metavariables.end() ? -1 : static_cast<int>(found - metavariables.begin());
}

std::expected<CodePattern, PatternError>
makePattern(const CodeBlock& before, const CodeBlock& after,
            const std::vector<Metavariable>& metavariables) {
    const std::vector<Token> found = lex(before.text);
    const std::vector<Token> made = lex(after.text);
    if (auto checked = checkTokens(before, found, metavariables, false); !checked)
        return Failure(checked.error());
    if (auto checked = checkTokens(after, made, metavariables, true); !checked)
        return Failure(checked.error());
    if (std::ranges::all_of(found, [&](const Token& token) {
            return metavariableNamed(metavariables, token.text) >= 0 || token.text == ";";
        }))
        return Failure(PatternError{before.line, "the code to be found would match everywhere"});

    CodePattern pattern;
    pattern.metavariables = metavariables;
    pattern.after = after.text;
    for (const Token& token : found)
        pattern.before.push_back(
            {std::string(token.text), metavariableNamed(metavariables, token.text)});
    pattern.isStatements = isStatementCode(found, metavariables);
    const int first = pattern.before.front().metavariable;
    if (first >= 0 &&
        metavariables[static_cast<std::size_t>(first)].kind == MetavariableKind::Statements)
        return Failure(PatternError{before.line, "nothing says where the statements begin"});
    if (!pattern.isStatements && made.empty())
        return Failure(PatternError{after.line, "an expression cannot become nothing"});
    if (pattern.isStatements != isStatementCode(made, metavariables))
        return Failure(PatternError{
            after.line, pattern.isStatements
                            ? "statements are found, but what replaces them ends in none"
                            : "an expression is found, but what replaces it is a statement"});

    const std::vector<std::size_t> bound = countUses(found, metavariables);
    const std::vector<std::size_t> used = countUses(made, metavariables);
    for (std::size_t i = 0; i < metavariables.size(); ++i) {
        const Metavariable& metavariable = metavariables[i];
        if (bound[i] == 0)
            return Failure(PatternError{
                metavariable.line,
                fmt::format("nothing in the code to be found binds '${}'", metavariable.name)});
        if (!pattern.isStatements && isStatementKind(metavariable.kind))
            return Failure(PatternError{
                metavariable.line, fmt::format("an expression holds no statement, which '${}' is",
                                               metavariable.name)});
        pattern.isRepeated.push_back(bound[i] != used[i]);
    }
    return pattern;
}

} // namespace kernelskill::skills
