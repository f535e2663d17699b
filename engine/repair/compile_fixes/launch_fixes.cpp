/// Fixes launches with a wrong <<<...>>>.
#include "engine/repair/compile_fixes/edit_distance.h"
#include "engine/repair/compile_fixes/fix_candidate.h"
#include "engine/repair/compile_fixes/function_declarations.h"
#include "engine/repair/compile_fixes/function_tokens.h"

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

constexpr std::string_view usualBlock = "256";

/// The tokens [begin, end) of the statement around an error.
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

/// Adjacent tokens made of `angle`, e.g. "<<" "<", as [begin, end).
struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t length = 0; ///< In characters.
};

Run runAt(const RepairContext& context, std::size_t begin, std::size_t limit, char angle) {
    Run run{begin, begin};
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

Span spanOfRun(const RepairContext& context, const Run& run) {
    return {context.tokens[run.begin].span.begin, context.tokens[run.end - 1].span.end};
}

bool isOperand(const Token& token) {
    return token.kind == TokenKind::Identifier || token.kind == TokenKind::Number ||
           token.text == ")" || token.text == "]";
}

struct Launch {
    Run open;
    std::vector<Run> closes;              ///< Runs of '>' before a '(' outside brackets.
    std::vector<std::size_t> parentheses; ///< Each '(' outside brackets.
};

/// The end of the `<...>` at `open` if another '<' follows.
std::optional<std::size_t> templateEnd(const RepairContext& context, std::size_t open,
                                       std::size_t limit) {
    if (open >= limit || context.tokens[open].text != "<")
        return std::nullopt;
    int depth = 0;
    for (std::size_t index = open; index + 1 < limit; ++index) {
        std::string_view text = context.tokens[index].text;
        depth += text == "<" ? 1 : text == ">" ? -1 : 0;
        if (depth == 0 && context.tokens[index + 1].text.starts_with("<"))
            return index + 1;
        if (depth == 0)
            break;
    }
    return std::nullopt;
}

std::optional<Launch> launchIn(const RepairContext& context, Statement statement) {
    auto kernels = kernelNames(context);
    for (std::size_t index = statement.begin; index + 1 < statement.end; ++index) {
        if (!kernels.contains(std::string(context.tokens[index].text)))
            continue;
        Launch launch;
        std::size_t behindName = index + 1;
        // Template arguments come first.
        if (auto end = templateEnd(context, behindName, statement.end))
            behindName = *end;
        launch.open = runAt(context, behindName, statement.end, '<');
        // A single '<' opens template arguments or compares; two or four are a mistake.
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
        opening.push_back({spanOfRun(context, launch.open), "<<<"});
    if (!launch.closes.empty()) {
        FixCandidate candidate{"launch-syntax", "write the launch as <<<grid, block>>>", opening};
        if (launch.closes.back().length != 3)
            candidate.edits.push_back({spanOfRun(context, launch.closes.back()), ">>>"});
        if (!candidate.edits.empty())
            candidates.push_back(std::move(candidate));
        return;
    }
    for (auto parenthesis = launch.parentheses.rbegin(); parenthesis != launch.parentheses.rend();
         ++parenthesis) {
        std::uint32_t place = context.endOfPrevious(context.tokens[*parenthesis].span.begin);
        FixCandidate candidate = insertion("launch-syntax", place, ">>>",
                                           "close the launch with >>>", Ladder::LaunchEnd);
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
                                           "insert ',' between grid and block",
                                           Ladder::LaunchComma));
    }
}

/// Whether a variable's name means a grid: `grid`, `numBlocks`.
bool namesGrid(std::string_view name) {
    const std::string lower = inLowerCase(name);
    return lower.ends_with("blocks") || lower.ends_with("grid") || lower.starts_with("grid");
}

/// Whether a variable's name means a block: `block`, `threadsPerBlock`, `dimBlock`.
bool namesBlock(std::string_view name) {
    const std::string lower = inLowerCase(name);
    return !namesGrid(name) &&
           (lower.find("block") != std::string::npos || lower.find("threads") != std::string::npos);
}

/// For `<<<(n + 255) / 256>>>`: the block is probably the caller's variable for it, or the number
/// that the grid divides by.
void addBlock(const RepairContext& context, const Launch& launch,
              std::vector<FixCandidate>& candidates) {
    if (launch.closes.empty())
        return;
    std::vector<std::string> blocks;
    std::size_t close = launch.closes.back().begin;
    if (close >= 2 && context.tokens[close - 2].text == "/" && isOperand(context.tokens[close - 1]))
        blocks.emplace_back(context.tokens[close - 1].text);
    std::uint32_t offset = context.tokens[launch.open.begin].span.begin;
    if (auto caller = functionAround(context, offset)) {
        auto names = namesBefore(context, *caller, offset);
        std::ranges::reverse(names);
        for (const DeclaredName& name : names)
            if (!name.isPointer && namesBlock(name.name))
                blocks.push_back(name.name);
    }
    blocks.emplace_back(usualBlock);
    std::uint32_t place = context.endOfPrevious(context.tokens[close].span.begin);
    for (const std::string& block : blocks)
        candidates.push_back(insertion("launch-syntax", place, fmt::format(", {}", block),
                                       fmt::format("launch blocks of {} threads", block),
                                       Ladder::LaunchBlock));
}

/// Keeps four arguments: grid, block, shared bytes and stream.
void removeSurplus(const RepairContext& context, const Launch& launch,
                   std::vector<FixCandidate>& candidates) {
    if (launch.closes.empty())
        return;
    const auto parts = dividedAtCommas(context, {launch.open.end, launch.closes.back().begin});
    constexpr std::size_t most = 4;
    if (parts.size() <= most)
        return;
    Span surplus{spanOf(context, parts[most - 1]).end, spanOf(context, parts.back()).end};
    candidates.push_back(
        {"launch-syntax", fmt::format("remove '{}'", context.slice(surplus)), {{surplus, ""}}});
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

/// The variables passed for the kernel's integers.
std::vector<std::string> extentsPassed(const RepairContext& context,
                                       const analysis::KernelModel& kernel, std::size_t open,
                                       std::size_t close) {
    std::vector<std::string> extents;
    const auto arguments = dividedAtCommas(context, {open + 1, close});
    for (std::size_t position = 0; position < std::min(arguments.size(), kernel.parameters.size());
         ++position) {
        const analysis::Type& type = kernel.parameters[position].type;
        bool isInteger = type.pointerDepth == 0 && type.scalar >= analysis::ScalarKind::Int32 &&
                         type.scalar <= analysis::ScalarKind::UInt64;
        TokenRange argument = arguments[position];
        bool isName = argument.end == argument.begin + 1 &&
                      context.tokens[argument.begin].kind == TokenKind::Identifier;
        if (isInteger && isName)
            extents.emplace_back(context.tokens[argument.begin].text);
    }
    return extents;
}

bool usesSecondAxis(const RepairContext& context, std::string_view kernel) {
    for (const FunctionTokens& function : functionsNamed(context, kernel))
        for (std::size_t index = function.body.begin; index + 2 < function.body.end; ++index) {
            bool isIndex = context.tokens[index].text == "threadIdx" ||
                           context.tokens[index].text == "blockIdx";
            if (isIndex && context.tokens[index + 2].text == "y")
                return true;
        }
    return false;
}

/// One thread for each element of one extent, or of the first two.
std::string configurationOf(const std::vector<std::string>& extents, bool isPlane) {
    if (!isPlane || extents.size() < 2)
        return fmt::format("<<<({} + 255) / 256, 256>>>", extents.front());
    return fmt::format("<<<dim3(({} + 15) / 16, ({} + 15) / 16), dim3(16, 16)>>>", extents[0],
                       extents[1]);
}

/// The grid and block from variables of the caller.
std::optional<std::string> configurationOfCaller(const RepairContext& context,
                                                 std::uint32_t offset) {
    auto caller = functionAround(context, offset);
    std::string grid;
    std::string block;
    for (const DeclaredName& name :
         caller ? namesBefore(context, *caller, offset) : std::vector<DeclaredName>{}) {
        if (!name.isPointer && namesGrid(name.name))
            grid = name.name;
        else if (!name.isPointer && namesBlock(name.name))
            block = name.name;
    }
    if (grid.empty() || block.empty())
        return std::nullopt;
    return fmt::format("<<<{}, {}>>>", grid, block);
}

/// For `saxpy(n, 2.0f, x, y)`: takes the configuration of another launch, or the caller's
/// variables, or one thread for each count in an integer argument.
std::vector<FixCandidate> unconfigured(const RepairContext& context, const Diagnostic& error) {
    std::string name = quotedName(error.message).value_or("");
    name = name.substr(0, name.find('<'));
    Statement statement = statementAround(context, error.span.begin);
    for (std::size_t index = statement.begin; index + 1 < statement.end; ++index) {
        auto call = context.textAt(index) == name ? callAt(context, index) : std::nullopt;
        if (!call || !call->configuration.isEmpty())
            continue;
        std::string configuration = fmt::format("<<<1, {}>>>", usualBlock);
        const auto* kernel = analysis::kernelNamed(context.model, name);
        const std::uint32_t place = context.tokens[call->open - 1].span.end;
        if (auto elsewhere = configurationElsewhere(context, name)) {
            configuration = *elsewhere;
        } else if (auto ofCaller = configurationOfCaller(context, place)) {
            configuration = *ofCaller;
        } else if (kernel != nullptr) {
            if (auto extents = extentsPassed(context, *kernel, call->open, call->close);
                !extents.empty())
                configuration = configurationOf(extents, usesSecondAxis(context, name));
        }
        return {insertion("missing-launch-configuration", place, configuration,
                          fmt::format("launch with {}", configuration))};
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
    if (error.message.starts_with("too many execution configuration")) {
        removeSurplus(context, *launch, candidates);
        return candidates;
    }
    addBrackets(context, *launch, candidates);
    addCommas(context, *launch, candidates);
    return candidates;
}

} // namespace kernelskill::engine
