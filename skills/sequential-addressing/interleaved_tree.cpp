#include "skills/sequential-addressing/interleaved_tree.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/block_collective.h"
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
    const FunctionBody& body = context.kernel.body;
    const Stmt& stmt = body.stmt(context.kernel.loops[loop].statement);
    const std::uint32_t line = lineNumber(context, stmt.span.begin);
    if (tree->change == StrideChange::Halving)
        return refuse(
            "sequential-already",
            fmt::format("neighbouring threads do the additions of the loop on line {}", line));
    if (!context.file.source->slice(body.expr(stmt.condition).span)
             .starts_with(body.variable(tree->stride).name))
        return refuse("from-macro",
                      fmt::format("the condition on line {} comes out of a macro", line));
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

    /// Replaces it without spaces if the old text has none.
    void replaceAlike(ExprId expr, std::string text) {
        if (!source_.slice(body_.expr(expr).span).contains(' '))
            std::erase(text, ' ');
        replace(expr, std::move(text));
    }

    /// Returns how far the folded elements are apart: "s", or "s / 2" if the stride counts pairs.
    [[nodiscard]] std::string distance() const {
        return tree_.countsPairs ? stride_ + " / 2" : stride_;
    }

    /// Halves the stride in the form that the kernel doubles it in: "s >>= 1" for "s <<= 1".
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

    /// Turns `a[2 * s * tid + s]` into `a[tid + s]`.
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

    /// Whether the index is already the one of a thread's neighbour: `tid + s`.
    [[nodiscard]] bool namesThread(ExprId index) const {
        if (tree_.countsPairs || tree_.endsLast)
            return true;
        return polynomialOf(code_, index) ==
               IndexExpression::symbol({SymbolKind::ThreadIdx, 0}) +
                   IndexExpression::symbol({SymbolKind::Opaque, tree_.stride});
    }

    /// Removes `int index = 2 * s * tid;` if nothing uses it any more.
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
    return chooseTree(context, [&](std::uint32_t loop) { return study(context, loop); });
}

std::vector<TextEdit> sequentialEdits(const SkillContext& context, const TreeReduction& tree) {
    return Writer(context, tree).edits();
}

} // namespace kernelskill::skills
