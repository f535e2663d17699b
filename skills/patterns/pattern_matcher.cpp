#include "skills/patterns/pattern_matcher.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/code_map.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Ends a search that a pattern with many metavariables could make long.
constexpr int maxSteps = 20'000;

constexpr std::array<std::string_view, 20> statementWords = {
    "if",   "else",  "for",     "while",    "do",   "switch", "case",
    "goto", "break", "default", "continue", "this", "return", "sizeof",
    "new",  "using", "typedef", "delete",   "true", "false"};

bool isName(const Token& token) {
    return token.kind == TokenKind::Identifier &&
           std::ranges::find(statementWords, token.text) == statementWords.end();
}

/// The type of a value: "const float &" is "float".
std::string plainType(std::string_view spelled) {
    std::string plain;
    for (const Token& token : lex(spelled)) {
        if (token.text == "const" || token.text == "volatile" || token.text == "&")
            continue;
        plain += plain.empty() || token.kind == TokenKind::Punctuator ? "" : " ";
        plain += token.text;
    }
    return plain;
}

} // namespace

struct PatternMatcher::Attempt {
    const CodePattern& pattern;
    std::size_t first = 0;
    std::vector<std::optional<std::pair<std::size_t, std::size_t>>> bindings;
    int steps = 0;
    std::size_t end = 0;
};

PatternMatcher::PatternMatcher(const FileModel& file, const KernelModel& kernel)
    : body_(kernel.body), text_(file.source->text()) {
    Span inner = kernel.bodySpan;
    inner.begin += inner.begin < inner.end ? 1 : 0;
    inner.end -= inner.begin < inner.end ? 1 : 0;
    tokens_ = lex(text_, inner);
    for (ExprId id = 0; id < body_.exprs.size(); ++id)
        expressions_.emplace_back(body_.expr(id).span, id);
    for (StmtId id = 0; id < body_.stmts.size(); ++id)
        statements_.emplace_back(body_.stmt(id).span.begin, id);
    std::ranges::sort(expressions_);
    std::ranges::sort(statements_);
}

std::optional<std::size_t> PatternMatcher::tokenAfter(std::uint32_t offset) const {
    const auto end = [](const Token& token) { return token.span.end; };
    const auto found = std::ranges::lower_bound(tokens_, offset, {}, end);
    if (found == tokens_.end() || found->span.end != offset)
        return std::nullopt;
    return static_cast<std::size_t>(found - tokens_.begin()) + 1;
}

Span PatternMatcher::spanOf(std::size_t first, std::size_t end) const {
    return first == end ? Span{tokens_.at(first).span.begin, tokens_.at(first).span.begin}
                        : Span{tokens_.at(first).span.begin, tokens_.at(end - 1).span.end};
}

ExprId PatternMatcher::expressionOf(std::size_t first, std::size_t end) const {
    if (first >= end)
        return noId;
    const Span span = spanOf(first, end);
    const auto same = std::ranges::equal_range(expressions_, span, {},
                                               [](const auto& entry) { return entry.first; });
    if (!same.empty())
        return same.front().second;
    if (tokens_[first].text != "(" || matchingBracket(tokens_, first) != end - 1)
        return noId;
    // Not the brackets of a call, a cast or an `if`.
    if (first > 0) {
        const Token& previous = tokens_[first - 1];
        const bool isReturn = previous.text == "return" || previous.text == "case";
        if ((previous.kind == TokenKind::Identifier && !isReturn) || previous.text == ")" ||
            previous.text == "]" || previous.text == ">")
            return noId;
    }
    return expressionOf(first + 1, end - 1);
}

std::pair<std::size_t, std::size_t> PatternMatcher::tokensOf(Span match) const {
    const auto place = [&](std::uint32_t offset) {
        const auto begin = [](const Token& token) { return token.span.begin; };
        const auto found = std::ranges::lower_bound(tokens_, offset, {}, begin);
        return static_cast<std::size_t>(found - tokens_.begin());
    };
    return {place(match.begin), place(match.end)};
}

bool PatternMatcher::isExpressionStart(std::size_t first) const {
    return !expressionsFrom(tokens_[first].span.begin).empty();
}

std::vector<std::size_t> PatternMatcher::expressionEnds(const Metavariable& metavariable,
                                                        std::size_t first) const {
    std::vector<std::size_t> ends;
    const auto add = [&](std::size_t end, ExprId expr) {
        if (!metavariable.type.empty() &&
            plainType(body_.expr(expr).type.canonical) != metavariable.type)
            return;
        ends.push_back(end);
    };
    for (const auto& [span, expr] : expressionsFrom(tokens_[first].span.begin))
        if (const auto end = tokenAfter(span.end))
            add(*end, expr);
    if (tokens_[first].text == "(") {
        const std::size_t close = matchingBracket(tokens_, first);
        if (close < tokens_.size())
            if (const ExprId expr = expressionOf(first, close + 1); expr != noId)
                add(close + 1, expr);
    }
    return ends;
}

std::vector<std::size_t> PatternMatcher::typeEnds(std::size_t first) const {
    std::vector<std::size_t> ends;
    if (tokens_[first].kind != TokenKind::Identifier || isExpressionStart(first))
        return ends;
    int depth = 0;
    for (std::size_t i = first; i < tokens_.size(); ++i) {
        const std::string_view text = tokens_[i].text;
        depth += text == "<" ? 1 : text == ">" ? -1 : 0;
        const bool belongs = isName(tokens_[i]) || text == "::" || text == "*" || text == "&" ||
                             text == "<" || text == ">" ||
                             (depth > 0 && (text == "," || tokens_[i].kind == TokenKind::Number));
        if (!belongs || depth < 0)
            break;
        if (depth == 0)
            ends.push_back(i + 1);
    }
    return ends;
}

std::vector<std::size_t> PatternMatcher::statementEnds(std::size_t first, bool mayBeMany) const {
    std::vector<std::size_t> ends;
    if (mayBeMany)
        ends.push_back(first);
    for (std::size_t next = first; next < tokens_.size();) {
        std::size_t reached = next;
        for (const auto& [begin, id] : statementsFrom(tokens_[next].span.begin)) {
            const Stmt& statement = body_.stmt(id);
            if (const auto end = tokenAfter(statement.span.end); end && !statement.fromMacro)
                reached = std::max(reached, *end);
        }
        if (reached == next)
            break;
        ends.push_back(reached);
        if (!mayBeMany)
            break;
        next = reached;
    }
    return ends;
}

std::vector<std::size_t> PatternMatcher::endsOf(const Metavariable& metavariable,
                                                std::size_t first) const {
    if (first >= tokens_.size())
        return {};
    switch (metavariable.kind) {
    case MetavariableKind::Expression:
        return expressionEnds(metavariable, first);
    case MetavariableKind::Identifier:
        return isName(tokens_[first]) ? std::vector{first + 1} : std::vector<std::size_t>{};
    case MetavariableKind::Constant:
        return tokens_[first].kind == TokenKind::Number ? std::vector{first + 1}
                                                        : std::vector<std::size_t>{};
    case MetavariableKind::Type:
        return typeEnds(first);
    case MetavariableKind::Statement:
        return statementEnds(first, false);
    case MetavariableKind::Statements:
        return statementEnds(first, true);
    }
    return {};
}

bool PatternMatcher::areStatements(std::size_t first, std::size_t end) const {
    const Span whole = spanOf(first, end);
    for (const auto& [begin, id] : statementsFrom(whole.begin)) {
        const Stmt& start = body_.stmt(id);
        if (start.parent == noId || body_.stmt(start.parent).kind != StmtKind::Compound ||
            start.fromMacro || !start.pragma.empty())
            continue;
        for (const StmtId sibling : body_.stmt(start.parent).children)
            if (body_.stmt(sibling).span.end == whole.end &&
                body_.stmt(sibling).span.begin >= whole.begin)
                return true;
    }
    return false;
}

bool PatternMatcher::isPure(ExprId id) const {
    const Expr& expr = body_.expr(id);
    const bool isIncrement =
        expr.kind == ExprKind::Unary && (expr.op.ends_with("++") || expr.op.ends_with("--"));
    const bool isChange = expr.kind == ExprKind::Binary && isAssignment(expr.op);
    const bool isUnknownCall =
        expr.kind == ExprKind::Call && (expr.isMethod || mathFunction(expr.name) == MathKind::None);
    if (isIncrement || isChange || isUnknownCall || expr.kind == ExprKind::Other ||
        expr.type.isVolatile)
        return false;
    return std::ranges::all_of(expr.children, [&](ExprId child) { return isPure(child); });
}

bool PatternMatcher::losesComment(const Attempt& attempt, std::size_t end) const {
    for (std::size_t i = attempt.first; i + 1 < end; ++i) {
        const bool isKept = std::ranges::any_of(attempt.bindings, [&](const auto& binding) {
            return binding && binding->first <= i && i + 1 < binding->second;
        });
        const std::uint32_t gap = tokens_[i].span.end;
        if (!isKept &&
            text_.substr(gap, tokens_[i + 1].span.begin - gap).find_first_not_of(" \t\r\n\\") !=
                std::string_view::npos)
            return true;
    }
    return false;
}

bool PatternMatcher::isAcceptable(const Attempt& attempt, std::size_t end) const {
    const bool isWhole = attempt.pattern.isStatements ? areStatements(attempt.first, end)
                                                      : expressionOf(attempt.first, end) != noId;
    if (!isWhole || losesComment(attempt, end))
        return false;
    for (std::size_t i = 0; i < attempt.bindings.size(); ++i) {
        if (!attempt.pattern.isRepeated[i] ||
            attempt.pattern.metavariables[i].kind != MetavariableKind::Expression)
            continue;
        const ExprId expr = expressionOf(attempt.bindings[i]->first, attempt.bindings[i]->second);
        if (expr == noId || !isPure(expr))
            return false;
    }
    return true;
}

bool PatternMatcher::holds(Attempt& attempt, std::size_t place, std::size_t token) const {
    if (++attempt.steps > maxSteps)
        return false;
    if (place == attempt.pattern.before.size()) {
        attempt.end = token;
        return token > attempt.first && isAcceptable(attempt, token);
    }
    const PatternToken& wanted = attempt.pattern.before[place];
    if (wanted.metavariable < 0)
        return token < tokens_.size() && tokens_[token].text == wanted.text &&
               holds(attempt, place + 1, token + 1);
    auto& binding = attempt.bindings[static_cast<std::size_t>(wanted.metavariable)];
    if (binding) {
        const std::size_t size = binding->second - binding->first;
        for (std::size_t i = 0; i < size; ++i)
            if (token + i >= tokens_.size() ||
                tokens_[token + i].text != tokens_[binding->first + i].text)
                return false;
        return holds(attempt, place + 1, token + size);
    }
    const Metavariable& metavariable =
        attempt.pattern.metavariables[static_cast<std::size_t>(wanted.metavariable)];
    for (const std::size_t end : endsOf(metavariable, token)) {
        binding = std::pair(token, end);
        if (holds(attempt, place + 1, end))
            return true;
    }
    binding.reset();
    return false;
}

std::vector<PatternMatch> PatternMatcher::matches(const CodePattern& pattern) const {
    std::vector<PatternMatch> found;
    // Most kernels have none of a pattern's own words.
    for (const PatternToken& wanted : pattern.before)
        if (wanted.metavariable < 0 &&
            std::ranges::find(tokens_, wanted.text, &Token::text) == tokens_.end())
            return found;
    for (std::size_t first = 0; first < tokens_.size();) {
        Attempt attempt{pattern, first, {}, 0, 0};
        attempt.bindings.resize(pattern.metavariables.size());
        if (!holds(attempt, 0, first)) {
            ++first;
            continue;
        }
        PatternMatch match{spanOf(first, attempt.end), {}};
        for (const auto& binding : attempt.bindings)
            match.bindings.push_back(binding->first < tokens_.size()
                                         ? spanOf(binding->first, binding->second)
                                         : Span{match.span.end, match.span.end});
        found.push_back(std::move(match));
        first = attempt.end;
    }
    return found;
}

} // namespace kernelskill::skills
