#include "skills/gates/launch_sites.h"

#include "analysis/queries/launch_values.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Tokens of the statement that ends before `at`: back to the last ';', '{', '}' or directive.
std::size_t statementBegin(const std::vector<Token>& tokens, std::size_t at) {
    while (at > 0) {
        const Token& before = tokens[at - 1];
        if (before.kind == TokenKind::Directive || before.text == ";" || before.text == "{" ||
            before.text == "}")
            return at;
        --at;
    }
    return 0;
}

/// For the kernel's name at `at`: its parameter list if this is `... __global__ ... name(...);`.
std::optional<Span> declaredParameters(const std::vector<Token>& tokens, std::size_t at) {
    if (at + 1 >= tokens.size() || tokens[at + 1].text != "(")
        return std::nullopt;
    const std::size_t close = matchingBracket(tokens, at + 1);
    if (close + 1 >= tokens.size() || tokens[close + 1].text != ";")
        return std::nullopt;
    const std::size_t begin = statementBegin(tokens, at);
    const auto holds = [&](std::string_view word) {
        return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                           tokens.begin() + static_cast<std::ptrdiff_t>(at),
                           [&](const Token& token) { return token.text == word; });
    };
    if (!holds("__global__"))
        return std::nullopt;
    // `template void k<float>(...)` instantiates; it has no parameter list of `template <`.
    if (tokens[begin].text == "template" && tokens[begin + 1].text != "<")
        return std::nullopt;
    return Span{tokens[at + 1].span.end, tokens[close].span.begin};
}

/// A file of the model with its text.
struct NamedSource {
    const std::string& file;
    const SourceText& source;
};

/// The name in `name<...><<<`: a launch whose model is elsewhere, e.g. in another template.
bool isLaunchName(const SkillContext& context, const std::string& file, Span name) {
    return std::ranges::any_of(context.kernel.launches, [&](const LaunchSite& launch) {
        return launch.host < context.file.hostFunctions.size() &&
               context.file.hostFunctions[launch.host].file == file &&
               launch.span.begin <= name.begin && name.end <= launch.configurationSpan.begin;
    });
}

/// Whether `name` in `file` is that of this kernel's definition or of another one.
bool isDefinition(const SkillContext& context, const std::string& file, Span name) {
    return std::ranges::any_of(context.file.kernels, [&](const KernelModel& each) {
        return each.nameSpan == name && each.file == file;
    });
}

/// Whether the kernel's name stands nowhere else in the file, not even in a comment.
bool isOnlyDefinedAndLaunched(const SkillContext& context, const NamedSource& in) {
    return std::ranges::all_of(occurrences(in.source.text(), context.kernel.name), [&](Span name) {
        return (name == context.kernel.nameSpan && in.file == context.kernel.file) ||
               isLaunchName(context, in.file, name);
    });
}

/// Whether the name at `at` is passed to a function of the runtime that sets or tells something
/// about a kernel and does not launch it: `cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1)`.
bool isConfiguredOnly(const std::vector<Token>& tokens, std::size_t at) {
    constexpr std::array<std::string_view, 4> functions{
        "cudaFuncSetCacheConfig", "cudaFuncSetSharedMemConfig", "cudaFuncSetAttribute",
        "cudaFuncGetAttributes"};
    std::size_t depth = 0;
    for (std::size_t i = at; i-- > 1;) {
        const Token& token = tokens[i];
        if (token.is(";") || token.is("{") || token.is("}"))
            return false;
        if (token.is(")"))
            ++depth;
        else if (token.is("(") && depth > 0)
            --depth;
        else if (token.is("(") && tokens[i - 1].isIdentifier())
            return std::ranges::find(functions, tokens[i - 1].text) != functions.end();
    }
    return false;
}

/// The place of a use of the kernel's name that cannot be followed; nullopt if there is none.
std::optional<Span> unfollowedUse(const SkillContext& context, const NamedSource& in,
                                  const std::vector<Token>& tokens) {
    const std::string& wanted = context.kernel.name;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        const bool namedInDirective =
            token.kind == TokenKind::Directive &&
            std::ranges::any_of(lex(token.text, {1, token.span.size()}),
                                [&](const Token& word) { return word.text == wanted; });
        if (!namedInDirective && (token.kind != TokenKind::Identifier || token.text != wanted))
            continue;
        // A member, a local or an overload of the same name is not this kernel.
        const bool isMember = i > 0 && (tokens[i - 1].text == "." || tokens[i - 1].text == "->");
        if (isLaunchName(context, in.file, token.span) || declaredParameters(tokens, i) ||
            isMember || isDefinition(context, in.file, token.span) ||
            (!namedInDirective && isConfiguredOnly(tokens, i)))
            continue;
        return token.span;
    }
    return std::nullopt;
}

/// With the block as written, where its text is known.
std::string describeUnknownBlock(const SkillContext& context, const LaunchSite& launch) {
    const std::string place = placeOf(context, launch);
    const SourceText* source = sourceOf(context.file, launch);
    if (source == nullptr || launch.block == noId || launch.fromMacro)
        return fmt::format("the block of the launch on {} is not a constant", place);
    const Span block = context.file.hostFunctions[launch.host].body.expr(launch.block).span;
    return fmt::format("the block of the launch on {} is {}, which is not a constant there", place,
                       source->slice(block));
}

std::unexpected<Refusal> refuseLaunchedElsewhere(const SkillContext& context) {
    return refuse("launched-elsewhere",
                  fmt::format("{} may also launch {}, and what holds for it there is not known",
                              alsoLaunchedIn(context), context.kernel.name));
}

Gated<void> knownLaunches(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    if (!kernel.alsoLaunchedIn.empty())
        return refuseLaunchedElsewhere(context);
    for (const LaunchSite& launch : kernel.launches)
        if (launch.fromMacro)
            return refuse("launch-from-macro", fmt::format("the launch on {} comes out of a macro",
                                                           placeOf(context, launch)));
    const auto refuseUse = [&](const std::string& place) {
        return refuse("kernel-named-elsewhere",
                      fmt::format("{} is named on {} other than by a launch that can be followed",
                                  kernel.name, place));
    };
    const NamedSource own{context.file.file, *context.file.source};
    if (!isOnlyDefinedAndLaunched(context, own))
        if (const auto use = unfollowedUse(context, own, context.shared().tokens()))
            return refuseUse(fmt::format("line {}", lineNumber(context, use->begin)));
    for (const auto& [file, source] : context.file.otherSources) {
        const NamedSource other{file, *source};
        if (isOnlyDefinedAndLaunched(context, other))
            continue;
        if (const auto use = unfollowedUse(context, other, lex(source->text())))
            return refuseUse(fmt::format("line {} of {}", source->lineColumn(use->begin).line + 1,
                                         std::filesystem::path(file).filename().string()));
    }
    return {};
}

/// The answer of requireKnownLaunches(), as a type of its own to be held by.
struct KnownLaunches {
    Gated<void> gate;
};

} // namespace

Gated<std::vector<Extents>> launchedBlocks(const SkillContext& context) {
    std::vector<Extents> blocks;
    for (const LaunchSite& launch : context.kernel.launches) {
        std::optional<Extents> block;
        if (launch.host < context.file.hostFunctions.size())
            block = constantExtents(context.shared().host(launch.host), launch.block);
        if (!block)
            return refuse("unknown-block", describeUnknownBlock(context, launch));
        blocks.push_back(*block);
    }
    if (!context.kernel.alsoLaunchedIn.empty())
        return refuseLaunchedElsewhere(context);
    if (blocks.empty())
        return refuse("no-launch", fmt::format("no launch of {} in this file says how large its "
                                               "blocks are",
                                               context.kernel.name));
    return blocks;
}

std::optional<std::int64_t> fewestThreads(const SkillContext& context) {
    std::optional<std::int64_t> fewest;
    for (const LaunchSite& launch : context.kernel.launches) {
        if (launch.host >= context.file.hostFunctions.size())
            return std::nullopt;
        const LaunchValues values(context.shared(), launch);
        std::int64_t threads = 1;
        for (const KnownExtents& extents : {values.grid(), values.block()})
            for (const auto extent : extents) {
                constexpr std::int64_t most = std::int64_t{1} << 40;
                if (!extent || *extent < 0 || threads * *extent > most)
                    return std::nullopt;
                threads *= *extent;
            }
        fewest = fewest ? std::min(*fewest, threads) : threads;
    }
    return fewest;
}

std::optional<std::int64_t> fewestKnownBlocks(const SkillContext& context) {
    std::optional<std::int64_t> fewest;
    for (const LaunchSite& launch : context.kernel.launches)
        if (const auto grid = constantExtents(context.shared().host(launch.host), launch.grid))
            fewest = std::min(fewest.value_or(grid->front()), grid->front());
    return fewest;
}

Gated<void> requireKnownLaunches(const SkillContext& context) {
    // Many skills ask, and the answer takes a look at the whole text.
    return context
        .held<KnownLaunches>(nullptr, [&] { return KnownLaunches{knownLaunches(context)}; })
        .gate;
}

Gated<void> requireFollowableLaunches(const SkillContext& context) {
    for (const LaunchSite& launch : context.kernel.launches)
        if (!launch.fromMacro && !isInMainFile(context.file, launch))
            return refuse("launch-in-other-file",
                          fmt::format("{} is launched on {}, which the edit would have to change "
                                      "as well",
                                      context.kernel.name, placeOf(context, launch)));
    return requireKnownLaunches(context);
}

std::optional<std::string> fileThatDeclares(const SkillContext& context) {
    for (const auto& [file, source] : context.file.otherSources) {
        if (occurrences(source->text(), context.kernel.name).empty())
            continue;
        const std::vector<Token> tokens = lex(source->text());
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (tokens[i].text == context.kernel.name && declaredParameters(tokens, i))
                return file;
    }
    return std::nullopt;
}

std::vector<Span> forwardDeclarations(const SkillContext& context) {
    std::vector<Span> declarations;
    if (isOnlyDefinedAndLaunched(context, {context.file.file, *context.file.source}))
        return declarations;
    const std::vector<Token>& tokens = context.shared().tokens();
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (tokens[i].kind == TokenKind::Identifier && tokens[i].text == context.kernel.name)
            if (const auto parameters = declaredParameters(tokens, i))
                declarations.push_back(*parameters);
    return declarations;
}

Gated<void> requireResizableGrids(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    if (!kernel.alsoLaunchedIn.empty())
        return refuseLaunchedElsewhere(context);
    if (kernel.launches.empty())
        return refuse("no-launch", fmt::format("no launch of {} in this file could be given "
                                               "another grid",
                                               kernel.name));
    KERNELSKILL_CHECK(requireFollowableLaunches(context));
    for (const LaunchSite& launch : kernel.launches) {
        const FunctionBody& host = context.file.hostFunctions[launch.host].body;
        const Expr& grid = host.expr(launch.grid);
        const bool isScalar = grid.type.scalar != ScalarKind::Unknown &&
                              grid.type.scalar < ScalarKind::Half && grid.type.pointerDepth == 0;
        const bool isDim3List = grid.kind == ExprKind::InitList && !grid.children.empty();
        const std::uint32_t line = lineNumber(context, launch.span.begin);
        if (grid.fromMacro)
            return refuse(
                "launch-grid",
                fmt::format("the grid of the launch on line {} comes out of a macro", line));
        if (!isScalar && !isDim3Name(grid) && !isDim3List)
            return refuse(
                "launch-grid",
                fmt::format("the grid of the launch on line {} is {}, which is neither a number "
                            "nor a dim3 with its numbers",
                            line, context.file.source->slice(grid.span)));
    }
    return {};
}

bool asksForThreads(const SkillContext& context, std::uint32_t axis) {
    return std::ranges::any_of(context.shared().nest().frames, [&](const NestFrame& frame) {
        const FunctionBody& body = functionOf(context.file, context.kernel, frame).body;
        return std::ranges::any_of(body.exprs, [&](const Expr& expr) {
            return (expr.name == "threadIdx" || expr.name == "blockDim") &&
                   (expr.kind != ExprKind::BuiltinIndex || expr.axis == axis) &&
                   expr.kind != ExprKind::Member;
        });
    });
}

Gated<void> requireNoRedundantThreads(const SkillContext& context) {
    const auto blocks = launchedBlocks(context);
    if (!blocks)
        return {};
    for (const std::uint32_t axis : {1U, 2U})
        for (const Extents& block : *blocks)
            if (block[axis] > 1 && !asksForThreads(context, axis))
                return refuse("redundant-threads",
                              fmt::format("{} does not ask for its threads along {}: the {} of a "
                                          "block that are there do the same work, and may race",
                                          context.kernel.name, axis == 1 ? 'y' : 'z', block[axis]));
    return {};
}

} // namespace kernelskill::skills
