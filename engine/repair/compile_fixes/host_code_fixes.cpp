/// Fixes code that is compiled for the wrong side: threadIdx in host code, host lambdas and
/// constexpr functions in kernels.
#include "engine/repair/compile_fixes/function_declarations.h"
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;

/// Replaces `std::min(a, b)` by CUDA's own min and max.
std::vector<FixCandidate> withoutLibrary(const RepairContext& context, const Diagnostic& finding) {
    const std::size_t last = context.tokenAt(finding.span.end - 1);
    const auto call = callAt(context, last);
    const std::string_view name = context.textAt(last);
    if (!call)
        return {};
    if (name == "min" || name == "max")
        return {{"relaxed-constexpr-flag",
                 fmt::format("use CUDA's '{}'", name),
                 {{{finding.span.begin, context.tokens[last].span.begin}, ""}}}};
    if (name != "clamp" || call->arguments.size() != 3)
        return {};
    const auto argument = [&](std::size_t number) {
        return textOf(context, call->arguments[number]);
    };
    return {{"relaxed-constexpr-flag",
             "use CUDA's 'min' and 'max'",
             {{{finding.span.begin, context.tokens[call->close].span.end},
               fmt::format("min(max({}, {}), {})", argument(0), argument(1), argument(2))}}}};
}

std::vector<FixCandidate> markedConstexpr(const RepairContext& context, const Diagnostic& finding) {
    std::string name = quotedName(finding.message).value_or("");
    if (name.starts_with("std::"))
        return withoutLibrary(context, finding);
    if (const auto colons = name.rfind("::"); colons != std::string::npos)
        name = name.substr(colons + 2);
    return marked(context, name, "__host__ __device__", "relaxed-constexpr-flag");
}

/// The '[' before `token` that opens captures; tokens.size() if there is none.
std::size_t capturesBefore(const RepairContext& context, std::size_t token) {
    for (std::size_t index = std::min(token, context.tokens.size() - 1) + 1; index-- > 0;) {
        if (context.textAt(index) != "[")
            continue;
        const bool isSubscript =
            index > 0 && (context.tokens[index - 1].kind == analysis::TokenKind::Identifier ||
                          context.textAt(index - 1) == ")" || context.textAt(index - 1) == "]");
        if (!isSubscript || context.textAt(index - 1) == "return")
            return index;
    }
    return context.tokens.size();
}

/// Captures by value instead of by reference.
std::vector<analysis::TextEdit> byValue(const RepairContext& context, std::size_t open) {
    std::vector<analysis::TextEdit> edits;
    const std::size_t close = analysis::matchingBracket(context.tokens, open);
    for (std::size_t index = open + 1; index < std::min(close, context.tokens.size()); ++index) {
        if (context.textAt(index) != "&")
            continue;
        const std::string_view next = context.textAt(index + 1);
        edits.push_back({context.tokens[index].span, next == "]" || next == "," ? "=" : ""});
    }
    return edits;
}

std::vector<FixCandidate> markedLambda(const RepairContext& context, const Diagnostic& finding) {
    const std::uint32_t end = finding.span.end;
    FixCandidate plain =
        insertion("lambda-without-device", end, " __device__", "mark the lambda __device__");
    const std::size_t open = capturesBefore(context, context.tokenAt(finding.span.begin));
    if (open >= context.tokens.size())
        return {std::move(plain)};
    FixCandidate copying{"lambda-without-device", "mark the lambda __device__, capture by value",
                         byValue(context, open)};
    if (copying.edits.empty())
        return {std::move(plain)};
    copying.edits.push_back(plain.edits.front());
    return {std::move(plain), std::move(copying)};
}

std::vector<FixCandidate> capturedByValue(const RepairContext& context, const Diagnostic& error) {
    const std::size_t open = capturesBefore(context, context.tokenAt(error.span.begin));
    if (open >= context.tokens.size())
        return {};
    FixCandidate candidate{"captured-reference", "capture by value", byValue(context, open)};
    if (candidate.edits.empty())
        return {};
    return {std::move(candidate)};
}

/// The block or grid of the function's first launch, as the launch spells it.
std::optional<TokenRange> launchExtent(const RepairContext& context, const FunctionTokens& function,
                                       std::size_t number) {
    for (std::size_t index = function.body.begin; index < function.body.end; ++index) {
        const auto call =
            context.textAt(index + 1).starts_with("<") ? callAt(context, index) : std::nullopt;
        if (!call || call->configuration.isEmpty())
            continue;
        const auto parts =
            dividedAtCommas(context, {call->configuration.begin + 1, call->configuration.end - 1});
        if (number < parts.size())
            return parts[number];
    }
    return std::nullopt;
}

/// For `blockDim.x` in the function that launches: takes the block's variable or number.
void addExtents(const RepairContext& context, const FunctionTokens& function, std::size_t token,
                std::vector<FixCandidate>& candidates) {
    const std::string_view name = context.textAt(token);
    if ((name != "blockDim" && name != "gridDim") || context.textAt(token + 1) != ".")
        return;
    const auto extent = launchExtent(context, function, name == "blockDim" ? 1 : 0);
    if (!extent)
        return;
    const std::string_view text = textOf(context, *extent);
    const bool isOneToken = extent->end == extent->begin + 1;
    const auto propose = [&](Span span, std::string replacement) {
        std::string title = fmt::format("use '{}', as the kernel is launched", replacement);
        candidates.push_back(
            {"index-in-host-code", std::move(title), {{span, std::move(replacement)}}});
    };
    const bool isVariable =
        isOneToken && context.tokens[extent->begin].kind == analysis::TokenKind::Identifier;
    if (isVariable)
        propose(context.tokens[token].span, std::string(text));
    if (context.textAt(token + 2) == "x")
        propose(spanOf(context, {token, token + 3}),
                isOneToken ? std::string(text) : fmt::format("({})", text));
}

/// Marks the function as device code, or replaces the name by the launch's value.
std::vector<FixCandidate> indexFixes(const RepairContext& context, const Diagnostic& finding) {
    const auto function = functionAround(context, finding.span.begin);
    if (!function)
        return {};
    std::vector<FixCandidate> candidates;
    addExtents(context, *function, context.tokenAt(finding.span.begin), candidates);
    const std::string name(context.textAt(function->name));
    if (name == "main" || launchExtent(context, *function, 0))
        return candidates;
    const bool isCalled = std::ranges::count(context.tokens, name, &analysis::Token::text) > 1;
    const bool isVoid = function->name > 0 && context.textAt(function->name - 1) == "void";
    if (isVoid && !isCalled)
        std::ranges::move(marked(context, name, "__global__", "index-in-host-code"),
                          std::back_inserter(candidates));
    std::ranges::move(marked(context, name, "__device__", "index-in-host-code"),
                      std::back_inserter(candidates));
    return candidates;
}

} // namespace

std::vector<FixCandidate> hostCodeFixes(const RepairContext& context, const Diagnostic& error) {
    if (says(error, "capture host variable") && says(error, "by reference"))
        return capturedByValue(context, error);
    if (error.code == "relaxed-constexpr-flag")
        return markedConstexpr(context, error);
    if (error.code == "lambda-without-device")
        return markedLambda(context, error);
    if (error.code == "index-in-host-code")
        return indexFixes(context, error);
    return {};
}

} // namespace kernelskill::engine
