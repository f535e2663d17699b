/// Launches whose <<<...>>> is not right.
#include "engine/agents/repair/fix_candidate.h"
#include "engine/agents/repair/function_declarations.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;
using analysis::Token;
using analysis::TokenKind;

constexpr int closeLadder = 5;
constexpr int commaLadder = 6;
constexpr std::string_view usualBlock = "256";

/// Tokens [begin, end) of the statement around an error.
struct Statement {
    std::size_t begin = 0;
    std::size_t end = 0;
};

Statement statementAround(const RepairContext& context, std::uint32_t offset) {
    auto ends = [&](std::size_t index) {
        const Token& token = context.tokens[index];
        return token.kind == TokenKind::Directive || token.text == ";" || token.text == "{" ||
               token.text == "}";
    };
    std::size_t begin = std::min(context.tokenAt(offset), context.tokens.size() - 1);
    while (begin > 0 && !ends(begin - 1))
        --begin;
    std::size_t end = begin;
    while (end < context.tokens.size() && !ends(end))
        ++end;
    return {begin, end};
}

/// Adjacent tokens made of `angle`, e.g. "<<" "<": [begin, end).
struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t length = 0; ///< In characters.
};

Run runAt(const RepairContext& context, std::size_t begin, std::size_t limit, char angle) {
    Run run{begin, begin, 0};
    while (run.end < limit) {
        const Token& token = context.tokens[run.end];
        bool isOf = token.text.find_first_not_of(angle) == std::string_view::npos;
        bool isAdjacent =
            run.end == begin || context.tokens[run.end - 1].span.end == token.span.begin;
        if (!isOf || !isAdjacent)
            break;
        run.length += token.text.size();
        ++run.end;
    }
    return run;
}

Span spanOf(const RepairContext& context, const Run& run) {
    return {context.tokens[run.begin].span.begin, context.tokens[run.end - 1].span.end};
}

bool isOperand(const Token& token) {
    return token.kind == TokenKind::Identifier || token.kind == TokenKind::Number ||
           token.text == ")" || token.text == "]";
}

struct Launch {
    Run open;
    std::vector<Run> closes;              ///< Runs of '>' before a '(' outside of brackets.
    std::vector<std::size_t> parentheses; ///< Each '(' outside of brackets.
};

std::optional<Launch> launchIn(const RepairContext& context, Statement statement) {
    auto kernels = kernelNames(context);
    for (std::size_t index = statement.begin; index + 1 < statement.end; ++index) {
        if (!kernels.contains(std::string(context.tokens[index].text)))
            continue;
        Launch launch;
        launch.open = runAt(context, index + 1, statement.end, '<');
        // One '<' alone opens template arguments or compares; two or four are a slip.
        if (launch.open.length < 2)
            continue;
        int depth = 0;
        for (std::size_t next = launch.open.end; next < statement.end; ++next) {
            std::string_view text = context.tokens[next].text;
            if (depth == 0 && text == "(")
                launch.parentheses.push_back(next);
            if (text == "(" || text == "[")
                ++depth;
            else if (text == ")" || text == "]")
                --depth;
            if (depth == 0 && text.starts_with('>')) {
                Run run = runAt(context, next, statement.end, '>');
                if (run.end > next) {
                    if (run.end < statement.end && context.tokens[run.end].text == "(")
                        launch.closes.push_back(run);
                    next = run.end - 1;
                }
            }
        }
        return launch;
    }
    return std::nullopt;
}

void addBrackets(const RepairContext& context, const Launch& launch,
                 std::vector<FixCandidate>& candidates) {
    std::vector<analysis::TextEdit> opening;
    if (launch.open.length != 3)
        opening.push_back({spanOf(context, launch.open), "<<<"});
    if (!launch.closes.empty()) {
        FixCandidate candidate{"launch-syntax", "write the launch as <<<grid, block>>>", opening,
                               0};
        if (launch.closes.back().length != 3)
            candidate.edits.push_back({spanOf(context, launch.closes.back()), ">>>"});
        if (!candidate.edits.empty())
            candidates.push_back(std::move(candidate));
        return;
    }
    for (auto parenthesis = launch.parentheses.rbegin(); parenthesis != launch.parentheses.rend();
         ++parenthesis) {
        std::uint32_t place = context.endOfPrevious(context.tokens[*parenthesis].span.begin);
        FixCandidate candidate =
            insertion("launch-syntax", place, ">>>", "close the launch with >>>", closeLadder);
        candidate.edits.insert(candidate.edits.begin(), opening.begin(), opening.end());
        candidates.push_back(std::move(candidate));
    }
}

void addCommas(const RepairContext& context, const Launch& launch,
               std::vector<FixCandidate>& candidates) {
    if (launch.closes.empty() || launch.open.length != 3 || launch.closes.back().length != 3)
        return;
    int depth = 0;
    for (std::size_t index = launch.open.end; index + 1 < launch.closes.back().begin; ++index) {
        const Token& token = context.tokens[index];
        const Token& next = context.tokens[index + 1];
        depth += token.text == "(" || token.text == "["   ? 1
                 : token.text == ")" || token.text == "]" ? -1
                                                          : 0;
        bool startsOperand = next.kind == TokenKind::Identifier || next.kind == TokenKind::Number ||
                             next.text == "(";
        bool isCall = token.kind == TokenKind::Identifier && next.text == "(";
        if (depth == 0 && isOperand(token) && startsOperand && !isCall)
            candidates.push_back(insertion("launch-syntax", token.span.end, ",",
                                           "insert ',' between grid and block", commaLadder));
    }
}

/// `<<<(n + 255) / 256>>>`: the block is most likely the number the grid divides by.
void addBlock(const RepairContext& context, const Launch& launch,
              std::vector<FixCandidate>& candidates) {
    if (launch.closes.empty())
        return;
    std::string_view block = usualBlock;
    std::size_t close = launch.closes.back().begin;
    if (close >= 2 && context.tokens[close - 2].text == "/" && isOperand(context.tokens[close - 1]))
        block = context.tokens[close - 1].text;
    candidates.push_back(
        insertion("launch-syntax", context.endOfPrevious(context.tokens[close].span.begin),
                  fmt::format(", {}", block), fmt::format("launch blocks of {} threads", block)));
}

/// The configuration of another launch of the same kernel in this file.
std::optional<std::string> configurationElsewhere(const RepairContext& context,
                                                  std::string_view name) {
    for (std::size_t index = 0; index + 1 < context.tokens.size(); ++index) {
        if (context.tokens[index].text != name || context.tokens[index + 1].text != "<<<")
            continue;
        Statement statement = statementAround(context, context.tokens[index].span.begin);
        if (auto launch = launchIn(context, statement); launch && !launch->closes.empty())
            return std::string(
                context.slice({context.tokens[index + 1].span.begin,
                               context.tokens[launch->closes.back().end - 1].span.end}));
    }
    return std::nullopt;
}

/// `saxpy(n, 2.0f, x, y)`: as another launch of it, or one thread for each of the integer argument.
std::vector<FixCandidate> unconfigured(const RepairContext& context, const Diagnostic& error) {
    std::string name = quotedName(error.message).value_or("");
    Statement statement = statementAround(context, error.span.begin);
    for (std::size_t index = statement.begin; index + 1 < statement.end; ++index) {
        if (context.tokens[index].text != name || context.tokens[index + 1].text != "(")
            continue;
        std::string configuration = fmt::format("<<<1, {}>>>", usualBlock);
        const auto* kernel = analysis::kernelNamed(context.model, name);
        std::size_t close = analysis::matchingBracket(context.tokens, index + 1);
        if (auto elsewhere = configurationElsewhere(context, name)) {
            configuration = *elsewhere;
        } else if (kernel != nullptr && close < context.tokens.size()) {
            std::size_t position = 0;
            for (std::size_t argument = index + 2; argument < close; ++argument) {
                bool isAlone =
                    context.tokens[argument].kind == TokenKind::Identifier &&
                    (context.tokens[argument + 1].text == "," || argument + 1 == close) &&
                    (context.tokens[argument - 1].text == "," || argument == index + 2);
                bool isExtent =
                    isAlone && position < kernel->parameters.size() &&
                    kernel->parameters[position].type.pointerDepth == 0 &&
                    kernel->parameters[position].type.scalar >= analysis::ScalarKind::Int32 &&
                    kernel->parameters[position].type.scalar <= analysis::ScalarKind::UInt64;
                if (isExtent) {
                    configuration =
                        fmt::format("<<<({} + 255) / 256, 256>>>", context.tokens[argument].text);
                    break;
                }
                position += context.tokens[argument].text == "," ? 1 : 0;
            }
        }
        return {insertion("missing-launch-configuration", context.tokens[index].span.end,
                          configuration, fmt::format("launch with {}", configuration))};
    }
    return {};
}

} // namespace

std::vector<FixCandidate> launchFixes(const RepairContext& context, const Diagnostic& error) {
    if (context.tokens.empty())
        return {};
    if (error.message.starts_with("call to global function"))
        return unconfigured(context, error);
    auto launch = launchIn(context, statementAround(context, error.span.begin));
    std::vector<FixCandidate> candidates;
    if (!launch)
        return candidates;
    if (error.message.starts_with("too few execution configuration")) {
        addBlock(context, *launch, candidates);
        return candidates;
    }
    addBrackets(context, *launch, candidates);
    addCommas(context, *launch, candidates);
    return candidates;
}

} // namespace kernelskill::engine
