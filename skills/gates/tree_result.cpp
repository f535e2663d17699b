#include "skills/gates/tree_result.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::uint32_t nowhere = 0xffffffffu;

class ResultGates {
public:
    ResultGates(const SkillContext& context, const TreeReduction& tree)
        : context_(context), code_(context.code()), body_(code_.body()), tree_(tree),
          loop_(context.kernel.loops[tree.loop].statement) {}

    [[nodiscard]] Gated<void> requireResultOnly(VariableId array) const {
        const Stmt& loop = body_.stmt(loop_);
        const std::string& name = body_.variable(array).name;
        std::uint32_t rewrittenFrom = nowhere;
        bool isWrittenBefore = false;
        for (const StmtId sibling : body_.stmt(loop.parent).children) {
            const Span span = body_.stmt(sibling).span;
            if (!writesWholeArray(sibling, array))
                continue;
            isWrittenBefore |= span.end < loop.span.begin;
            if (span.begin > loop.span.end)
                rewrittenFrom = std::min(rewrittenFrom, span.begin);
        }
        if (isRepeated() && !isWrittenBefore)
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
            if (code_.holds(loop_, use) || body_.expr(use).span.begin < loop.span.begin ||
                body_.expr(use).span.begin >= rewrittenFrom || isOnOtherPath(use))
                continue;
            if (!isResult(body_.expr(element).children[1]))
                return refuse(
                    "array-read-after",
                    fmt::format("line {} reads more than the {} element of {} after the tree", line,
                                tree_.endsLast ? "last" : "first", name));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireOwnStride() const {
        for (const ExprId use : code_.uses(tree_.stride))
            if (!code_.holds(loop_, use) && !isSetByOtherLoop(use))
                return refuse("stride-used-after",
                              fmt::format("{} is used again on line {}",
                                          body_.variable(tree_.stride).name,
                                          lineNumber(context_, body_.expr(use).span.begin)));
        return {};
    }

private:
    /// Whether a loop encloses the tree, so that code before the tree runs again after it.
    [[nodiscard]] bool isRepeated() const {
        for (StmtId at = body_.stmt(loop_).parent; at != noId; at = body_.stmt(at).parent)
            if (body_.stmt(at).kind == StmtKind::For || body_.stmt(at).kind == StmtKind::While ||
                body_.stmt(at).kind == StmtKind::Do)
                return true;
        return false;
    }

    /// Whether the use is in the branch of an `if` whose other branch holds the tree.
    [[nodiscard]] bool isOnOtherPath(ExprId use) const {
        if (isRepeated())
            return false;
        for (StmtId at = loop_; at != noId; at = body_.stmt(at).parent) {
            const StmtId parent = body_.stmt(at).parent;
            if (parent != noId && body_.stmt(parent).kind == StmtKind::If &&
                std::ranges::any_of(body_.stmt(parent).children, [&](StmtId branch) {
                    return branch != at && code_.holds(branch, use);
                }))
                return true;
        }
        return false;
    }

    [[nodiscard]] static IndexExpression threadIndex() {
        return IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
    }
    /// Returns the index of the element with the result.
    [[nodiscard]] IndexExpression resultIndex() const {
        return tree_.endsLast ? tree_.threads - IndexExpression::constant(1)
                              : IndexExpression::constant(0);
    }

    [[nodiscard]] bool isResult(ExprId index) const {
        const auto position = polynomialOf(code_, index);
        return position == resultIndex() || (position == threadIndex() && isForOneThread(index));
    }

    /// Whether it is under `if (tid == 0)`, or under the same for the last thread if that has the
    /// result.
    [[nodiscard]] bool isForOneThread(ExprId expr) const {
        for (StmtId at = code_.statement(expr); at != noId; at = body_.stmt(at).parent) {
            const StmtId parent = body_.stmt(at).parent;
            if (parent == noId || body_.stmt(parent).kind != StmtKind::If ||
                body_.stmt(parent).condition == noId || body_.stmt(parent).children[0] != at)
                continue;
            const Expr& condition = body_.expr(code_.withoutCasts(body_.stmt(parent).condition));
            if (condition.kind == ExprKind::Binary && condition.op == "==" &&
                polynomialOf(code_, condition.children[0]) == threadIndex() &&
                polynomialOf(code_, condition.children[1]) == resultIndex())
                return true;
        }
        return false;
    }

    /// Whether the statement is `a[tid] = ...;`.
    [[nodiscard]] bool writesWholeArray(StmtId stmt, VariableId array) const {
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
        return index == tree_.thread || index == "threadIdx.x";
    }

    /// Whether the head of another loop around the use sets the stride.
    [[nodiscard]] bool isSetByOtherLoop(ExprId use) const {
        for (StmtId at = code_.statement(use); at != noId; at = body_.stmt(at).parent) {
            if (body_.stmt(at).kind == StmtKind::For && !code_.encloses(at, loop_) &&
                valueSetByHead(code_, at, tree_.stride) != noId)
                return true;
        }
        return false;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const TreeReduction& tree_;
    StmtId loop_;
};

} // namespace

Gated<void> requireResultOnly(const SkillContext& context, const TreeReduction& tree) {
    for (const FoldedArray& folded : tree.arrays)
        KERNELSKILL_CHECK(ResultGates(context, tree).requireResultOnly(folded.array));
    return {};
}

Gated<void> requireOwnStride(const SkillContext& context, const TreeReduction& tree) {
    return ResultGates(context, tree).requireOwnStride();
}

} // namespace kernelskill::skills
