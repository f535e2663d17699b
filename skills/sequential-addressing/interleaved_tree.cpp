#include "skills/sequential-addressing/interleaved_tree.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/tree_result.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

Gated<TreeReduction> study(const SkillContext& context, std::uint32_t loop) {
    auto tree = recogniseTree(context, context.code(), loop);
    if (!tree)
        return tree;
    const Span span = context.kernel.body.stmt(context.kernel.loops[loop].statement).span;
    if (tree->change == StrideChange::Halving)
        return refuse("sequential-already",
                      fmt::format("neighbouring threads do the additions of the loop on line {}",
                                  lineNumber(context, span.begin)));
    const Span condition =
        context.kernel.body
            .expr(context.kernel.body.stmt(context.kernel.loops[loop].statement).condition)
            .span;
    if (!context.file.source->slice(condition).starts_with(
            context.kernel.body.variable(tree->stride).name))
        return refuse("from-macro", fmt::format("the condition on line {} comes out of a macro",
                                                lineNumber(context, span.begin)));
    KERNELSKILL_CHECK(requireResultOnly(context, *tree));
    KERNELSKILL_CHECK(requireOwnStride(context, *tree));
    KERNELSKILL_CHECK(requirePowerOfTwo(context, tree->extent));
    return tree;
}

class Writer {
public:
    Writer(const SkillContext& context, const TreeReduction& tree)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), tree_(tree), stride_(body_.variable(tree.stride).name) {}

    std::vector<TextEdit> edits() {
        const Stmt& loop = body_.stmt(context_.kernel.loops[tree_.loop].statement);
        const Expr& limit = body_.expr(tree_.limit);
        const std::string extent = besideProduct(source_, limit);
        replace(tree_.start, tree_.countsPairs ? std::string(source_.slice(limit.span))
                                               : fmt::format("{} / 2", extent));
        replaceAlike(loop.condition, fmt::format("{} > {}", stride_, tree_.countsPairs ? 1 : 0));
        replaceAlike(tree_.advance, halving());
        replace(body_.stmt(tree_.guard).condition, guard());
        for (const ExprId id : code_.expressionsIn(tree_.guard))
            placeElement(body_.expr(id));
        dropIndices();
        return std::move(edits_);
    }

private:
    void replace(ExprId expr, std::string text) {
        edits_.push_back({body_.expr(expr).span, std::move(text)});
    }

    /// Without spaces where the file has none there.
    void replaceAlike(ExprId expr, std::string text) {
        if (!source_.slice(body_.expr(expr).span).contains(' '))
            std::erase(text, ' ');
        replace(expr, std::move(text));
    }

    /// "s / 2" of a stride that counts pairs.
    [[nodiscard]] std::string distance() const {
        return tree_.countsPairs ? stride_ + " / 2" : stride_;
    }

    /// `s /= 2` in the user's way of doubling.
    [[nodiscard]] std::string halving() const {
        const Expr& advance = body_.expr(tree_.advance);
        if (advance.op == "<<=")
            return fmt::format("{} >>= 1", stride_);
        if (advance.op != "=")
            return fmt::format("{} /= 2", stride_);
        const Expr& value = body_.expr(code_.withoutCasts(advance.children[1]));
        return value.op == "<<" ? fmt::format("{0} = {0} >> 1", stride_)
                                : fmt::format("{0} = {0} / 2", stride_);
    }

    [[nodiscard]] std::string guard() const {
        if (!tree_.endsLast)
            return fmt::format("{} < {}", tree_.thread, distance());
        const Expr& limit = body_.expr(tree_.limit);
        return fmt::format("{} >= {} - {}", tree_.thread, besideComparison(source_, limit),
                           distance());
    }

    /// `a[2 * s * tid + s]` becomes `a[tid + s]`.
    void placeElement(const Expr& element) {
        if (element.kind != ExprKind::Subscript ||
            std::ranges::none_of(tree_.arrays, [&](const FoldedArray& folded) {
                return folded.array == code_.namedVariable(element.children[0]);
            }))
            return;
        const ExprId index = element.children[1];
        const IndexExpression thread = IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
        if (tree_.places.isOwn(index) && polynomialOf(code_, index) != thread)
            replace(index, tree_.thread);
        else if (tree_.places.isOther(index) && !namesThread(index))
            replace(index, fmt::format("{} + {}", tree_.thread, distance()));
    }

    /// It is the thread's index and the stride, and no multiple of both.
    [[nodiscard]] bool namesThread(ExprId index) const {
        if (tree_.countsPairs || tree_.endsLast)
            return true;
        return polynomialOf(code_, index) ==
               IndexExpression::symbol({SymbolKind::ThreadIdx, 0}) +
                   IndexExpression::symbol({SymbolKind::Opaque, tree_.stride});
    }

    /// Takes away `int index = 2 * s * tid;`, which only the step asked for.
    void dropIndices() {
        const SourceLayout layout(source_, context_.kernel);
        for (const StmtId id : code_.statementsOf(context_.kernel.loops[tree_.loop].body)) {
            const Stmt& stmt = body_.stmt(id);
            const bool isFreed =
                stmt.kind == StmtKind::Declaration &&
                std::ranges::all_of(stmt.declared, [&](VariableId variable) {
                    return !code_.uses(variable).empty() &&
                           std::ranges::all_of(code_.uses(variable), [&](ExprId use) {
                               return isReplaced(body_.expr(use).span);
                           });
                });
            if (isFreed)
                edits_.push_back({layout.statementWithLine(stmt.span), ""});
        }
    }

    [[nodiscard]] bool isReplaced(Span span) const {
        return std::ranges::any_of(edits_,
                                   [&](const TextEdit& edit) { return edit.span.contains(span); });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    const TreeReduction& tree_;
    std::string stride_;
    std::vector<TextEdit> edits_;
};

} // namespace

Gated<TreeReduction> findInterleavedTree(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return chooseLoop(
        context, context.code(), [&](std::uint32_t loop) { return study(context, loop); },
        [&](std::uint32_t loop, const Refusal& refusal) {
            if (refusal.gate != "not-a-tree")
                return Likeness::Kind;
            return context.kernel.loops[loop].hasBarrier ? Likeness::Near : Likeness::None;
        });
}

std::vector<TextEdit> sequentialEdits(const SkillContext& context, const TreeReduction& tree) {
    return Writer(context, tree).edits();
}

} // namespace kernelskill::skills
