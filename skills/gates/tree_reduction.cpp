#include "skills/gates/tree_reduction.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Longer chains of names than people write; also ends a variable that stands for itself.
constexpr int maxTreeDepth = 8;

/// Says which element a thread folds into its own; the fields of TreeReduction.
struct Distance {
    VariableId stride = noId;
    bool countsPairs = false;
    bool endsLast = false;
};

class Recogniser {
public:
    Recogniser(const SkillContext& context, const CodeMap& code, std::uint32_t index)
        : context_(context), code_(code), body_(code.body()), loop_(context.kernel.loops[index]),
          stmt_(body_.stmt(loop_.statement)) {
        tree_.loop = index;
    }

    Gated<TreeReduction> recognise() {
        if (stmt_.fromMacro ||
            !isWrittenAs(*context_.file.source, stmt_.span, {"for", "while", "do"}))
            return refuse("from-macro",
                          fmt::format("the loop on line {} comes out of a macro", line()));
        KERNELSKILL_CHECK(sortStatements());
        KERNELSKILL_CHECK(recogniseStride());
        KERNELSKILL_CHECK(recogniseGuard());
        tree_.places.isOwn = [&code = code_, own = own_](ExprId index) {
            return polynomialOf(code, index) == own;
        };
        tree_.places.isOther = [&code = code_, own = own_,
                                shape = Distance{tree_.stride, tree_.countsPairs, tree_.endsLast}](
                                   ExprId index) { return isOther(code, shape, own, index); };
        for (const StmtId id : code_.statementsOf(body_.stmt(tree_.guard).children[0]))
            KERNELSKILL_CHECK(recogniseStep(id));
        if (tree_.arrays.empty())
            return refuse("not-a-fold", fmt::format("the step on line {} folds nothing", line()));
        return tree_;
    }

private:
    [[nodiscard]] std::uint32_t line() const { return lineNumber(context_, stmt_.span.begin); }
    [[nodiscard]] std::unexpected<Refusal> notATree(std::string_view why) const {
        return refuse("not-a-tree", fmt::format("the loop on line {} {}", line(), why));
    }

    /// Finds the guard, the barrier and, in a while loop, the change of the stride. Declarations
    /// may stand beside them.
    Gated<void> sortStatements() {
        for (const StmtId id : code_.statementsOf(loop_.body)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.fromMacro)
                return refuse("from-macro", fmt::format("line {} comes out of a macro",
                                                        lineNumber(context_, stmt.span.begin)));
            if (stmt.kind == StmtKind::If && tree_.guard == noId && stmt.children.size() == 1) {
                tree_.guard = id;
                tree_.startsWithBarrier = barriers_ > 0;
            } else if (isBlockBarrier(context_.kernel, id)) {
                ++barriers_;
            } else if (stmt.kind == StmtKind::Expression && tree_.advance == noId &&
                       loop_.kind == LoopKind::While) {
                tree_.advance = stmt.expr;
            } else if (stmt.kind != StmtKind::Null && stmt.kind != StmtKind::Declaration) {
                return notATree("does more than one step of a tree");
            }
        }
        if (tree_.guard == noId || barriers_ != 1)
            return notATree("is not one guarded step and one barrier");
        return {};
    }

    Gated<void> recogniseStride() {
        if (loop_.kind == LoopKind::For)
            tree_.advance = stmt_.increment;
        if (loop_.kind == LoopKind::Do || tree_.advance == noId || stmt_.condition == noId)
            return notATree("has no stride that halves or doubles");
        const auto stride = readPowerStride(code_, tree_.advance, loop_.statement);
        if (!stride)
            return notATree(stride.error());
        tree_.stride = stride->variable;
        tree_.change = stride->change;
        tree_.start = stride->start;
        return tree_.change == StrideChange::Halving ? recogniseHalving(stride->start)
                                                     : recogniseDoubling(stride->start);
    }

    Gated<void> recogniseHalving(ExprId start) {
        const Expr& value = body_.expr(definitionOf(start));
        const bool isHalf = value.kind == ExprKind::Binary &&
                            ((value.op == "/" && code_.constantValue(value.children[1]) == 2) ||
                             (value.op == ">>" && code_.constantValue(value.children[1]) == 1));
        if (const auto constant = code_.constantValue(start))
            setExtent(IndexExpression::constant(*constant * 2));
        else if (!isHalf || !setExtent(polynomialOf(code_, value.children[0])))
            return notATree("does not start at half the block");
        const Expr& condition = body_.expr(code_.withoutCasts(stmt_.condition));
        const bool isBare =
            condition.kind == ExprKind::Variable && condition.variable == tree_.stride;
        if (isBare)
            return {};
        if (condition.kind != ExprKind::Binary || condition.children.size() != 2 ||
            code_.namedVariable(condition.children[0]) != tree_.stride)
            return notATree("does not end with the stride");
        const auto last = code_.constantValue(condition.children[1]);
        const bool endsAtOne = ((condition.op == ">" || condition.op == "!=") && last == 0) ||
                               (condition.op == ">=" && last == 1);
        if (!endsAtOne)
            return refuse(
                "partial-tree",
                fmt::format("the tree on line {} stops before a stride of one; what follows it "
                            "does the rest",
                            line()));
        return {};
    }

    Gated<void> recogniseDoubling(ExprId start) {
        const auto first = code_.constantValue(start);
        if (first != 1 && first != 2)
            return notATree("does not start at a stride of one");
        tree_.countsPairs = first == 2;
        const Expr& condition = body_.expr(stmt_.condition);
        if (condition.kind != ExprKind::Binary ||
            condition.op != (tree_.countsPairs ? "<=" : "<") ||
            code_.namedVariable(condition.children[0]) != tree_.stride ||
            !setExtent(polynomialOf(code_, condition.children[1])))
            return notATree("does not run up to the block's size");
        tree_.limit = condition.children[1];
        return {};
    }

    /// Returns the expression that a name stands for, through locals that never change.
    [[nodiscard]] ExprId definitionOf(ExprId expr) const {
        for (int depth = 0; depth < maxTreeDepth; ++depth) {
            const VariableId name = code_.namedVariable(expr);
            const bool isFixed = name != noId && body_.variable(name).storage == Storage::Local &&
                                 body_.variable(name).init != noId && !code_.isEverWritten(name);
            if (!isFixed)
                break;
            expr = body_.variable(name).init;
        }
        return code_.withoutCasts(expr);
    }

    /// Takes the number of threads: blockDim.x, a constant, or a parameter that never changes, of
    /// the kernel or its template. False if it is none of these.
    bool setExtent(const std::optional<IndexExpression>& threads) {
        if (!threads)
            return false;
        const auto extent = spannedThreads(code_, *threads);
        if (extent)
            tree_.extent = *extent;
        tree_.threads = *threads;
        return extent.has_value();
    }

    [[nodiscard]] bool isThread(ExprId expr) const {
        return polynomialOf(code_, expr) == threadIndex();
    }
    [[nodiscard]] static IndexExpression threadIndex() {
        return IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
    }
    [[nodiscard]] IndexExpression strideSymbol() const {
        return IndexExpression::symbol({SymbolKind::Opaque, tree_.stride});
    }

    Gated<void> recogniseGuard() {
        const Stmt& guard = body_.stmt(tree_.guard);
        const ExprId condition =
            guard.condition == noId ? noId : code_.withoutCasts(guard.condition);
        if (condition == noId)
            return notATree("has a guard that is not understood");
        const Expr& expr = body_.expr(condition);
        const std::uint32_t at = lineNumber(context_, guard.span.begin);
        if (expr.kind == ExprKind::Binary && (expr.op == "&&" || expr.op == "||"))
            return refuse(
                "guarded-tree",
                fmt::format("the guard on line {} leaves more threads out than a tree does", at));
        if (tree_.change == StrideChange::Halving) {
            const bool isLess = expr.kind == ExprKind::Binary && expr.op == "<";
            const bool isGreater = expr.kind == ExprKind::Binary && expr.op == ">";
            if (!isLess && !isGreater)
                return notATree("has a guard that is not `tid < s`");
            const ExprId thread = expr.children[isLess ? 0 : 1];
            if (code_.namedVariable(expr.children[isLess ? 1 : 0]) != tree_.stride)
                return notATree("has a guard that is not `tid < s`");
            if (!isThread(thread))
                return refuse("two-dimensional",
                              fmt::format("the guard on line {} does not compare threadIdx.x", at));
            tree_.thread = context_.file.source->slice(body_.expr(thread).span);
            own_ = threadIndex();
            return {};
        }
        return recogniseDoublingGuard(expr, at);
    }

    /// Reads `tid % (2 * s) == 0`, `(tid + 1) % s == 0` of a stride that counts pairs, or
    /// `index < blockDim.x` with index = 2 * s * tid.
    Gated<void> recogniseDoublingGuard(const Expr& expr, std::uint32_t at) {
        if (expr.kind == ExprKind::Unary && expr.op == "!")
            return recogniseMultiple(body_.expr(code_.withoutCasts(expr.children[0])), at);
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return notATree("has a guard that is not understood");
        if (expr.op == "==" && code_.constantValue(expr.children[1]) == 0)
            return recogniseMultiple(body_.expr(code_.withoutCasts(expr.children[0])), at);
        const IndexExpression twice = IndexExpression::constant(2) * strideSymbol();
        const bool isBelowExtent = !tree_.countsPairs && expr.op == "<" &&
                                   polynomialOf(code_, expr.children[0]) == twice * threadIndex();
        if (!isBelowExtent || polynomialOf(code_, expr.children[1]) != tree_.threads)
            return notATree("has a guard that is not `tid % (2 * s) == 0`");
        tree_.thread = "threadIdx.x";
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            if (variable.init != noId && !code_.isEverWritten(id) && isThread(variable.init) &&
                code_.declarationOf(id) != noId && variable.span.begin < stmt_.span.begin)
                tree_.thread = variable.name;
        }
        own_ = twice * threadIndex();
        return {};
    }

    /// Reads `tid % (2 * s)` or `tid & (2 * s - 1)`, which is 0 for each thread that folds.
    Gated<void> recogniseMultiple(const Expr& rest, std::uint32_t at) {
        if (rest.kind != ExprKind::Binary || rest.children.size() != 2)
            return notATree("has a guard that is not `tid % (2 * s) == 0`");
        const IndexExpression step =
            IndexExpression::constant(tree_.countsPairs ? 1 : 2) * strideSymbol();
        const auto divisor = polynomialOf(code_, rest.children[1]);
        const bool isModulo = rest.op == "%" && divisor == step;
        const bool isMask = rest.op == "&" && divisor == step - IndexExpression::constant(1);
        if (!isModulo && !isMask)
            return notATree("has a guard that is not `tid % (2 * s) == 0`");
        ExprId thread = code_.withoutCasts(rest.children[0]);
        const auto position = polynomialOf(code_, thread);
        tree_.endsLast = position == threadIndex() + IndexExpression::constant(1);
        if (tree_.endsLast && body_.expr(thread).kind == ExprKind::Binary)
            thread = body_.expr(thread).children[isThread(body_.expr(thread).children[0]) ? 0 : 1];
        if (!isThread(thread))
            return refuse("two-dimensional",
                          fmt::format("the guard on line {} does not test threadIdx.x", at));
        tree_.thread = context_.file.source->slice(body_.expr(thread).span);
        own_ = threadIndex();
        return {};
    }

    /// Whether the index is that of the element that a thread folds into its own.
    [[nodiscard]] static bool isOther(const CodeMap& code, const Distance& tree,
                                      const IndexExpression& own, ExprId index) {
        const IndexExpression stride = IndexExpression::symbol({SymbolKind::Opaque, tree.stride});
        if (!tree.countsPairs)
            return polynomialOf(code, index) == (tree.endsLast ? own - stride : own + stride);
        const Expr& sum = code.body().expr(code.withoutCasts(index));
        if (sum.kind != ExprKind::Binary || sum.op != (tree.endsLast ? "-" : "+") ||
            polynomialOf(code, sum.children[0]) != own)
            return false;
        const Expr& half = code.body().expr(code.withoutCasts(sum.children[1]));
        return half.kind == ExprKind::Binary &&
               code.namedVariable(half.children[0]) == tree.stride &&
               ((half.op == "/" && code.constantValue(half.children[1]) == 2) ||
                (half.op == ">>" && code.constantValue(half.children[1]) == 1));
    }

    Gated<void> recogniseStep(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        const std::uint32_t at = lineNumber(context_, stmt.span.begin);
        if (stmt.kind == StmtKind::Null)
            return {};
        auto fold = foldOf(code_, id, tree_.places);
        if (!fold || stmt.fromMacro)
            return refuse("not-a-fold",
                          fmt::format("line {} does not fold a[tid + s] into a[tid] of a "
                                      "one-dimensional shared array",
                                      at));
        const bool isRepeated = std::ranges::any_of(
            tree_.arrays, [&](const FoldedArray& other) { return other.array == fold->array; });
        if (isRepeated)
            return refuse("not-a-fold", fmt::format("line {} folds the same array again", at));
        tree_.arrays.push_back(std::move(*fold));
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Loop& loop_;
    const Stmt& stmt_;
    TreeReduction tree_;
    int barriers_ = 0;
    IndexExpression own_; ///< Index of the element that a thread folds into.
};

} // namespace

Gated<TreeReduction> recogniseTree(const SkillContext& context, const CodeMap& code,
                                   std::uint32_t index) {
    return Recogniser(context, code, index).recognise();
}

Gated<TreeReduction>
chooseTree(const SkillContext& context,
           const std::function<Gated<TreeReduction>(std::uint32_t loop)>& study) {
    KERNELSKILL_CHECK(requireEditable(context));
    return chooseLoop(
        context, context.code(), study, [&](std::uint32_t loop, const Refusal& refusal) {
            if (refusal.gate != "not-a-tree")
                return Likeness::Kind;
            return context.kernel.loops[loop].hasBarrier ? Likeness::Near : Likeness::None;
        });
}

std::string arrayNames(const FunctionBody& body, const TreeReduction& tree) {
    std::string names;
    for (const FoldedArray& folded : tree.arrays)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", body.variable(folded.array).name);
    return names;
}

Numerics numericsOf(const FunctionBody& body, const TreeReduction& tree) {
    const bool isExact = std::ranges::all_of(tree.arrays, [&](const FoldedArray& folded) {
        const ScalarKind scalar = body.variable(folded.array).type.scalar;
        const bool isInteger = scalar >= ScalarKind::Bool && scalar <= ScalarKind::UInt64;
        return isInteger || (folded.fold != FoldKind::Sum && folded.fold != FoldKind::Product);
    });
    return isExact ? Numerics::Exact : Numerics::Reassociates;
}

} // namespace kernelskill::skills
