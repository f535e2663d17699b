#include "analysis/features/arithmetic.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

/// The assumed iterations of a loop whose count is unknown.
constexpr double assumedRounds = 16;
/// The same for a loop that halves or doubles its variable: log2 of a usual block size.
constexpr double assumedHalvings = 8;

bool isFloatingPoint(const Type& type) {
    const bool known = type.scalar >= ScalarKind::Half && type.scalar <= ScalarKind::Double;
    return type.pointerDepth == 0 &&
           (known || (type.isDependent && type.scalar == ScalarKind::Unknown));
}

class Arithmetic {
public:
    explicit Arithmetic(const KernelModel& kernel) : kernel_(kernel), body_(kernel.body) {}

    [[nodiscard]] double operations() const {
        return body_.root == noId ? 0 : count(body_.root, 1);
    }

    [[nodiscard]] double rounds(std::uint32_t loop) const {
        const Loop& known = kernel_.loops[loop];
        if (known.tripCount)
            return static_cast<double>(std::max<std::int64_t>(*known.tripCount, 0));
        const bool geometric =
            !known.stepOperator.empty() && known.stepOperator != "+=" && known.stepOperator != "-=";
        return geometric ? assumedHalvings : assumedRounds;
    }

    /// Whether the expression is a load, or a variable that was set from one.
    [[nodiscard]] bool loads(ExprId expression, int depth = 0) const {
        constexpr int maximumDepth = 6;
        if (expression == noId || depth > maximumDepth)
            return false;
        const bool direct = std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
            return access.expression == expression &&
                   (access.space == MemorySpace::Global || access.space == MemorySpace::Shared ||
                    access.space == MemorySpace::Constant);
        });
        if (direct)
            return true;
        const Expr& expr = body_.expr(expression);
        if (expr.kind == ExprKind::Variable && expr.variable != noId &&
            body_.variable(expr.variable).init != noId)
            return loads(body_.variable(expr.variable).init, depth + 1);
        return std::ranges::any_of(expr.children,
                                   [&](ExprId child) { return loads(child, depth + 1); });
    }

    [[nodiscard]] bool isProductOfLoads(ExprId expression) const {
        const Expr& expr = body_.expr(expression);
        if (expr.kind == ExprKind::Cast)
            return isProductOfLoads(expr.children.front());
        return expr.kind == ExprKind::Binary && expr.op == "*" && loads(expr.children[0]) &&
               loads(expr.children[1]);
    }

    /// For `sum += a * b`, `sum = sum + a * b` and `sum = fmaf(a, b, sum)`.
    [[nodiscard]] bool accumulatesProduct(const Expr& expr) const {
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return false;
        if (expr.op == "+=")
            return isProductOfLoads(expr.children[1]);
        if (expr.op != "=")
            return false;
        const Expr& value = body_.expr(expr.children[1]);
        if (value.kind == ExprKind::Binary && value.op == "+")
            return isProductOfLoads(value.children[0]) || isProductOfLoads(value.children[1]);
        const bool fused = value.kind == ExprKind::Call && value.children.size() == 3 &&
                           value.name.find("fma") != std::string::npos;
        return fused && loads(value.children[0]) && loads(value.children[1]);
    }

    [[nodiscard]] bool contracts(StmtId statement, bool inLoop) const {
        const Stmt& stmt = body_.stmt(statement);
        const bool isLoop =
            stmt.kind == StmtKind::For || stmt.kind == StmtKind::While || stmt.kind == StmtKind::Do;
        if (inLoop && stmt.expr != noId && accumulatesProduct(body_.expr(stmt.expr)))
            return true;
        return std::ranges::any_of(
            stmt.children, [&](StmtId child) { return contracts(child, inLoop || isLoop); });
    }

private:
    [[nodiscard]] double countIn(ExprId expression) const {
        if (expression == noId)
            return 0;
        const Expr& expr = body_.expr(expression);
        double sum = 0;
        if (expr.kind == ExprKind::Binary && isFloatingPoint(expr.type)) {
            const bool arithmetic = expr.op.find_first_of("+-*/") == 0;
            sum += arithmetic ? expr.type.lanes : 0;
        } else if (expr.kind == ExprKind::Call) {
            const bool fused = expr.name.find("fma") != std::string::npos;
            const bool math = std::ranges::any_of(
                kernel_.mathCalls, [&](const MathCall& call) { return call.call == expression; });
            sum += math ? (fused ? 2 : 1) : 0;
        }
        for (const ExprId child : expr.children)
            sum += countIn(child);
        return sum;
    }

    [[nodiscard]] double count(StmtId statement, double weight) const {
        const Stmt& stmt = body_.stmt(statement);
        for (std::uint32_t i = 0; i < kernel_.loops.size(); ++i)
            if (kernel_.loops[i].statement == statement)
                weight *= rounds(i);
        double sum =
            weight * (countIn(stmt.expr) + countIn(stmt.condition) + countIn(stmt.increment));
        for (const VariableId variable : stmt.declared)
            sum += weight * countIn(body_.variable(variable).init);
        for (const StmtId child : stmt.children)
            sum += count(child, weight);
        return sum;
    }

    const KernelModel& kernel_;
    const FunctionBody& body_;
};

} // namespace

bool sumsProductsOfLoads(const KernelModel& kernel) {
    return kernel.body.root != noId && Arithmetic(kernel).contracts(kernel.body.root, false);
}

std::optional<double> arithmeticIntensity(const KernelModel& kernel) {
    const Arithmetic arithmetic(kernel);
    double bytes = 0;
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.space != MemorySpace::Global)
            continue;
        constexpr double assumedWidth = 4; // The type may be a template parameter.
        double weight = access.width > 0 ? access.width : assumedWidth;
        if (access.kind == AccessKind::ReadWrite || access.kind == AccessKind::Atomic)
            weight *= 2;
        for (const std::uint32_t loop : access.loops)
            weight *= arithmetic.rounds(loop);
        bytes += weight;
    }
    if (bytes == 0)
        return std::nullopt;
    return arithmetic.operations() / bytes;
}

} // namespace kernelskill::analysis
