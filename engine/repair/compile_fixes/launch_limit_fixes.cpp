/// Fixes blocks that exceed every GPU's limit, and __launch_bounds__ that does not fit the launch.
#include "analysis/device_rules/device_rules.h"
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;
using analysis::TokenKind;

constexpr std::string_view attribute = "__launch_bounds__";

/// Changes the first value of __launch_bounds__ in each declaration of the kernel.
std::vector<FixCandidate> withBound(const RepairContext& context, const std::string& kernel,
                                    std::int64_t threads, const char* cause) {
    FixCandidate candidate{cause, fmt::format("set {}({})", attribute, threads), {}};
    for (const FunctionTokens& function : functionsNamed(context, kernel))
        for (std::size_t index = function.head.begin; index + 2 < function.head.end; ++index) {
            if (context.textAt(index) != attribute || context.textAt(index + 1) != "(")
                continue;
            const std::size_t close = analysis::matchingBracket(context.tokens, index + 1);
            const auto values = dividedAtCommas(context, {index + 2, close});
            if (!values.empty())
                candidate.edits.push_back(
                    {spanOf(context, values.front()), std::to_string(threads)});
        }
    if (candidate.edits.empty())
        return {};
    return {std::move(candidate)};
}

std::optional<std::int64_t> numberAt(const RepairContext& context, std::size_t token) {
    const std::string_view text = context.textAt(token);
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isWhole = problem == std::errc() && end == text.data() + text.size();
    return isWhole ? std::optional(value) : std::nullopt;
}

struct NamedNumber {
    Span span; ///< The digits.
    std::int64_t value = 0;
};

/// A unique `constexpr int name = 2048;` or `#define name 2048` in the file.
std::optional<NamedNumber> definitionOf(const RepairContext& context, std::string_view name) {
    std::optional<NamedNumber> found;
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        const analysis::Token& token = context.tokens[index];
        std::optional<NamedNumber> one;
        if (token.kind == TokenKind::Directive) {
            const std::size_t hash = token.text.find('#') + 1;
            const auto words = analysis::lex(token.text.substr(hash));
            if (words.size() != 3 || words[0].text != "define" || words[1].text != name)
                continue;
            const Span inside = words[2].span;
            const auto base = token.span.begin + static_cast<std::uint32_t>(hash);
            one = NamedNumber{{base + inside.begin, base + inside.end}, 0};
            const std::string_view digits = words[2].text;
            std::from_chars(digits.data(), digits.data() + digits.size(), one->value);
        } else if (token.text == name && context.textAt(index + 1) == "=" &&
                   context.textAt(index + 3) == ";") {
            if (const auto value = numberAt(context, index + 2))
                one = NamedNumber{context.tokens[index + 2].span, *value};
        }
        if (one && found)
            return std::nullopt;
        if (one)
            found = one;
    }
    return found;
}

/// The token of each extent of the block; empty if an extent has several tokens.
std::vector<std::size_t> extentTokens(const RepairContext& context, TokenRange block) {
    if (block.end == block.begin + 1 && context.tokens[block.begin].kind == TokenKind::Identifier) {
        // For `dim3 block(TILE, TILE)` and `dim3 block{...}`.
        for (std::size_t index = 1; index + 1 < context.tokens.size(); ++index) {
            const std::string_view open = context.textAt(index + 1);
            if (context.textAt(index - 1) == "dim3" &&
                context.textAt(index) == context.textAt(block.begin) &&
                (open == "(" || open == "{"))
                block = {index, analysis::matchingBracket(context.tokens, index + 1) + 1};
        }
    }
    if (block.end <= block.begin + 2)
        return block.isEmpty() ? std::vector<std::size_t>{} : std::vector{block.begin};
    std::vector<std::size_t> extents;
    for (const TokenRange extent : dividedAtCommas(context, {block.begin + 2, block.end - 1})) {
        if (extent.end != extent.begin + 1)
            return {};
        extents.push_back(extent.begin);
    }
    return extents;
}

/// Halves a constant that the block uses; other uses of it follow.
void addSmallerConstants(const RepairContext& context, const std::vector<std::size_t>& extents,
                         std::vector<FixCandidate>& candidates) {
    std::set<std::string_view> names;
    for (const std::size_t extent : extents)
        if (context.tokens[extent].kind == TokenKind::Identifier)
            names.insert(context.textAt(extent));
    for (const std::string_view name : names) {
        const auto definition = definitionOf(context, name);
        if (!definition || definition->value < 2)
            continue;
        const auto threadsWith = [&](std::int64_t value) -> std::int64_t {
            return std::accumulate(
                extents.begin(), extents.end(), std::int64_t{1},
                [&](std::int64_t product, std::size_t extent) {
                    if (context.textAt(extent) == name)
                        return product * value;
                    const auto other = definitionOf(context, context.textAt(extent));
                    return product * (other ? other->value : numberAt(context, extent).value_or(1));
                });
        };
        std::int64_t value = definition->value;
        while (value > 1 && threadsWith(value) > analysis::maxThreadsPerBlock)
            value /= 2;
        candidates.push_back({"launch-block-size",
                              fmt::format("set {} to {}", name, value),
                              {{definition->span, std::to_string(value)}}});
    }
}

/// For `<<<(n + 2047) / 2048, 2048>>>`: as many threads in smaller blocks.
void addSmallerNumbers(const RepairContext& context, TokenRange configuration, std::size_t extent,
                       std::vector<FixCandidate>& candidates) {
    const auto threads = numberAt(context, extent);
    if (!threads)
        return;
    constexpr std::int64_t most = analysis::maxThreadsPerBlock;
    FixCandidate candidate{
        "launch-block-size", fmt::format("launch blocks of {} threads", most), {}};
    bool isDivided = false;
    for (std::size_t index = configuration.begin; index < configuration.end; ++index) {
        const auto value = numberAt(context, index);
        if (!value || (*value != *threads && *value != *threads - 1))
            continue;
        isDivided |= context.textAt(index - 1) == "/" && *value == *threads;
        candidate.edits.push_back(
            {context.tokens[index].span, std::to_string(*value == *threads ? most : most - 1)});
    }
    // A grid that does not depend on the block would cover less.
    if (isDivided)
        candidates.push_back(std::move(candidate));
}

std::vector<FixCandidate> smallerBlock(const RepairContext& context, const Diagnostic& finding) {
    // The launch to which the finding's block belongs.
    for (std::size_t index = context.tokenAt(finding.span.begin); index-- > 0;) {
        if (context.textAt(index) == ";" || context.textAt(index) == "}")
            break;
        const auto call = context.textAt(index + 1) == "<<<" || context.textAt(index + 1) == "<"
                              ? callAt(context, index)
                              : std::nullopt;
        if (!call || call->configuration.isEmpty())
            continue;
        const TokenRange inside{call->configuration.begin + 1, call->configuration.end - 1};
        const auto parts = dividedAtCommas(context, inside);
        if (parts.size() < 2)
            return {};
        const auto extents = extentTokens(context, parts[1]);
        std::vector<FixCandidate> candidates;
        addSmallerConstants(context, extents, candidates);
        if (extents.size() == 1 && extents.front() == parts[1].begin)
            addSmallerNumbers(context, inside, extents.front(), candidates);
        return candidates;
    }
    return {};
}

/// The maximum number of threads that a launch of the kernel gives a block.
std::int64_t maxThreadsLaunched(const analysis::KernelModel& kernel) {
    std::int64_t most = 0;
    for (const analysis::LaunchSite& site : kernel.launches) {
        std::int64_t threads = 1;
        for (const std::int64_t extent : site.constantBlock)
            threads *= std::max<std::int64_t>(extent, 1);
        most = std::max(most, threads);
    }
    return most;
}

} // namespace

std::vector<FixCandidate> launchLimitFixes(const RepairContext& context,
                                           const Diagnostic& finding) {
    if (finding.code == "launch-block-size")
        return smallerBlock(context, finding);
    if (finding.code == "launch-bounds-size")
        if (const auto* kernel = analysis::kernelAt(context.model, finding.span.begin))
            return withBound(context, kernel->name, analysis::maxThreadsPerBlock,
                             "launch-bounds-size");
    if (finding.code == "launch-exceeds-bounds") {
        const std::string name = quotedName(finding.message).value_or("");
        if (const auto* kernel = analysis::kernelNamed(context.model, name))
            return withBound(context, name, maxThreadsLaunched(*kernel), "launch-exceeds-bounds");
    }
    return {};
}

} // namespace kernelskill::engine
