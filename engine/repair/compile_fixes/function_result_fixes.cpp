/// Fixes functions without a return type, and kernels that return a value.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::TokenKind;

/// The function's `return` tokens that precede a value.
std::vector<std::size_t> valueReturns(const RepairContext& context,
                                      const FunctionTokens& function) {
    std::vector<std::size_t> returns;
    for (std::size_t index = function.body.begin; index + 1 < function.body.end; ++index)
        if (context.textAt(index) == "return" && context.textAt(index + 1) != ";")
            returns.push_back(index);
    return returns;
}

/// Adds the missing return type: that of the returned variable, else one that parses.
std::vector<FixCandidate> withResultType(const RepairContext& context, std::size_t name) {
    auto function = functionAround(context, context.tokens[name].span.begin);
    if (!function || function->name != name || function->isMarked(context, "__global__"))
        return {};
    std::uint32_t place = context.tokens[name].span.begin;
    std::vector<std::string> types;
    const auto returns = valueReturns(context, *function);
    for (std::size_t index : returns) {
        if (context.textAt(index + 2) != ";")
            continue;
        for (const DeclaredName& variable :
             namesBefore(context, *function, context.tokens[index].span.begin))
            if (variable.name == context.textAt(index + 1))
                types.push_back(variable.type);
    }
    // A function with values of one type usually returns that type; the parser decides.
    types.emplace_back(returns.empty() ? "void" : "auto");
    std::set<std::string> seen;
    std::vector<FixCandidate> candidates;
    for (const std::string& type : types)
        if (type.find("__") == std::string::npos && seen.insert(type).second)
            candidates.push_back(insertion("missing-return-type", place, type + " ",
                                           fmt::format("insert '{}'", type), Ladder::Type));
    return candidates;
}

/// Removes the value from `return 0;` in a function without a result.
std::vector<FixCandidate> withoutValue(const RepairContext& context, const Diagnostic& error) {
    std::size_t token = context.tokenAt(error.span.begin);
    if (context.textAt(token) != "return")
        return {};
    std::size_t end = token;
    while (end < context.tokens.size() && context.textAt(end) != ";")
        ++end;
    bool isConstant = end == token + 2 && context.tokens[token + 1].kind == TokenKind::Number;
    bool isLast = context.textAt(end + 1) == "}";
    auto function = functionAround(context, error.span.begin);
    std::vector<FixCandidate> candidates;
    if (isConstant && isLast && function && end + 2 == function->body.end) {
        analysis::Span statement = spanOf(context, {token, end + 1});
        statement.begin = context.tokens[token - 1].span.end;
        candidates.push_back(
            {"kernel-return-value", "remove the return value", {{statement, ""}}, Ladder::Type});
    }
    candidates.push_back({"kernel-return-value",
                          "return without a value",
                          {{spanOf(context, {token + 1, end}), ""}},
                          Ladder::Type});
    if (end > token + 1)
        candidates.back().edits.front().span.begin = context.tokens[token].span.end;
    return candidates;
}

} // namespace

std::vector<FixCandidate> functionResultFixes(const RepairContext& context,
                                              const Diagnostic& error) {
    const std::string& message = error.message;
    std::size_t token = context.tokenAt(error.span.begin);
    if (token >= context.tokens.size())
        return {};
    if (message.find("should not return a value") != std::string::npos)
        return withoutValue(context, error);
    bool isUntyped = message.find("type specifier is required") != std::string::npos &&
                     context.tokens[token].kind == TokenKind::Identifier;
    return isUntyped ? withResultType(context, token) : std::vector<FixCandidate>{};
}

} // namespace kernelskill::engine
