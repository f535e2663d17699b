#include "skills/gates/block_collective.h"

#include "analysis/queries/launch_extents.h"
#include "analysis/source/decimal.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The argument that a launch passes for a parameter of the kernel or of its template.
struct Passed {
    std::optional<std::int64_t> value; ///< If it is a constant.
    std::string text;                  ///< As written; empty when nothing is passed.
};

/// Compares the blocks of all launches with the threads that a loop spans.
class BlockGates {
public:
    BlockGates(const SkillContext& context, const SpannedThreads& span)
        : context_(context), body_(context.kernel.body), span_(span) {}

    [[nodiscard]] Gated<void> requireWholeWarps(WarpCount count) const {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const Extents& block = blocks[i];
            const LaunchSite& launch = context_.kernel.launches[i];
            const std::string place = placeOf(context_, launch);
            KERNELSKILL_CHECK(requireFlat(block, place));
            if (block[0] % warpLanes != 0 || block[0] > maxBlockThreads)
                return refuse("partial-warps",
                              fmt::format("the launch on {} has blocks of {} threads; "
                                          "shuffles need a multiple of {}",
                                          place, block[0], warpLanes));
            if (count == WarpCount::PowerOfTwo &&
                !std::has_single_bit(static_cast<std::uint64_t>(block[0])))
                return refuse("partial-warps",
                              fmt::format("the launch on {} has blocks of {} threads; the "
                                          "tree needs a power of two",
                                          place, block[0]));
            KERNELSKILL_CHECK(requireExtent(launch, block[0]));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requirePowerOfTwo() const {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const LaunchSite& launch = context_.kernel.launches[i];
            const std::string place = placeOf(context_, launch);
            KERNELSKILL_CHECK(requireFlat(blocks[i], place));
            if (!std::has_single_bit(static_cast<std::uint64_t>(blocks[i][0])))
                return refuse("no-power-of-two",
                              fmt::format("the launch on {} has blocks of {} threads; the tree "
                                          "needs a power of two",
                                          place, blocks[i][0]));
            KERNELSKILL_CHECK(requireExtent(launch, blocks[i][0]));
        }
        return {};
    }

private:
    [[nodiscard]] static Gated<void> requireFlat(const Extents& block, const std::string& place) {
        if (block[1] == 1 && block[2] == 1)
            return {};
        return refuse("two-dimensional",
                      fmt::format("the launch on {} has blocks of {} x {} x {} threads", place,
                                  block[0], block[1], block[2]));
    }

    [[nodiscard]] Gated<void> requireExtent(const LaunchSite& launch, std::int64_t block) const {
        if (span_.isBlockDim())
            return {};
        const std::string place = placeOf(context_, launch);
        const Passed threads =
            span_.constant ? Passed{span_.constant, ""} : passedFor(span_.variable, launch);
        if (!threads.value)
            return refuse("unknown-extent",
                          fmt::format("the loop spans {} threads, for which the launch on {} "
                                      "passes {}, whose value is not known",
                                      body_.variable(span_.variable).name, place,
                                      threads.text.empty() ? "nothing" : threads.text));
        if (*threads.value != block)
            return refuse("extent-not-block",
                          fmt::format("the loop spans {} threads where the launch on {} has "
                                      "blocks of {}",
                                      *threads.value, place, block));
        return {};
    }

    [[nodiscard]] Passed passedFor(VariableId variable, const LaunchSite& launch) const {
        const auto& parameters = context_.kernel.parameters;
        const auto parameter = std::ranges::find(parameters, variable, &Parameter::variable);
        if (parameter != parameters.end()) {
            const auto position = static_cast<std::size_t>(parameter - parameters.begin());
            if (position >= launch.arguments.size() || launch.fromMacro)
                return {};
            const CodeMap& host = context_.shared().host(launch.host);
            const SourceText* source = sourceOf(context_.file, launch);
            return {host.constantValue(launch.arguments[position]),
                    std::string(source == nullptr ? std::string_view()
                                                  : source->slice(launch.argumentSpans[position]))};
        }
        const auto& templates = context_.kernel.templateParameters;
        const auto named =
            std::ranges::find(templates, body_.variable(variable).name, &TemplateParameter::name);
        const auto position = static_cast<std::size_t>(named - templates.begin());
        if (position >= launch.templateArguments.size())
            return {};
        const std::string& text = launch.templateArguments[position];
        return {templateConstant(text, launch), text};
    }

    /// A template argument as a number: written as one, as a constant that the host function knows,
    /// or as a macro that is defined once.
    [[nodiscard]] std::optional<std::int64_t> templateConstant(std::string_view text,
                                                               const LaunchSite& launch) const {
        if (const auto number = decimalIn(text))
            return number;
        const CodeMap& host = context_.shared().host(launch.host);
        std::optional<std::int64_t> value;
        for (VariableId id = 0; id < host.body().variables.size(); ++id) {
            const Variable& variable = host.body().variable(id);
            if (variable.name != text)
                continue;
            const auto here = variable.constantValue   ? variable.constantValue
                              : host.isEverWritten(id) ? std::nullopt
                                                       : host.constantValue(variable.init);
            if (value || !here)
                return std::nullopt; // shadowed, or not followed
            value = here;
        }
        if (value || !isInMainFile(context_.file, launch))
            return value;
        return macroConstant(text);
    }

    [[nodiscard]] std::optional<std::int64_t> macroConstant(std::string_view name) const {
        std::optional<std::int64_t> value;
        for (const Token& token : context_.shared().tokens()) {
            if (token.kind != TokenKind::Directive)
                continue;
            const std::vector<Token> words = lex(token.text, {1, token.span.size()});
            if (words.size() < 2 || words[1].text != name)
                continue;
            if (value || words.size() != 3 || words[0].text != "define")
                return std::nullopt;
            value = decimalIn(words[2].text);
        }
        return value;
    }

    const SkillContext& context_;
    const FunctionBody& body_;
    const SpannedThreads& span_;
};

} // namespace

std::optional<SpannedThreads> spannedThreads(const CodeMap& code, const IndexExpression& threads) {
    SpannedThreads span;
    span.constant = threads.asConstant();
    if (span.constant || threads == IndexExpression::symbol({SymbolKind::BlockDim, 0}))
        return span;
    const auto& terms = threads.terms();
    if (terms.size() != 1 || terms.begin()->first.size() != 1 || terms.begin()->second != 1)
        return std::nullopt;
    const Symbol symbol = terms.begin()->first.front();
    const bool isTemplateParameter = symbol.kind == SymbolKind::Opaque &&
                                     code.body().variable(symbol.id).storage == Storage::HostGlobal;
    if (symbol.kind != SymbolKind::Parameter && !isTemplateParameter)
        return std::nullopt;
    span.variable = symbol.id;
    return span;
}

bool canShuffle(const Type& type) {
    if (type.isDependent || (type.scalar == ScalarKind::Unknown && type.elementSize == 0))
        return true; // The compiler refuses instances of a template that have no shuffle.
    return type.lanes == 1 &&
           (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double ||
            type.scalar == ScalarKind::Int32 || type.scalar == ScalarKind::UInt32 ||
            type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64);
}

bool isBlockBarrier(const KernelModel& kernel, StmtId statement) {
    const Stmt& stmt = kernel.body.stmt(statement);
    return stmt.kind == StmtKind::Expression && stmt.expr != noId &&
           std::ranges::any_of(kernel.barriers, [&](const Barrier& barrier) {
               return barrier.call == stmt.expr && (barrier.kind == BarrierKind::SyncThreads ||
                                                    barrier.kind == BarrierKind::GroupSync);
           });
}

Gated<void> requireBarriers(const SkillContext& context) {
    if (!context.kernel.barriers.empty())
        return {};
    return refuse("no-barrier",
                  fmt::format("the threads of a block of {} do not meet", context.kernel.name));
}

Gated<void> requireWholeWarps(const SkillContext& context, const SpannedThreads& span,
                              WarpCount count) {
    return BlockGates(context, span).requireWholeWarps(count);
}

Gated<void> requirePowerOfTwo(const SkillContext& context, const SpannedThreads& span) {
    return BlockGates(context, span).requirePowerOfTwo();
}

Gated<LaneForm> requireLanes(const SkillContext& context) {
    KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
    KERNELSKILL_CHECK(requireKnownLaunches(context));
    auto lanes = LaneForm::AlongX;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Extents& block = blocks[i];
        const std::int64_t threads = block[0] * block[1] * block[2];
        if (threads % warpLanes != 0)
            return refuse("partial-warps",
                          fmt::format("the launch on {} has blocks of {} threads; shuffles need a "
                                      "multiple of {}",
                                      placeOf(context, context.kernel.launches[i]), threads,
                                      warpLanes));
        if (block[0] % warpLanes != 0)
            lanes = std::max(lanes, block[0] * block[1] % warpLanes != 0 ? LaneForm::ThreeAxes
                                                                         : LaneForm::TwoAxes);
    }
    return lanes;
}

Gated<void> requireAllThreads(const SkillContext& context, const CodeMap& code, StmtId loop) {
    const FunctionBody& body = code.body();
    for (const Barrier& barrier : context.kernel.barriers)
        if (code.holds(loop, barrier.call) && barrier.inDivergentBranch)
            return refuse("divergent-branch",
                          fmt::format("not every thread reaches the barrier on line {}",
                                      lineNumber(context, body.expr(barrier.call).span.begin)));
    for (const Stmt& stmt : body.stmts)
        if (stmt.kind == StmtKind::Return && stmt.span.begin < body.stmt(loop).span.begin)
            return refuse("early-return", fmt::format("threads that return on line {} are missing "
                                                      "from the shuffles",
                                                      lineNumber(context, stmt.span.begin)));
    return {};
}

} // namespace kernelskill::skills
