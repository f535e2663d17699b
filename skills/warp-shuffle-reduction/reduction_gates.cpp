#include "skills/warp-shuffle-reduction/reduction_gates.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::int64_t maxBlock = 1024;

bool isFloating(ScalarKind scalar) {
    return scalar == ScalarKind::Float || scalar == ScalarKind::Double;
}

/// Shuffles move 4 and 8 bytes; narrower elements would be promoted on the way.
bool canShuffle(const Type& type) {
    if (type.isDependent || (type.scalar == ScalarKind::Unknown && type.elementSize == 0))
        return true; // a template's element; the compiler refuses what has no shuffle
    return type.lanes == 1 &&
           (isFloating(type.scalar) || type.scalar == ScalarKind::Int32 ||
            type.scalar == ScalarKind::UInt32 || type.scalar == ScalarKind::Int64 ||
            type.scalar == ScalarKind::UInt64);
}

/// The number that a template argument is, as the front end spells it.
std::optional<std::int64_t> numberIn(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

/// The argument that a launch passes for a parameter of the kernel or of its template.
struct Passed {
    std::optional<std::int64_t> value; ///< Where it is a constant.
    std::string text;                  ///< As written; empty when nothing is passed.
};

class Gates {
public:
    Gates(const SkillContext& context, const CodeMap& code)
        : context_(context), code_(code), body_(code.body()) {}

    /// The tree at the cursor, else the first that fits.
    Gated<TreeReduction> plan() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        std::optional<Refusal> first;
        int firstConcern = 0;
        std::optional<TreeReduction> found;
        for (std::uint32_t i = 0; i < context_.kernel.loops.size(); ++i) {
            const Span span = body_.stmt(context_.kernel.loops[i].statement).span;
            const bool isAtCursor =
                touches(context_.range, span) && !context_.range.contains(context_.kernel.bodySpan);
            auto tree = study(i);
            if (tree && (!found || isAtCursor))
                found = std::move(*tree);
            else if (!tree && (!first || concern(i, tree.error()) > firstConcern)) {
                first = tree.error();
                firstConcern = concern(i, *first);
            }
            if (!tree && isAtCursor && tree.error().gate != "not-a-tree")
                return std::unexpected(tree.error());
        }
        if (found)
            return *found;
        if (first)
            return std::unexpected(*first);
        return refuse("no-loop", fmt::format("{} has no loop", context_.kernel.name));
    }

private:
    /// How likely the refusal of a loop is what its author wants to hear: a tree that fails a gate
    /// before a loop with a barrier that is no tree, before any other loop.
    [[nodiscard]] int concern(std::uint32_t loop, const Refusal& refusal) const {
        if (refusal.gate != "not-a-tree")
            return 2;
        return context_.kernel.loops[loop].hasBarrier ? 1 : 0;
    }

    [[nodiscard]] Gated<TreeReduction> study(std::uint32_t index) const {
        auto tree = recogniseTree(context_, code_, index);
        if (!tree)
            return tree;
        for (const FoldedArray& folded : tree->arrays) {
            const Variable& array = body_.variable(folded.array);
            if (!canShuffle(array.type))
                return refuse(
                    "no-shuffle",
                    fmt::format("there is no shuffle for the elements of {}", array.name));
            KERNELSKILL_CHECK(requireResultOnly(*tree, folded.array));
        }
        KERNELSKILL_CHECK(requireAllThreads(*tree));
        KERNELSKILL_CHECK(requireWholeWarps(*tree));
        return tree;
    }

    [[nodiscard]] const Stmt& loopOf(const TreeReduction& tree) const {
        return body_.stmt(context_.kernel.loops[tree.loop].statement);
    }

    /// After the tree only element 0 holds what it did before; the others must be written before
    /// they are read.
    [[nodiscard]] Gated<void> requireResultOnly(const TreeReduction& tree, VariableId array) const {
        const Stmt& loop = loopOf(tree);
        const StmtId loopId = context_.kernel.loops[tree.loop].statement;
        const std::string& name = body_.variable(array).name;
        std::uint32_t rewrittenFrom = 0xffffffffu;
        for (const StmtId sibling : body_.stmt(loop.parent).children)
            if (body_.stmt(sibling).span.begin > loop.span.end &&
                writesWholeArray(sibling, array, tree))
                rewrittenFrom = std::min(rewrittenFrom, body_.stmt(sibling).span.begin);
        std::uint32_t repeatedFrom =
            0xffffffffu; // an enclosing loop comes back to what stands before
        for (StmtId at = loop.parent; at != noId; at = body_.stmt(at).parent)
            if (body_.stmt(at).kind == StmtKind::For || body_.stmt(at).kind == StmtKind::While ||
                body_.stmt(at).kind == StmtKind::Do)
                repeatedFrom = body_.stmt(at).span.begin;
        bool isRepeatedSafely = repeatedFrom == 0xffffffffu;
        for (const StmtId sibling : body_.stmt(loop.parent).children)
            if (body_.stmt(sibling).span.end < loop.span.begin &&
                writesWholeArray(sibling, array, tree))
                isRepeatedSafely = true;
        if (!isRepeatedSafely)
            return refuse(
                "array-read-after",
                fmt::format("an enclosing loop may read what the tree leaves in {}", name));
        for (const ExprId use : code_.uses(array)) {
            const ExprId element = code_.parent(use);
            const std::uint32_t line = lineNumber(context_, body_.expr(use).span.begin);
            const bool isSubscript = element != noId &&
                                     body_.expr(element).kind == ExprKind::Subscript &&
                                     body_.expr(element).children[0] == use;
            const ExprId above = isSubscript ? code_.parent(element) : noId;
            const bool addressTaken = above != noId && body_.expr(above).kind == ExprKind::Unary &&
                                      body_.expr(above).op == "&";
            if (!isSubscript || addressTaken)
                return refuse("array-escapes",
                              fmt::format("{} is used as a pointer on line {}", name, line));
            if (code_.holds(loopId, use) || body_.expr(use).span.begin < loop.span.begin ||
                body_.expr(use).span.begin >= rewrittenFrom)
                continue;
            if (code_.constantValue(body_.expr(element).children[1]) != 0)
                return refuse(
                    "array-read-after",
                    fmt::format("line {} reads more than {}[0] after the tree", line, name));
        }
        return {};
    }

    /// `a[tid] = ...;` run by every thread.
    [[nodiscard]] bool writesWholeArray(StmtId stmt, VariableId array,
                                        const TreeReduction& tree) const {
        const Stmt& at = body_.stmt(stmt);
        if (at.kind != StmtKind::Expression || at.expr == noId)
            return false;
        const Expr& expr = body_.expr(at.expr);
        if (expr.kind != ExprKind::Binary || expr.op != "=")
            return false;
        const Expr& target = body_.expr(expr.children[0]);
        if (target.kind != ExprKind::Subscript || code_.namedVariable(target.children[0]) != array)
            return false;
        const std::string_view index =
            context_.file.source->slice(body_.expr(target.children[1]).span);
        return index == tree.thread || index == "threadIdx.x";
    }

    /// Every lane must reach the shuffles.
    [[nodiscard]] Gated<void> requireAllThreads(const TreeReduction& tree) const {
        const StmtId loopId = context_.kernel.loops[tree.loop].statement;
        for (const Barrier& barrier : context_.kernel.barriers)
            if (code_.holds(loopId, barrier.call) && barrier.inDivergentBranch)
                return refuse(
                    "divergent-branch",
                    fmt::format("not every thread reaches the barrier on line {}",
                                lineNumber(context_, body_.expr(barrier.call).span.begin)));
        for (const Stmt& stmt : body_.stmts)
            if (stmt.kind == StmtKind::Return && stmt.span.begin < loopOf(tree).span.begin)
                return refuse("early-return",
                              fmt::format("threads that return on line {} are missing "
                                          "from the shuffles",
                                          lineNumber(context_, stmt.span.begin)));
        for (const ExprId use : code_.uses(tree.stride))
            if (!code_.holds(loopId, use))
                return refuse("stride-used-after",
                              fmt::format("{} is used again on line {}",
                                          body_.variable(tree.stride).name,
                                          lineNumber(context_, body_.expr(use).span.begin)));
        return {};
    }

    [[nodiscard]] Gated<void> requireWholeWarps(const TreeReduction& tree) const {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const Extents& block = blocks[i];
            const LaunchSite& launch = context_.kernel.launches[i];
            const std::string place = placeOf(context_, launch);
            if (block[1] != 1 || block[2] != 1)
                return refuse("two-dimensional",
                              fmt::format("the launch on {} has blocks of {} x {} x {} threads",
                                          place, block[0], block[1], block[2]));
            if (block[0] % analysis::warpLanes != 0 || block[0] > maxBlock ||
                !std::has_single_bit(static_cast<std::uint64_t>(block[0])))
                return refuse(
                    "partial-warps",
                    fmt::format("the launch on {} has blocks of {} threads; the tree needs a "
                                "power of two and shuffles a multiple of {}",
                                place, block[0], analysis::warpLanes));
            KERNELSKILL_CHECK(requireExtent(tree.extent, launch, block[0]));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireExtent(const TreeExtent& extent, const LaunchSite& launch,
                                            std::int64_t block) const {
        if (extent.isBlockDim())
            return {};
        const std::string place = placeOf(context_, launch);
        const Passed threads =
            extent.constant ? Passed{extent.constant, ""} : passedFor(extent.variable, launch);
        if (!threads.value)
            return refuse("unknown-extent",
                          fmt::format("the tree spans {} threads, for which the launch on {} "
                                      "passes {}, whose value is not known",
                                      body_.variable(extent.variable).name, place,
                                      threads.text.empty() ? "nothing" : threads.text));
        if (*threads.value != block)
            return refuse("extent-not-block",
                          fmt::format("the tree spans {} threads where the launch on {} has "
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
        if (const auto number = numberIn(text))
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
            value = numberIn(words[2].text);
        }
        return value;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<TreeReduction> findTree(const SkillContext& context, const CodeMap& code) {
    return Gates(context, code).plan();
}

} // namespace kernelskill::skills
