#include "skills/warp-shuffle-reduction/reduction_gates.h"

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Gates {
public:
    Gates(const SkillContext& context, const CodeMap& code)
        : context_(context), code_(code), body_(code.body()) {}

    /// The tree at the cursor, else the first that fits.
    Gated<TreeReduction> plan() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        return chooseLoop(
            context_, code_, [&](std::uint32_t loop) { return study(loop); },
            [&](std::uint32_t loop, const Refusal& refusal) {
                if (refusal.gate != "not-a-tree")
                    return Likeness::Kind;
                return context_.kernel.loops[loop].hasBarrier ? Likeness::Near : Likeness::None;
            });
    }

private:
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
        KERNELSKILL_CHECK(
            requireAllThreads(context_, code_, context_.kernel.loops[index].statement));
        KERNELSKILL_CHECK(requireOwnStride(*tree));
        KERNELSKILL_CHECK(requireWholeWarps(context_, tree->extent, WarpCount::PowerOfTwo));
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

    [[nodiscard]] Gated<void> requireOwnStride(const TreeReduction& tree) const {
        const StmtId loopId = context_.kernel.loops[tree.loop].statement;
        for (const ExprId use : code_.uses(tree.stride))
            if (!code_.holds(loopId, use))
                return refuse("stride-used-after",
                              fmt::format("{} is used again on line {}",
                                          body_.variable(tree.stride).name,
                                          lineNumber(context_, body_.expr(use).span.begin)));
        return {};
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
