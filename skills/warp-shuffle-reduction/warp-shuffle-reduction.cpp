#include "skills/warp-shuffle-reduction/warp-shuffle-reduction.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/launch_sites.h"
#include "skills/rewriting/source_layout.h"
#include "skills/warp-shuffle-reduction/tree_reduction.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "warp-shuffle-reduction";
constexpr std::int64_t lanes = 32;
constexpr std::int64_t largestBlock = 1024;

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

/// Value of the tree's extent under the template arguments of a launch.
std::optional<std::int64_t> extentAt(const SkillContext& context, const CodeMap& code,
                                     const TreeReduction& tree, const LaunchSite& launch) {
    if (tree.extentValue)
        return tree.extentValue;
    const std::string& name = code.body().variable(code.namedVariable(tree.extent)).name;
    const auto& parameters = context.kernel.templateParameters;
    const auto found = std::ranges::find(parameters, name, &TemplateParameter::name);
    const auto position = static_cast<std::size_t>(found - parameters.begin());
    if (found == parameters.end() || position >= launch.templateArguments.size())
        return std::nullopt;
    const std::string& text = launch.templateArguments[position];
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

class Planner {
public:
    Planner(const SkillContext& context, const CodeMap& code)
        : context_(context), code_(code), body_(code.body()) {}

    /// The tree at the cursor, else the first that fits.
    std::expected<TreeReduction, Refusal> plan() {
        if (auto editable = requireEditable(context_); !editable)
            return std::unexpected(editable.error());
        std::optional<Refusal> first;
        std::optional<TreeReduction> found;
        for (std::uint32_t i = 0; i < context_.kernel.loops.size(); ++i) {
            const Span span = body_.stmt(context_.kernel.loops[i].statement).span;
            const bool isAtCursor =
                touches(context_.range, span) && !context_.range.contains(context_.kernel.bodySpan);
            auto tree = study(i);
            if (tree && (!found || isAtCursor))
                found = std::move(*tree);
            else if (!tree && (!first || first->gate == "not-a-tree"))
                first = tree.error();
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
    std::expected<TreeReduction, Refusal> study(std::uint32_t index) const {
        auto tree = recogniseTree(context_, code_, index);
        if (!tree)
            return tree;
        for (const FoldedArray& folded : tree->arrays) {
            const Variable& array = body_.variable(folded.array);
            if (!canShuffle(array.type))
                return refuse(
                    "no-shuffle",
                    fmt::format("there is no shuffle for the elements of {}", array.name));
            if (auto reads = requireResultOnly(*tree, folded.array); !reads)
                return std::unexpected(reads.error());
        }
        if (auto uniform = requireAllThreads(*tree); !uniform)
            return std::unexpected(uniform.error());
        if (auto blocks = requireWholeWarps(*tree); !blocks)
            return std::unexpected(blocks.error());
        return tree;
    }

    [[nodiscard]] const Stmt& loopOf(const TreeReduction& tree) const {
        return body_.stmt(context_.kernel.loops[tree.loop].statement);
    }

    /// After the tree only element 0 holds what it did before; the others must be written before
    /// they are read.
    [[nodiscard]] std::expected<void, Refusal> requireResultOnly(const TreeReduction& tree,
                                                                 VariableId array) const {
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
    [[nodiscard]] std::expected<void, Refusal> requireAllThreads(const TreeReduction& tree) const {
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

    [[nodiscard]] std::expected<void, Refusal> requireWholeWarps(const TreeReduction& tree) const {
        const auto blocks = launchedBlocks(context_);
        if (!blocks)
            return std::unexpected(blocks.error());
        if (auto followable = requireFollowableLaunches(context_); !followable)
            return followable;
        for (std::size_t i = 0; i < blocks->size(); ++i) {
            const Extents& block = (*blocks)[i];
            const LaunchSite& launch = context_.kernel.launches[i];
            const std::uint32_t line = lineNumber(context_, launch.span.begin);
            if (block[1] != 1 || block[2] != 1)
                return refuse(
                    "two-dimensional",
                    fmt::format("the launch on line {} has blocks of {} x {} x {} threads", line,
                                block[0], block[1], block[2]));
            if (block[0] % lanes != 0 || block[0] > largestBlock ||
                !std::has_single_bit(static_cast<std::uint64_t>(block[0])))
                return refuse(
                    "partial-warps",
                    fmt::format("the launch on line {} has blocks of {} threads; the tree needs a "
                                "power of two and shuffles a multiple of {}",
                                line, block[0], lanes));
            if (tree.extent == noId)
                continue;
            const auto extent = extentAt(context_, code_, tree, launch);
            if (extent != block[0])
                return refuse(
                    "extent-not-block",
                    fmt::format("the tree does not span the {} threads of the blocks launched on "
                                "line {}",
                                block[0], line));
        }
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

class Rewriter {
public:
    Rewriter(const SkillContext& context, const CodeMap& code, const TreeReduction& tree)
        : context_(context), code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), tree_(tree), offset_(freshName(body_, "offset")) {
        for (const FoldedArray& folded : tree_.arrays) {
            const std::string wanted = valueName(folded.fold);
            std::string name = freshName(body_, wanted);
            for (int number = 2; std::ranges::find(values_, name) != values_.end(); ++number)
                name = freshName(body_, fmt::format("{}{}", wanted, number));
            values_.push_back(std::move(name));
        }
    }

    EditSet edits() {
        const Stmt& loop = body_.stmt(context_.kernel.loops[tree_.loop].statement);
        const std::string indentation = layout_.indentation(loop.span.begin);
        const std::string& thread = tree_.thread;
        const std::string_view brace = values_.size() > 1 ? " {" : "";
        CodeLines lines(layout_, indentation);
        for (const std::string& comment : commentsIn(source_, loop.span))
            lines.add(comment);
        lines.add("// Each warp folds its values in registers, then the first warp folds the "
                  "warps' results.");
        if (tree_.startsWithBarrier)
            lines.add("__syncthreads();");
        for (std::size_t i = 0; i < values_.size(); ++i)
            lines.add(fmt::format("auto {} = {}[{}];", values_[i], array(i), thread));
        addShuffles(lines);
        lines.add("__syncthreads();");
        lines.open(fmt::format("if ({} % {} == 0){}", thread, lanes, brace));
        for (std::size_t i = 0; i < values_.size(); ++i)
            lines.add(fmt::format("{}[{} / {}] = {};", array(i), thread, lanes, values_[i]));
        closeBlock(lines);
        lines.add("__syncthreads();");
        lines.open(fmt::format("if ({} < {}) {{", thread, lanes));
        for (std::size_t i = 0; i < values_.size(); ++i)
            addWarpResult(lines, i);
        addShuffles(lines);
        lines.open(fmt::format("if ({} == 0){}", thread, brace));
        for (std::size_t i = 0; i < values_.size(); ++i)
            lines.add(fmt::format("{}[0] = {};", array(i), values_[i]));
        closeBlock(lines);
        lines.close();
        lines.add("__syncthreads();");

        std::string text = lines.text();
        text.erase(0, indentation.size());
        text.resize(text.size() - layout_.newline().size());
        std::vector<TextEdit> edits{
            {loop.pragma.empty() ? loop.span : Span{pragmaBegin(loop), loop.span.end},
             std::move(text)}};
        if (const auto declaration = strideDeclaration())
            edits.push_back({*declaration, ""});
        return EditSet{{context_.kernel.file, std::move(edits)}};
    }

private:
    static std::string valueName(FoldKind fold) {
        switch (fold) {
        case FoldKind::Sum:
            return "sum";
        case FoldKind::Product:
            return "product";
        case FoldKind::Minimum:
            return "smallest";
        case FoldKind::Maximum:
            return "largest";
        default:
            return "value";
        }
    }

    [[nodiscard]] const std::string& array(std::size_t i) const {
        return body_.variable(tree_.arrays[i].array).name;
    }

    /// A pragma about the loop that goes goes with it.
    [[nodiscard]] std::uint32_t pragmaBegin(const Stmt& loop) const {
        return loop.pragmaSpan.begin +
               static_cast<std::uint32_t>(layout_.indentation(loop.pragmaSpan.begin).size());
    }

    /// Ends a body that has braces only when it holds several statements.
    void closeBlock(CodeLines& lines) const {
        if (values_.size() > 1)
            lines.close();
        else
            lines.leave();
    }

    void addShuffles(CodeLines& lines) const {
        const bool isSingle = values_.size() == 1 && !comparesInPlace(0);
        lines.open(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2){2}", offset_, lanes / 2,
                               isSingle ? "" : " {"));
        for (std::size_t i = 0; i < values_.size(); ++i)
            addShuffle(lines, i);
        if (isSingle)
            lines.leave();
        else
            lines.close();
    }

    [[nodiscard]] bool comparesInPlace(std::size_t i) const {
        const FoldedArray& folded = tree_.arrays[i];
        return folded.function.empty() &&
               (folded.fold == FoldKind::Minimum || folded.fold == FoldKind::Maximum);
    }

    void addShuffle(CodeLines& lines, std::size_t i) const {
        const FoldedArray& folded = tree_.arrays[i];
        const std::string& value = values_[i];
        const std::string other =
            fmt::format("__shfl_down_sync(0xffffffff, {}, {})", value, offset_);
        if (comparesInPlace(i)) {
            const std::string name =
                freshName(body_, fmt::format("other{}", i == 0 ? "" : std::to_string(i + 1)));
            lines.add(fmt::format("const auto {} = {};", name, other));
            lines.open(fmt::format("if ({} {} {})", name,
                                   folded.fold == FoldKind::Maximum ? '>' : '<', value));
            lines.add(fmt::format("{} = {};", value, name));
            lines.leave();
            return;
        }
        switch (folded.fold) {
        case FoldKind::Sum:
            lines.add(fmt::format("{} += {};", value, other));
            return;
        case FoldKind::Product:
            lines.add(fmt::format("{} *= {};", value, other));
            return;
        case FoldKind::BitAnd:
            lines.add(fmt::format("{} &= {};", value, other));
            return;
        case FoldKind::BitOr:
            lines.add(fmt::format("{} |= {};", value, other));
            return;
        case FoldKind::BitXor:
            lines.add(fmt::format("{} ^= {};", value, other));
            return;
        case FoldKind::Minimum:
        case FoldKind::Maximum:
            lines.add(fmt::format("{0} = {1}({0}, {2});", value, folded.function, other));
            return;
        }
    }

    /// What a lane of the first warp starts its second fold with. Where folding a value twice
    /// changes nothing, lanes beyond the number of warps keep what they have.
    void addWarpResult(CodeLines& lines, std::size_t i) const {
        const FoldedArray& folded = tree_.arrays[i];
        const bool needsNeutral = folded.fold == FoldKind::Sum ||
                                  folded.fold == FoldKind::Product ||
                                  folded.fold == FoldKind::BitXor;
        if (needsNeutral) {
            lines.add(fmt::format("{} = {} < blockDim.x / {} ? {}[{}] : {};", values_[i],
                                  tree_.thread, lanes, array(i), tree_.thread, neutral(i)));
            return;
        }
        lines.open(fmt::format("if ({} < blockDim.x / {})", tree_.thread, lanes));
        lines.add(fmt::format("{} = {}[{}];", values_[i], array(i), tree_.thread));
        lines.leave();
    }

    [[nodiscard]] std::string neutral(std::size_t i) const {
        const Type& type = body_.variable(tree_.arrays[i].array).type;
        const int digit = tree_.arrays[i].fold == FoldKind::Product ? 1 : 0;
        if (type.scalar == ScalarKind::Float)
            return fmt::format("{}.0f", digit);
        if (type.scalar == ScalarKind::Double)
            return fmt::format("{}.0", digit);
        if (type.scalar == ScalarKind::Unknown)
            return fmt::format("decltype({})({})", values_[i], digit);
        return std::to_string(digit);
    }

    /// `int i = blockDim.x / 2;` in front of a while loop: the loop was all that used it.
    [[nodiscard]] std::optional<Span> strideDeclaration() const {
        const StmtId id = code_.declarationOf(tree_.stride);
        const Stmt& loop = body_.stmt(context_.kernel.loops[tree_.loop].statement);
        if (id == noId || id == loop.init || body_.stmt(id).declared.size() != 1)
            return std::nullopt;
        return layout_.statementWithLine(body_.stmt(id).span);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const TreeReduction& tree_;
    std::string offset_;
    std::vector<std::string> values_; ///< Names of the registers, one per array.
};

class WarpShuffleReduction final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap code(context.kernel.body);
        const auto tree = Planner(context, code).plan();
        if (!tree)
            return std::unexpected(tree.error());
        std::string names;
        bool isExact = true;
        for (const FoldedArray& folded : tree->arrays) {
            const Variable& array = code.body().variable(folded.array);
            names += fmt::format("{}{}", names.empty() ? "" : ", ", array.name);
            const bool isInteger =
                array.type.scalar >= ScalarKind::Bool && array.type.scalar <= ScalarKind::UInt64;
            isExact =
                isExact &&
                (isInteger || (folded.fold != FoldKind::Sum && folded.fold != FoldKind::Product));
        }
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = code.body().stmt(context.kernel.loops[tree->loop].statement).span;
        offer.title = fmt::format("Reduce {} with warp shuffles", names);
        offer.why =
            fmt::format("the loop on line {} folds {} in shared memory with a barrier each step; "
                        "every launch has whole warps",
                        lineNumber(context, offer.anchor.begin), names);
        offer.numerics = isExact ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const CodeMap code(context.kernel.body);
        const SkillContext atAnchor{context.file, context.kernel, context.features, offer.anchor};
        const auto tree = Planner(atAnchor, code).plan();
        if (!tree)
            return std::unexpected(unsupported(context, tree.error()));
        return Rewriter(context, code, *tree).edits();
    }
};

} // namespace

std::unique_ptr<Skill> makeWarpShuffleReduction() {
    return std::make_unique<WarpShuffleReduction>();
}

} // namespace kernelskill::skills
