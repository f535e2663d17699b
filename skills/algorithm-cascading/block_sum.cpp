#include "skills/algorithm-cascading/block_sum.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/algorithm-cascading/linear_use.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Finder {
public:
    explicit Finder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    Gated<BlockSum> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        if (const auto loops = findGridStrideLoops(kernel_, code_); !loops.empty())
            return refuse(
                "already-cascaded",
                fmt::format("threads of {} go on to further elements on line {} already",
                            kernel_.name,
                            line(body_.stmt(kernel_.loops[loops[0].loop].statement).span)));
        KERNELSKILL_CHECK(findIndex());
        KERNELSKILL_CHECK(findElement());
        KERNELSKILL_CHECK(requireElementWithoutEffect());
        KERNELSKILL_CHECK(requireExchange());
        KERNELSKILL_CHECK(requireLinearUse(context_, sum_.statement, sum_.variable));
        KERNELSKILL_CHECK(requireResizableGrids(context_));
        return sum_;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// The thread's number in the grid, by which alone the kernel knows of blocks.
    Gated<void> findIndex() {
        for (VariableId id = 0; id < body_.variables.size() && sum_.index == noId; ++id) {
            const Variable& variable = body_.variable(id);
            if (variable.storage == Storage::Local && variable.init != noId &&
                isIndexType(variable.type) && !variable.fromMacro && !code_.isEverWritten(id) &&
                polynomialOf(code_, variable.init) == flatThreadIndex())
                sum_.index = id;
        }
        if (sum_.index == noId)
            return refuse("no-thread-index",
                          fmt::format("{} does not name its threads' index in the grid, "
                                      "blockIdx.x * blockDim.x + threadIdx.x",
                                      kernel_.name));
        KERNELSKILL_CHECK(readDeclaration());
        const Span own = body_.expr(body_.variable(sum_.index).init).span;
        for (const Expr& expr : body_.exprs) {
            const bool isOfGrid = expr.kind == ExprKind::BuiltinIndex &&
                                  (expr.name == "blockIdx" || expr.name == "gridDim");
            if (isOfGrid && !own.contains(expr.span))
                return refuse("counts-blocks",
                              fmt::format("line {} asks which block it is, or how many there are",
                                          line(expr.span)));
            if (expr.kind == ExprKind::BuiltinIndex && expr.axis != 0)
                return refuse("counts-blocks",
                              fmt::format("line {} asks for a further axis", line(expr.span)));
        }
        return {};
    }

    Gated<void> readDeclaration() {
        const Variable& index = body_.variable(sum_.index);
        const SourceLayout layout(*context_.file.source, kernel_);
        const Span span = index.declarationSpan;
        sum_.movesIndex = body_.stmt(code_.declarationOf(sum_.index)).declared.size() == 1 &&
                          layout.startsLine(span.begin) && layout.endsLine(span.end) &&
                          layout.endOfLineTrivia(span.end) == span.end;
        if (sum_.movesIndex || !index.type.isConst)
            return {};
        return refuse("index-declaration", fmt::format("{} on line {} is const and shares its line",
                                                       index.name, line(index.span)));
    }

    Gated<void> findElement() {
        const auto& uses = code_.uses(sum_.index);
        const auto no = [&](std::string_view why) {
            return refuse(
                "element-form",
                fmt::format("{} of {} {}", body_.variable(sum_.index).name, kernel_.name, why));
        };
        if (uses.empty())
            return no("is not used");
        StmtId top = code_.statement(uses.front());
        while (top != noId && body_.stmt(top).parent != body_.root)
            top = body_.stmt(top).parent;
        if (top == noId || body_.stmt(top).fromMacro || !std::ranges::all_of(uses, [&](ExprId use) {
                return code_.holds(top, use) && !body_.expr(use).fromMacro;
            }))
            return no("is used by more than one statement of the kernel's block");
        sum_.statement = top;
        for (const Stmt& stmt : body_.stmts)
            if (stmt.kind == StmtKind::Return)
                return refuse("early-return",
                              fmt::format("threads return on line {}", line(stmt.span)));
        const Stmt& stmt = body_.stmt(top);
        if (stmt.kind == StmtKind::If ? !readGuarded(stmt) : !readChosen(stmt))
            return no("does not decide about one element of the thread, which is zero beyond the "
                      "end");
        const Variable& variable = body_.variable(sum_.variable);
        sum_.scalar = variable.type.scalar;
        const bool isNumber =
            variable.type.lanes == 1 && variable.type.pointerDepth == 0 &&
            !variable.type.isReference && !variable.type.isVolatile &&
            (sum_.scalar == ScalarKind::Float || sum_.scalar == ScalarKind::Double ||
             sum_.scalar == ScalarKind::Int32 || sum_.scalar == ScalarKind::UInt32 ||
             sum_.scalar == ScalarKind::UInt64);
        return isNumber ? Gated<void>{} : no("leads to no number that atomics add");
    }

    [[nodiscard]] bool isZero(ExprId id) const {
        const Expr& expr = body_.expr(code_.withoutCasts(id));
        return (expr.kind == ExprKind::Integer && expr.integer == 0) ||
               (expr.kind == ExprKind::Floating && expr.floating == 0);
    }

    /// `x = i < n ? element : 0;`
    bool readChosen(const Stmt& stmt) {
        ExprId value = noId;
        if (stmt.kind == StmtKind::Declaration && stmt.declared.size() == 1) {
            sum_.variable = stmt.declared.front();
            value = body_.variable(sum_.variable).init;
        } else if (stmt.kind == StmtKind::Expression &&
                   body_.expr(stmt.expr).kind == ExprKind::Binary &&
                   body_.expr(stmt.expr).op == "=") {
            sum_.target = body_.expr(stmt.expr).children[0];
            value = body_.expr(stmt.expr).children[1];
            if (!readTarget())
                return false;
        }
        if (value == noId || body_.expr(code_.withoutCasts(value)).kind != ExprKind::Conditional)
            return false;
        const Expr& choice = body_.expr(code_.withoutCasts(value));
        const auto check = boundsCheck(code_, choice.children[0]);
        if (!check || check->variable != sum_.index || choice.fromMacro ||
            !isUniformInput(code_, check->limit))
            return false;
        sum_.form = ElementForm::Chosen;
        sum_.limit = check->limit;
        sum_.element = choice.children[check->whenTrue ? 1 : 2];
        sum_.zero = choice.children[check->whenTrue ? 2 : 1];
        return isZero(sum_.zero);
    }

    /// A local, or the thread's own element of a shared array.
    bool readTarget() {
        const Expr& target = body_.expr(sum_.target);
        if (target.kind == ExprKind::Variable && target.variable != noId) {
            sum_.variable = target.variable;
            return body_.variable(target.variable).storage == Storage::Local;
        }
        if (target.kind != ExprKind::Subscript ||
            polynomialOf(code_, target.children[1]) !=
                IndexExpression::symbol({SymbolKind::ThreadIdx, 0}))
            return false;
        sum_.variable = code_.namedVariable(target.children[0]);
        return sum_.variable != noId &&
               (body_.variable(sum_.variable).storage == Storage::Shared ||
                body_.variable(sum_.variable).storage == Storage::DynamicShared);
    }

    /// `if (i < n) x = element;` with a local x that is zero before.
    bool readGuarded(const Stmt& stmt) {
        const auto check = boundsCheck(code_, stmt.condition);
        if (stmt.children.size() != 1 || !check || !check->whenTrue ||
            check->variable != sum_.index || !isUniformInput(code_, check->limit))
            return false;
        const auto inner = code_.statementsOf(stmt.children.front());
        if (inner.empty() || body_.stmt(inner.back()).kind != StmtKind::Expression ||
            !std::all_of(inner.begin(), inner.end() - 1,
                         [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Declaration; }))
            return false;
        const Expr& set = body_.expr(body_.stmt(inner.back()).expr);
        if (set.kind != ExprKind::Binary || (set.op != "=" && set.op != "+="))
            return false;
        sum_.form = ElementForm::Guarded;
        sum_.limit = check->limit;
        sum_.target = set.children[0];
        sum_.element = set.children[1];
        const Expr& target = body_.expr(sum_.target);
        if (target.kind != ExprKind::Variable || target.variable == noId)
            return false;
        sum_.variable = target.variable;
        const Variable& variable = body_.variable(target.variable);
        return variable.storage == Storage::Local && variable.init != noId &&
               isZero(variable.init) && code_.uses(target.variable).front() == sum_.target;
    }

    [[nodiscard]] Gated<void> requireElementWithoutEffect() const {
        for (const ExprId id : code_.expressionsIn(sum_.statement)) {
            const Expr& expr = body_.expr(id);
            const bool assigns = (expr.kind == ExprKind::Binary && isAssignment(expr.op) &&
                                  expr.children[0] != sum_.target) ||
                                 (expr.kind == ExprKind::Unary &&
                                  (expr.op.contains("++") || expr.op.contains("--")));
            const bool isAtomic = std::ranges::any_of(
                kernel_.atomics, [&](const Atomic& atomic) { return atomic.call == id; });
            const bool isUnknown =
                expr.kind == ExprKind::Call && !isKnownCall(context_.file, kernel_, expr);
            if (assigns || isAtomic || isUnknown || expr.kind == ExprKind::Other)
                return refuse(
                    "element-effect",
                    fmt::format("line {} does more than to compute an element", line(expr.span)));
        }
        return {};
    }

    /// Threads of a block exchange their values behind it.
    [[nodiscard]] Gated<void> requireExchange() const {
        const std::uint32_t end = body_.stmt(sum_.statement).span.end;
        const auto isBehind = [&](const auto& one) {
            return body_.expr(one.call).span.begin >= end;
        };
        if (std::ranges::any_of(kernel_.barriers, isBehind) ||
            std::ranges::any_of(kernel_.warpOperations, isBehind))
            return {};
        return refuse(
            "no-exchange",
            fmt::format("the threads of a block of {} do not add up their elements", kernel_.name));
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    BlockSum sum_;
};

} // namespace

Gated<BlockSum> findBlockSum(const SkillContext& context) {
    return Finder(context).find();
}

} // namespace kernelskill::skills
