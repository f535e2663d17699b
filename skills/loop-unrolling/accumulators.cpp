#include "skills/loop-unrolling/accumulators.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isFloatingScalar(const Type& type) {
    return (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double) &&
           type.lanes == 1 && type.pointerDepth == 0 && type.arrayExtents.empty() &&
           !type.isReference && !type.isVolatile;
}

std::optional<Reduction> reductionOf(std::string_view function) {
    for (const std::string_view name : {"fmaxf", "fmax", "max"})
        if (function == name)
            return Reduction::Maximum;
    for (const std::string_view name : {"fminf", "fmin", "min"})
        if (function == name)
            return Reduction::Minimum;
    return std::nullopt;
}

bool isFusedMultiplyAdd(std::string_view function) {
    return function == "fmaf" || function == "fma" || function == "__fmaf_rn";
}

/// `acc` in `a op b`, where exactly one side is the accumulator.
bool isOneSide(const CodeMap& code, const Expr& expr, VariableId variable) {
    return expr.children.size() == 2 && (code.namedVariable(expr.children[0]) == variable) !=
                                            (code.namedVariable(expr.children[1]) == variable);
}

/// The operand that `assignment` folds into the variable on its left.
std::optional<Accumulator> foldOf(const CodeMap& code, const Expr& assignment) {
    const VariableId variable = code.body().expr(assignment.children[0]).variable;
    if (assignment.op == "+=" || assignment.op == "-=")
        return Accumulator{variable, Reduction::Sum, {}};
    if (assignment.op == "*=")
        return Accumulator{variable, Reduction::Product, {}};
    if (assignment.op != "=")
        return std::nullopt;
    const Expr& value = code.body().expr(code.withoutCasts(assignment.children[1]));
    if (value.kind == ExprKind::Binary && value.op == "+" && isOneSide(code, value, variable))
        return Accumulator{variable, Reduction::Sum, {}};
    if (value.kind == ExprKind::Binary && value.op == "-" &&
        code.namedVariable(value.children[0]) == variable)
        return Accumulator{variable, Reduction::Sum, {}};
    if (value.kind == ExprKind::Binary && value.op == "*" && isOneSide(code, value, variable))
        return Accumulator{variable, Reduction::Product, {}};
    if (value.kind != ExprKind::Call || value.isMethod)
        return std::nullopt;
    if (isFusedMultiplyAdd(value.name) && value.children.size() == 3 &&
        code.namedVariable(value.children[2]) == variable)
        return Accumulator{variable, Reduction::Sum, {}};
    const auto reduction = reductionOf(value.name);
    if (reduction && isOneSide(code, value, variable))
        return Accumulator{variable, *reduction, value.name};
    return std::nullopt;
}

/// How often `foldOf` lets the statement name the accumulator: itself, and once on the right of a
/// plain '='.
std::size_t namesInFold(const Expr& assignment) {
    return assignment.op == "=" ? 2 : 1;
}

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code, const Loop& loop)
        : context_(context), code_(code), loop_(loop), body_(code.body()) {}

    Gated<std::vector<Accumulator>> find() {
        KERNELSKILL_CHECK(requireShape());
        for (const StmtId id : code_.statementsIn(loop_.body))
            KERNELSKILL_CHECK(requireAllowed(body_.stmt(id)));
        for (const ExprId id : code_.expressionsIn(loop_.body))
            KERNELSKILL_CHECK(visit(id));
        if (accumulators_.empty())
            return refuse("no-accumulator",
                          fmt::format("the loop on line {} folds nothing into a float or double",
                                      line(loop_.statement)));
        for (std::size_t i = 0; i < accumulators_.size(); ++i) {
            const VariableId variable = accumulators_[i].variable;
            const auto inLoop = static_cast<std::size_t>(
                std::ranges::count_if(code_.uses(variable), [&](ExprId use) {
                    return code_.holds(loop_.statement, use);
                }));
            if (inLoop != names_[i])
                return refuse("uses-accumulator-in-loop",
                              fmt::format("the loop on line {} also reads {}",
                                          line(loop_.statement), body_.variable(variable).name));
        }
        return accumulators_;
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    [[nodiscard]] Gated<void> requireShape() const {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const auto no = [&](std::string_view why) {
            return refuse("not-counted-up",
                          fmt::format("the loop on line {} {}", line(loop_.statement), why));
        };
        if (loop_.kind != LoopKind::For || loop_.inductionVariable == noId || stmt.init == noId ||
            stmt.condition == noId || stmt.increment == noId)
            return no("is not a counted for loop");
        if (stmt.parent == noId || body_.stmt(stmt.parent).kind != StmtKind::Compound)
            return no("is the only statement of another one");
        const Expr& condition = body_.expr(stmt.condition);
        if (condition.kind != ExprKind::Binary || condition.op != "<" ||
            code_.namedVariable(condition.children[0]) != loop_.inductionVariable)
            return no("does not run while its index is below a limit");
        if (!isIndexType(body_.variable(loop_.inductionVariable).type))
            return no("does not count in an int or a wider integer");
        if (!isStride())
            return no("does not advance by the same amount each round");
        if (!isInvariant(condition.children[1]))
            return no("has a limit that may change while it runs");
        const bool declares = body_.stmt(stmt.init).kind == StmtKind::Declaration;
        if (declares && (body_.stmt(stmt.init).declared.size() != 1 ||
                         body_.variable(loop_.inductionVariable).init == noId))
            return no("declares more than its index");
        for (const ExprId use : code_.uses(loop_.inductionVariable)) {
            const bool inBody = code_.holds(loop_.body, use);
            if (inBody && (code_.isWrite(use) || body_.expr(use).fromMacro))
                return no(code_.isWrite(use) ? "changes its index" : "names its index in a macro");
        }
        return {};
    }

    /// `++i`, `i += c`, or `i += blockDim.x`: a positive amount that cannot wrap when multiplied by
    /// the factor.
    [[nodiscard]] bool isStride() const {
        if (loop_.step)
            return *loop_.step > 0 && *loop_.step < (1 << 20);
        const Expr& increment = body_.expr(body_.stmt(loop_.statement).increment);
        if (increment.kind != ExprKind::Binary || increment.op != "+=")
            return false;
        return std::ranges::all_of(code_.expressionsBelow(increment.children[1]), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return (expr.kind == ExprKind::BuiltinIndex && expr.name == "blockDim") ||
                   (expr.kind == ExprKind::Cast) ||
                   (expr.kind == ExprKind::Integer && expr.integer > 0 && expr.integer <= 1024) ||
                   (expr.kind == ExprKind::Binary && expr.op == "*");
        });
    }

    /// Nothing the limit reads is written in the loop. The loop stores nothing to memory, see
    /// visit().
    [[nodiscard]] bool isInvariant(ExprId limit) const {
        return std::ranges::all_of(code_.expressionsBelow(limit), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Call || expr.kind == ExprKind::Other ||
                expr.type.isVolatile || (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                expr.op.contains("++") || expr.op.contains("--"))
                return false;
            if (expr.kind != ExprKind::Variable)
                return true;
            return expr.variable != noId &&
                   std::ranges::none_of(code_.uses(expr.variable), [&](ExprId use) {
                       return code_.holds(loop_.statement, use) && code_.isWrite(use);
                   });
        });
    }

    [[nodiscard]] Gated<void> requireAllowed(const Stmt& stmt) const {
        const std::uint32_t at = lineNumber(context_, stmt.span.begin);
        switch (stmt.kind) {
        case StmtKind::Compound:
        case StmtKind::Declaration:
        case StmtKind::Expression:
        case StmtKind::If:
        case StmtKind::Null:
            if (stmt.fromMacro)
                return refuse("from-macro", fmt::format("line {} comes out of a macro", at));
            return {};
        case StmtKind::For:
        case StmtKind::While:
        case StmtKind::Do:
        case StmtKind::RangeFor:
            return refuse("not-innermost", fmt::format("another loop is inside, on line {}", at));
        default:
            return refuse("early-exit", fmt::format("line {} leaves the round early", at));
        }
    }

    Gated<void> visit(ExprId id) {
        const Expr& expr = body_.expr(id);
        const std::uint32_t at = lineNumber(context_, expr.span.begin);
        if (expr.kind == ExprKind::Call && changesState(expr))
            return refuse("call-in-loop",
                          fmt::format("what {} on line {} changes is not known", expr.name, at));
        const bool assigns = expr.kind == ExprKind::Binary && isAssignment(expr.op);
        const bool steps =
            expr.kind == ExprKind::Unary && (expr.op.contains("++") || expr.op.contains("--"));
        if (!assigns && !steps)
            return {};
        const Expr& target = body_.expr(expr.children[0]);
        if (target.kind != ExprKind::Variable || target.variable == noId)
            return refuse("writes-memory-in-loop",
                          fmt::format("line {} writes more than a local variable", at));
        const StmtId declaration = code_.declarationOf(target.variable);
        if (declaration != noId && code_.encloses(loop_.body, declaration))
            return {};
        const Variable& variable = body_.variable(target.variable);
        if (!isFloatingScalar(variable.type) || variable.storage != Storage::Local || steps ||
            expr.fromMacro)
            return refuse(
                "no-accumulator",
                fmt::format("line {} carries {} from round to round, and it is no float or "
                            "double accumulator",
                            at, variable.name));
        const auto fold = foldOf(code_, expr);
        if (!fold)
            return refuse("no-accumulator",
                          fmt::format("line {} does not fold a value into {}", at, variable.name));
        const auto known = std::ranges::find(accumulators_, fold->variable, &Accumulator::variable);
        if (known == accumulators_.end()) {
            accumulators_.push_back(*fold);
            names_.push_back(namesInFold(expr));
        } else if (known->reduction != fold->reduction) {
            return refuse("no-accumulator",
                          fmt::format("line {} folds into {} in another way", at, variable.name));
        } else {
            names_[static_cast<std::size_t>(known - accumulators_.begin())] += namesInFold(expr);
        }
        return {};
    }

    /// Barriers, atomics, stores, and functions whose body may write.
    [[nodiscard]] bool changesState(const Expr& call) const {
        if (call.isMethod || call.name.starts_with("atomic") || call.name.starts_with("__st") ||
            call.name.starts_with("__sync") || call.name.contains("_sync") ||
            call.name == "printf" || call.name.starts_with("cg::") || call.name.contains("curand"))
            return true;
        const auto callee =
            std::ranges::find(context_.file.deviceFunctions, call.name, &KernelModel::name);
        if (callee == context_.file.deviceFunctions.end())
            return call.name.starts_with("asm");
        return !callee->barriers.empty() || !callee->warpOperations.empty() ||
               !callee->atomics.empty() || !callee->calls.empty() ||
               std::ranges::any_of(callee->parameters, [](const Parameter& parameter) {
                   return parameter.isWritten || parameter.escapes;
               });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const Loop& loop_;
    const FunctionBody& body_;
    std::vector<Accumulator> accumulators_;
    std::vector<std::size_t> names_; ///< How often the folds name each accumulator.
};

} // namespace

Gated<std::vector<Accumulator>> findAccumulators(const SkillContext& context, const CodeMap& code,
                                                 const Loop& loop) {
    return Finder(context, code, loop).find();
}

bool isUnrolledByHand(const KernelModel& kernel, const CodeMap& code, const Loop& loop) {
    const FunctionBody& body = code.body();
    if (loop.inductionVariable == noId)
        return false;
    const auto advances = [&](VariableId variable, const Stmt& stmt) {
        return stmt.increment != noId &&
               std::ranges::any_of(code.expressionsBelow(stmt.increment), [&](ExprId id) {
                   return body.expr(id).variable == variable &&
                          body.expr(id).kind == ExprKind::Variable;
               });
    };
    // The index plus a constant below the step: rounds written out.
    if (loop.step && *loop.step > 1)
        for (const ExprId use : code.uses(loop.inductionVariable)) {
            const ExprId parent = code.parent(use);
            if (parent == noId || !code.holds(loop.body, use) || body.expr(parent).op != "+")
                continue;
            const auto amount = code.constantValue(body.expr(parent).children[1]);
            if (amount && *amount > 0 && *amount < *loop.step)
                return true;
        }
    // A loop that goes on where the loop before it stopped.
    const Stmt& stmt = body.stmt(loop.statement);
    VariableId start = noId;
    if (stmt.init == noId || body.stmt(stmt.init).kind == StmtKind::Null)
        start = loop.inductionVariable;
    else if (body.variable(loop.inductionVariable).init != noId)
        start = code.namedVariable(body.variable(loop.inductionVariable).init);
    if (start == noId)
        return false;
    return std::ranges::any_of(kernel.loops, [&](const Loop& other) {
        const Stmt& otherStmt = body.stmt(other.statement);
        return other.statement != loop.statement && otherStmt.parent == stmt.parent &&
               advances(start, otherStmt);
    });
}

} // namespace kernelskill::skills
