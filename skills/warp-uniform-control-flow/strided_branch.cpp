#include "skills/warp-uniform-control-flow/strided_branch.h"

#include "analysis/model/dependence.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "analysis/queries/value_range.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A stride below it times a thread's index stays far from the end of an int.
constexpr std::int64_t maxStride = 1 << 20;

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    Gated<StridedBranch> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        std::optional<Refusal> first;
        std::optional<StridedBranch> found;
        for (const StmtId id : code_.statementsIn(body_.root)) {
            if (body_.stmt(id).kind != StmtKind::If || body_.stmt(id).condition == noId)
                continue;
            auto branch = readTest(id);
            if (!branch)
                continue;
            const auto kept = requireAll(*branch);
            if (kept && (!found || context_.isCursorAt(body_.stmt(id).span)))
                found = std::move(*branch);
            else if (!kept && !first)
                first = kept.error();
        }
        if (found)
            return *found;
        if (first)
            return std::unexpected(*first);
        return refuse("no-strided-branch",
                      fmt::format("{} has no branch for every m-th thread", kernel_.name));
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] bool isThread(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::BuiltinIndex)
            return expr.name == "threadIdx" && expr.axis == 0;
        return expr.kind == ExprKind::Variable && expr.variable != noId &&
               !code_.isEverWritten(expr.variable) &&
               isIndexType(body_.variable(expr.variable).type) &&
               polynomialOf(code_, id) ==
                   std::optional(IndexExpression::symbol({SymbolKind::ThreadIdx, 0}));
    }

    /// One of the conditions that are joined by && says that a remainder of the thread is zero.
    [[nodiscard]] std::optional<StridedBranch> readTest(StmtId branch) const {
        std::vector<ExprId> conditions{body_.stmt(branch).condition};
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            const Expr& expr = body_.expr(conditions[i]);
            if (expr.kind == ExprKind::Binary && expr.op == "&&") {
                conditions.push_back(expr.children[0]);
                conditions.push_back(expr.children[1]);
                continue;
            }
            ExprId remainder = noId;
            if (expr.kind == ExprKind::Unary && expr.op == "!")
                remainder = expr.children[0];
            else if (expr.kind == ExprKind::Binary && expr.op == "==" &&
                     code_.constantValue(expr.children[1]) == 0)
                remainder = expr.children[0];
            if (remainder == noId || body_.expr(remainder).kind != ExprKind::Binary ||
                !isThread(body_.expr(remainder).children[0]))
                continue;
            const Expr& division = body_.expr(remainder);
            StridedBranch found;
            found.branch = branch;
            found.test = conditions[i];
            found.thread = division.children[0];
            const ExprId right = division.children[1];
            const auto value = code_.constantValue(right);
            if (division.op == "%") {
                found.stride = strideText(right);
                found.constantStride = value;
                if (boundOf(right) == std::nullopt || !isPositive(right))
                    found.stride.clear();
                return found;
            }
            const bool isMask = division.op == "&" && value && *value > 0 &&
                                std::has_single_bit(static_cast<std::uint64_t>(*value + 1));
            if (!isMask)
                continue;
            found.constantStride = *value + 1;
            found.stride = std::to_string(*value + 1);
            return found;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string strideText(ExprId expr) const {
        const Expr& at = body_.expr(expr);
        const std::string text{context_.file.source->slice(at.span)};
        const bool isBare = at.kind != ExprKind::Binary && at.kind != ExprKind::Conditional;
        return isBare || text.starts_with('(') ? text : fmt::format("({})", text);
    }

    [[nodiscard]] const Loop* loopOf(VariableId variable) const {
        const auto loop = std::ranges::find(kernel_.loops, variable, &Loop::inductionVariable);
        return loop == kernel_.loops.end() ? nullptr : &*loop;
    }

    [[nodiscard]] bool isPositive(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (const auto value = code_.constantValue(id))
            return *value > 0;
        if (expr.kind == ExprKind::Cast)
            return isPositive(expr.children[0]);
        if (expr.kind == ExprKind::BuiltinIndex)
            return expr.name == "blockDim" || expr.name == "gridDim";
        if (expr.kind == ExprKind::Binary && (expr.op == "*" || expr.op == "+" || expr.op == "<<"))
            return isPositive(expr.children[0]) && isPositive(expr.children[1]);
        if (expr.kind != ExprKind::Variable || expr.variable == noId)
            return false;
        const Loop* loop = loopOf(expr.variable);
        return loop != nullptr && loop->lowerBound != noId && isPositive(loop->lowerBound) &&
               (loop->stepOperator == "*=" || loop->stepOperator == "<<=" ||
                (loop->step && *loop->step > 0));
    }

    /// No more than that; nullopt when that is not known to be small.
    [[nodiscard]] std::optional<std::int64_t> boundOf(ExprId id) const {
        const auto small = [](std::int64_t value) {
            return value >= 0 && value <= maxStride ? std::optional(value) : std::nullopt;
        };
        const Expr& expr = body_.expr(id);
        if (const auto value = code_.constantValue(id))
            return small(*value);
        if (expr.kind == ExprKind::Cast)
            return boundOf(expr.children[0]);
        if (expr.kind == ExprKind::Variable && expr.variable != noId)
            if (const Loop* loop = loopOf(expr.variable);
                loop != nullptr && loop->upperBound != noId &&
                (loop->comparison == "<" || loop->comparison == "<="))
                return boundOf(loop->upperBound);
        if (expr.kind == ExprKind::Binary && (expr.op == "*" || expr.op == "+")) {
            const auto a = boundOf(expr.children[0]);
            const auto b = boundOf(expr.children[1]);
            if (!a || !b)
                return std::nullopt;
            return small(expr.op == "*" ? *a * *b : *a + *b);
        }
        const auto range = valueRangeOf(context_.kernel, code_, id);
        return range ? small(range->high) : std::nullopt;
    }

    Gated<void> requireAll(StridedBranch& branch) {
        const Stmt& stmt = body_.stmt(branch.branch);
        if (stmt.fromMacro || !isWrittenAs(*context_.file.source, stmt.span, {"if"}) ||
            stmt.init != noId || !stmt.declared.empty() || body_.expr(branch.test).fromMacro)
            return refuse("from-macro",
                          fmt::format("the branch on line {} is not a plain if", line(stmt.span)));
        if (stmt.children.size() != 1)
            return refuse("has-else", fmt::format("the other threads have work of their own on "
                                                  "line {}",
                                                  line(stmt.span)));
        if (branch.stride.empty() || branch.constantStride == 1)
            return refuse("unknown-stride",
                          fmt::format("which threads take the branch on line {} is not known to be "
                                      "a small distance apart",
                                      line(stmt.span)));
        const SourceLayout layout(*context_.file.source, kernel_);
        if (stmt.parent == noId || body_.stmt(stmt.parent).kind != StmtKind::Compound ||
            !layout.startsLine(stmt.span.begin))
            return refuse(
                "several-statements-a-line",
                fmt::format("no statement of its own may stand before line {}", line(stmt.span)));
        KERNELSKILL_CHECK(requireAllThreads(branch));
        KERNELSKILL_CHECK(requireNothingOfOneThread(branch));
        return requireBarriers(branch);
    }

    Gated<void> requireAllThreads(const StridedBranch& branch) {
        for (const Stmt& stmt : body_.stmts)
            if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Goto ||
                stmt.kind == StmtKind::Asm)
                return refuse(
                    "early-exit",
                    fmt::format("a thread that leaves on line {} could not take over work",
                                line(stmt.span)));
        for (StmtId at = body_.stmt(branch.branch).parent; at != noId; at = body_.stmt(at).parent) {
            const Stmt& stmt = body_.stmt(at);
            if (stmt.condition != noId && depends(stmt.condition))
                return refuse("divergent-around",
                              fmt::format("not every thread comes to the branch, see line {}",
                                          line(stmt.span)));
        }
        return {};
    }

    [[nodiscard]] bool depends(ExprId expr) {
        if (!dependence_)
            dependence_.emplace(body_);
        const Dependence found = dependence_->of(expr);
        return found.onThread || found.onData;
    }

    /// The thread that runs the branch for an index must find all that it needs.
    Gated<void> requireNothingOfOneThread(StridedBranch& branch) {
        const Stmt& stmt = body_.stmt(branch.branch);
        const StmtId work = stmt.children[0];
        for (const StmtId id : code_.statementsIn(work)) {
            const StmtKind kind = body_.stmt(id).kind;
            if (kind == StmtKind::Break || kind == StmtKind::Continue || kind == StmtKind::Other)
                return refuse("early-exit",
                              fmt::format("line {} leaves the branch", line(body_.stmt(id).span)));
        }
        std::vector<ExprId> all = code_.expressionsIn(work);
        for (const ExprId id : code_.expressionsBelow(stmt.condition))
            if (!isInTest(branch, id))
                all.push_back(id);
        for (const ExprId id : all) {
            const Expr& expr = body_.expr(id);
            const auto usesValue = [&](std::string_view what) {
                return refuse("uses-thread-value",
                              fmt::format("line {} uses {}, which each thread has for itself",
                                          line(expr.span), what));
            };
            if (isThread(id)) {
                if (expr.fromMacro)
                    return usesValue("a macro of the thread's index");
                branch.threads.push_back(id);
                continue;
            }
            if (expr.kind == ExprKind::BuiltinIndex && expr.name == "threadIdx")
                return usesValue("threadIdx");
            if (expr.kind == ExprKind::Call) {
                const bool isArithmetic = std::ranges::any_of(
                    kernel_.mathCalls, [&](const MathCall& call) { return call.call == id; });
                if (!isArithmetic)
                    return refuse("call-in-branch",
                                  fmt::format("what {} on line {} does is not known", expr.name,
                                              line(expr.span)));
            }
            if (expr.kind == ExprKind::Other)
                return refuse("call-in-branch",
                              fmt::format("what line {} does is not known", line(expr.span)));
            if (expr.kind != ExprKind::Variable || expr.variable == noId)
                continue;
            const Variable& variable = body_.variable(expr.variable);
            const StmtId declaration = code_.declarationOf(expr.variable);
            if (declaration != noId && code_.encloses(work, declaration))
                continue;
            const bool isMemory =
                variable.storage == Storage::Shared || variable.storage == Storage::DynamicShared ||
                variable.storage == Storage::DeviceGlobal || variable.storage == Storage::Constant;
            if (isMemory)
                continue;
            if (variable.storage == Storage::Local &&
                (code_.isWrite(id) || depends(id) || !variable.type.arrayExtents.empty()))
                return usesValue(variable.name);
            if (variable.storage == Storage::Parameter && code_.isEverWritten(expr.variable))
                return usesValue(variable.name);
        }
        return {};
    }

    [[nodiscard]] bool isInTest(const StridedBranch& branch, ExprId id) const {
        for (ExprId at = id; at != noId; at = code_.parent(at))
            if (at == branch.test)
                return true;
        return false;
    }

    [[nodiscard]] bool isBarrier(StmtId stmt) const {
        return body_.stmt(stmt).kind == StmtKind::Expression &&
               std::ranges::any_of(kernel_.barriers, [&](const Barrier& barrier) {
                   return barrier.kind == BarrierKind::SyncThreads &&
                          body_.stmt(stmt).expr == barrier.call;
               });
    }

    /// A value that a thread wrote for itself, another must be allowed to read, and the other way
    /// round.
    [[nodiscard]] Gated<void> requireBarriers(const StridedBranch& branch) const {
        const auto no = [&](std::string_view where) {
            return refuse(
                "no-barrier-around",
                fmt::format("another thread takes over work of the branch on line {}, and "
                            "no barrier stands {} it",
                            line(body_.stmt(branch.branch).span), where));
        };
        if (!isAfterBarrier(branch.branch))
            return no("right before");
        const auto& siblings = body_.stmt(body_.stmt(branch.branch).parent).children;
        const auto at = std::ranges::find(siblings, branch.branch);
        const bool isLast = at + 1 == siblings.end();
        if (isLast ? body_.stmt(branch.branch).parent != body_.root : !isBarrier(*(at + 1)))
            return no("right after");
        return {};
    }

    [[nodiscard]] bool isAfterBarrier(StmtId stmt) const {
        const StmtId parent = body_.stmt(stmt).parent;
        if (parent == noId)
            return false;
        if (body_.stmt(parent).kind != StmtKind::Compound) {
            // The body of a loop comes after what stands before the loop.
            return isLoop(parent) && isAfterBarrier(parent);
        }
        const auto& siblings = body_.stmt(parent).children;
        const auto at = std::ranges::find(siblings, stmt);
        for (auto before = at; before != siblings.begin();) {
            --before;
            if (isBarrier(*before))
                return true;
            if (!onlyDeclares(*before))
                return false;
        }
        const StmtId holder = body_.stmt(parent).parent;
        return holder != noId && isLoop(holder) && !siblings.empty() &&
               isBarrier(siblings.back()) && isAfterBarrier(holder);
    }

    [[nodiscard]] bool isLoop(StmtId stmt) const {
        const StmtKind kind = body_.stmt(stmt).kind;
        return kind == StmtKind::For || kind == StmtKind::While;
    }

    /// A declaration that touches no memory.
    [[nodiscard]] bool onlyDeclares(StmtId stmt) const {
        return body_.stmt(stmt).kind == StmtKind::Declaration &&
               std::ranges::none_of(code_.expressionsIn(stmt), [&](ExprId id) {
                   const ExprKind kind = body_.expr(id).kind;
                   return kind == ExprKind::Subscript || kind == ExprKind::Call ||
                          kind == ExprKind::Other ||
                          (kind == ExprKind::Unary && body_.expr(id).op == "*");
               });
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::optional<DependenceAnalysis> dependence_;
};

} // namespace

Gated<StridedBranch> findStridedBranch(const SkillContext& context, const CodeMap& code) {
    return Finder(context, code).find();
}

} // namespace kernelskill::skills
