#include "skills/native-atomics/retry_loop.h"

#include "skills/base/gates.h"
#include "skills/gates/callees.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Reads the loops of one function.
class RetryReader {
public:
    RetryReader(const SkillContext& context, const KernelModel& function)
        : context_(context), function_(function), code_(context.code()), body_(code_.body()) {}

    /// nullopt: the function has no loop around an atomicCAS.
    std::optional<Gated<RetryLoop>> find() {
        std::optional<Gated<RetryLoop>> refusal;
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            if (body_.stmt(id).kind != StmtKind::Do || !triesSwap(id))
                continue;
            auto read = readLoop(id);
            if (read)
                return read;
            if (!refusal)
                refusal = std::move(read);
        }
        return refusal;
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId loop) const {
        return lineNumber(context_, body_.stmt(loop).span.begin);
    }
    [[nodiscard]] std::string_view textOf(ExprId id) const {
        return context_.file.source->slice(body_.expr(id).span);
    }

    [[nodiscard]] bool triesSwap(StmtId loop) const {
        return std::ranges::any_of(code_.expressionsIn(loop), [&](ExprId id) {
            return body_.expr(id).kind == ExprKind::Call && body_.expr(id).name == "atomicCAS";
        });
    }

    /// `do { assumed = old; old = atomicCAS(address, assumed, update); } while (assumed != old);`
    [[nodiscard]] Gated<RetryLoop> readLoop(StmtId loop) {
        const auto other = [&](std::string_view why) {
            return refuse("other-update", fmt::format("the loop on line {} {}", line(loop), why));
        };
        const Stmt& stmt = body_.stmt(loop);
        const std::vector<StmtId> rounds =
            stmt.children.empty() ? std::vector<StmtId>{} : code_.statementsOf(stmt.children[0]);
        const auto first = rounds.size() == 2 ? assignmentOf(rounds[0]) : std::nullopt;
        const auto second = rounds.size() == 2 ? assignmentOf(rounds[1]) : std::nullopt;
        if (!first || !second)
            return other("does more than to keep a value and to try a swap");
        const VariableId assumed = first->first;
        const VariableId old = second->first;
        const Expr& swap = body_.expr(second->second);
        if (code_.namedVariable(first->second) != old || swap.kind != ExprKind::Call ||
            swap.name != "atomicCAS" || swap.children.size() != 3 ||
            code_.namedVariable(swap.children[1]) != assumed ||
            !repeatsUnlessEqual(stmt.condition, assumed, old))
            return other("does not try a swap until the value that it found is the one expected");
        for (const ExprId use : code_.uses(assumed))
            if (!code_.holds(loop, use))
                return other(fmt::format("leaves {} behind, which is used elsewhere",
                                         body_.variable(assumed).name));
        const ExprId address = swap.children[0];
        if (mentions(address, {assumed, old}) || hasEffects(address))
            return other("swaps at a place that it finds anew in each round");
        for (const ExprId id : code_.expressionsIn(loop))
            if (body_.expr(id).fromMacro)
                return refuse(
                    "from-macro",
                    fmt::format("line {} has code that comes out of a macro", line(loop)));
        RetryLoop found{&function_, loop, {}, {}};
        const std::string_view place = textOf(address);
        const std::string& name = body_.variable(old).name;
        if (const auto sum = sumOfDoubles(swap.children[2], assumed, old)) {
            if (body_.variable(old).type.size != sizeof(double))
                return other("holds a double in a number of another size");
            found.atomic = "atomicAdd";
            found.text = fmt::format("{} = __double_as_longlong(atomicAdd((double*)({}), {}));",
                                     name, place, textOf(*sum));
            return found;
        }
        const auto update = integerUpdate(swap.children[2], assumed, old);
        if (!update)
            return other("swaps in a value that no atomic function computes");
        found.atomic = update->first;
        found.text =
            fmt::format("{} = {}({}, {});", name, update->first, place, textOf(update->second));
        return found;
    }

    /// The variable and the value of a statement `variable = value;`.
    [[nodiscard]] std::optional<std::pair<VariableId, ExprId>> assignmentOf(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression)
            return std::nullopt;
        const Expr& expr = body_.expr(stmt.expr);
        if (expr.kind != ExprKind::Binary || expr.op != "=" ||
            body_.expr(expr.children[0]).kind != ExprKind::Variable ||
            body_.expr(expr.children[0]).variable == noId)
            return std::nullopt;
        const VariableId variable = body_.expr(expr.children[0]).variable;
        const Type& type = body_.variable(variable).type;
        if (body_.variable(variable).storage != Storage::Local || type.isReference ||
            type.isVolatile || type.lanes != 1)
            return std::nullopt;
        return std::pair{variable, code_.withoutCasts(expr.children[1])};
    }

    [[nodiscard]] bool repeatsUnlessEqual(ExprId condition, VariableId a, VariableId b) const {
        if (condition == noId)
            return false;
        const Expr& expr = body_.expr(condition);
        if (expr.kind != ExprKind::Binary || expr.op != "!=")
            return false;
        const VariableId left = code_.namedVariable(expr.children[0]);
        const VariableId right = code_.namedVariable(expr.children[1]);
        return (left == a && right == b) || (left == b && right == a);
    }

    [[nodiscard]] bool mentions(ExprId expr, const std::set<VariableId>& variables) const {
        return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
            return body_.expr(id).kind == ExprKind::Variable &&
                   variables.contains(body_.expr(id).variable);
        });
    }
    [[nodiscard]] bool hasEffects(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& each = body_.expr(id);
            return each.kind == ExprKind::Call || each.kind == ExprKind::Other ||
                   (each.kind == ExprKind::Binary && isAssignment(each.op)) ||
                   (each.kind == ExprKind::Unary &&
                    (each.op.contains("++") || each.op.contains("--")));
        });
    }
    /// Whether the operand is the same in every round.
    [[nodiscard]] bool isOperand(ExprId id, VariableId assumed, VariableId old) const {
        return !mentions(id, {assumed, old}) && !hasEffects(id);
    }

    /// The function and the operand of `assumed op operand`, where such a function takes numbers of
    /// the type.
    [[nodiscard]] std::optional<std::pair<std::string, ExprId>>
    integerUpdate(ExprId update, VariableId assumed, VariableId old) const {
        const ScalarKind scalar = body_.variable(old).type.scalar;
        const bool isInt = scalar == ScalarKind::Int32 || scalar == ScalarKind::UInt32;
        if (!isInt && scalar != ScalarKind::UInt64)
            return std::nullopt;
        const Expr& expr = body_.expr(code_.withoutCasts(update));
        if (expr.children.size() != 2)
            return std::nullopt;
        const bool isLeft = code_.namedVariable(expr.children[0]) == assumed;
        const bool isRight = code_.namedVariable(expr.children[1]) == assumed;
        const ExprId operand = expr.children[isLeft ? 1 : 0];
        if (isLeft == isRight || !isOperand(operand, assumed, old) ||
            body_.expr(operand).type.scalar >= ScalarKind::Half)
            return std::nullopt;
        const bool isBinary = expr.kind == ExprKind::Binary;
        const bool isCall = expr.kind == ExprKind::Call && !expr.isMethod;
        // An operand of another width or sign would be compared in another type.
        const bool isSameType = body_.expr(operand).type.scalar == scalar;
        const std::string atomic = isBinary && expr.op == "+"                      ? "atomicAdd"
                                   : isBinary && expr.op == "-" && isLeft && isInt ? "atomicSub"
                                   : isBinary && expr.op == "&"                    ? "atomicAnd"
                                   : isBinary && expr.op == "|"                    ? "atomicOr"
                                   : isBinary && expr.op == "^"                    ? "atomicXor"
                                   : isCall && expr.name == "min" && isSameType    ? "atomicMin"
                                   : isCall && expr.name == "max" && isSameType    ? "atomicMax"
                                                                                   : "";
        return atomic.empty() ? std::nullopt : std::optional(std::pair{atomic, operand});
    }

    /// The operand of `__double_as_longlong(operand + __longlong_as_double(assumed))`.
    [[nodiscard]] std::optional<ExprId> sumOfDoubles(ExprId update, VariableId assumed,
                                                     VariableId old) const {
        const Expr& bits = body_.expr(code_.withoutCasts(update));
        if (bits.kind != ExprKind::Call || bits.name != "__double_as_longlong" ||
            bits.children.size() != 1)
            return std::nullopt;
        const Expr& sum = body_.expr(code_.withoutCasts(bits.children[0]));
        if (sum.kind != ExprKind::Binary || sum.op != "+")
            return std::nullopt;
        const auto isAssumed = [&](ExprId id) {
            const Expr& value = body_.expr(id);
            return value.kind == ExprKind::Call && value.name == "__longlong_as_double" &&
                   value.children.size() == 1 &&
                   code_.namedVariable(code_.withoutCasts(value.children[0])) == assumed;
        };
        for (const std::size_t at : {0, 1})
            if (isAssumed(sum.children[at]) && isOperand(sum.children[1 - at], assumed, old))
                return sum.children[1 - at];
        return std::nullopt;
    }

    const SkillContext& context_;
    const KernelModel& function_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<RetryLoop> retryLoop(const SkillContext& context) {
    std::optional<Gated<RetryLoop>> found = RetryReader(context, context.kernel).find();
    if (found && *found)
        return *std::move(found);
    for (const KernelModel* function : editableCallees(context)) {
        const SkillContext inner = context.in(*function);
        auto called = RetryReader(inner, *function).find();
        if (called && *called)
            return *std::move(called);
        if (!found)
            found = std::move(called);
    }
    if (found)
        return *std::move(found);
    return refuse("no-retry-loop",
                  fmt::format("no loop of {} tries a compare-and-swap", context.kernel.name));
}

} // namespace kernelskill::skills
