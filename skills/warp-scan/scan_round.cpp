#include "skills/warp-scan/scan_round.h"

#include "analysis/model/index_expression.h"
#include "analysis/queries/index_arithmetic.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The value of an expression, as a sum of elements at the beginning of the round.
enum class Sum : std::uint8_t { Unknown, Zero, Own, Before, OwnAndBefore };

/// Follows a round for the threads on one side of the guard `threadIdx.x >= stride`.
class Round {
public:
    Round(const CodeMap& code, VariableId stride, bool isFromStride)
        : code_(code), body_(code.body()), isFromStride_(isFromStride) {
        names_.stride = stride;
    }

    bool run(const std::vector<StmtId>& reads, const std::vector<StmtId>& writes) {
        mayWrite_ = false;
        if (!std::ranges::all_of(reads, [&](StmtId stmt) { return follow(stmt); }))
            return false;
        mayWrite_ = true;
        mayReadBefore_ = false; // Behind the barrier other threads have changed it.
        if (!std::ranges::all_of(writes, [&](StmtId stmt) { return follow(stmt); }))
            return false;
        return own_ == (isFromStride_ ? Sum::OwnAndBefore : Sum::Own);
    }

    [[nodiscard]] const ScanNames& names() const { return names_; }

private:
    [[nodiscard]] static IndexExpression thread() {
        return IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
    }
    [[nodiscard]] IndexExpression stride() const {
        return IndexExpression::symbol({SymbolKind::Opaque, names_.stride});
    }

    bool follow(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.fromMacro)
            return false;
        switch (stmt.kind) {
        case StmtKind::Null:
            return true;
        case StmtKind::Compound:
            return std::ranges::all_of(stmt.children, [&](StmtId each) { return follow(each); });
        case StmtKind::Declaration:
            return followDeclaration(stmt);
        case StmtKind::Expression:
            return stmt.expr != noId && followAssignment(body_.expr(stmt.expr));
        case StmtKind::If: {
            const auto holds = guardHolds(stmt.condition);
            if (!holds)
                return false;
            if (*holds)
                return follow(stmt.children[0]);
            return stmt.children.size() < 2 || follow(stmt.children[1]);
        }
        default:
            return false;
        }
    }

    bool followDeclaration(const Stmt& stmt) {
        if (stmt.declared.size() != 1)
            return false;
        const Variable& variable = body_.variable(stmt.declared[0]);
        if (!takesValue(stmt.declared[0]))
            return false;
        value_ = variable.init == noId ? Sum::Unknown : valueOf(variable.init);
        return variable.init == noId || value_ != Sum::Unknown;
    }

    bool takesValue(VariableId variable) {
        const Variable& local = body_.variable(variable);
        if (local.storage != Storage::Local || !local.type.arrayExtents.empty() ||
            local.type.pointerDepth > 0 || local.type.isReference)
            return false;
        if (names_.value == noId)
            names_.value = variable;
        return names_.value == variable;
    }

    bool followAssignment(const Expr& expr) {
        if (expr.kind != ExprKind::Binary || (expr.op != "=" && expr.op != "+="))
            return false;
        const Expr& target = body_.expr(code_.withoutCasts(expr.children[0]));
        Sum result = valueOf(expr.children[1]);
        if (target.kind == ExprKind::Variable && target.variable != noId) {
            if (!takesValue(target.variable))
                return false;
            value_ = expr.op == "=" ? result : sumOf(value_, result);
            return value_ != Sum::Unknown;
        }
        if (!mayWrite_ || elementOffset(expr.children[0]) != IndexExpression::constant(0))
            return false;
        own_ = expr.op == "=" ? result : sumOf(own_, result);
        return own_ != Sum::Unknown;
    }

    /// Whether this side of the guard takes the branch; nullopt if the condition is not the guard.
    [[nodiscard]] std::optional<bool> guardHolds(ExprId id) {
        if (id == noId)
            return std::nullopt;
        const Expr& condition = body_.expr(code_.withoutCasts(id));
        if (condition.kind != ExprKind::Binary || condition.children.size() != 2)
            return std::nullopt;
        auto left = polynomialOf(code_, condition.children[0]);
        auto right = polynomialOf(code_, condition.children[1]);
        if (!left || !right)
            return std::nullopt;
        std::string_view op = condition.op;
        ExprId threadSide = condition.children[0];
        if (*right == thread()) { // `stride <= tid` as `tid >= stride`
            std::swap(left, right);
            threadSide = condition.children[1];
            op = op == "<=" ? ">=" : op == "<" ? ">" : op == ">=" ? "<=" : op == ">" ? "<" : "";
        }
        if (*left != thread())
            return std::nullopt;
        names_.thread = threadSide;
        const IndexExpression last = stride() - IndexExpression::constant(1);
        if ((op == ">=" && *right == stride()) || (op == ">" && *right == last))
            return isFromStride_;
        if ((op == "<" && *right == stride()) || (op == "<=" && *right == last))
            return !isFromStride_;
        return std::nullopt;
    }

    [[nodiscard]] static Sum sumOf(Sum a, Sum b) {
        if (a == Sum::Zero)
            return b;
        if (b == Sum::Zero)
            return a;
        if ((a == Sum::Own && b == Sum::Before) || (a == Sum::Before && b == Sum::Own))
            return Sum::OwnAndBefore;
        return Sum::Unknown;
    }

    /// How far the element of the scanned array is from the thread's own; nullopt for anything
    /// else.
    [[nodiscard]] std::optional<IndexExpression> elementOffset(ExprId id) {
        const Expr& element = body_.expr(code_.withoutCasts(id));
        if (element.kind != ExprKind::Subscript)
            return std::nullopt;
        const VariableId array = code_.namedVariable(element.children[0]);
        if (array == noId)
            return std::nullopt;
        const Variable& variable = body_.variable(array);
        const bool isShared =
            variable.storage == Storage::Shared || variable.storage == Storage::DynamicShared;
        if (!isShared || variable.type.arrayExtents.size() != 1 ||
            (names_.array != noId && names_.array != array))
            return std::nullopt;
        names_.array = array;
        const auto index = polynomialOf(code_, element.children[1]);
        return index ? std::optional(*index - thread()) : std::nullopt;
    }

    [[nodiscard]] Sum valueOf(ExprId id) {
        const Expr& expr = body_.expr(code_.withoutCasts(id));
        switch (expr.kind) {
        case ExprKind::Integer:
            return expr.integer == 0 ? Sum::Zero : Sum::Unknown;
        case ExprKind::Floating:
            return expr.floating == 0 ? Sum::Zero : Sum::Unknown;
        case ExprKind::Variable:
            return expr.variable != noId && expr.variable == names_.value ? value_ : Sum::Unknown;
        case ExprKind::Binary:
            return expr.op == "+" && expr.children.size() == 2
                       ? sumOf(valueOf(expr.children[0]), valueOf(expr.children[1]))
                       : Sum::Unknown;
        case ExprKind::Conditional: {
            const auto holds = guardHolds(expr.children[0]);
            return holds ? valueOf(expr.children[*holds ? 1 : 2]) : Sum::Unknown;
        }
        case ExprKind::Subscript: {
            const auto offset = elementOffset(id);
            if (offset == IndexExpression::constant(0))
                return own_;
            const bool isBefore = offset == IndexExpression::constant(0) - stride();
            return isBefore && isFromStride_ && mayReadBefore_ ? Sum::Before : Sum::Unknown;
        }
        default:
            return Sum::Unknown;
        }
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    bool isFromStride_;
    bool mayWrite_ = false;
    bool mayReadBefore_ = true;
    Sum value_ = Sum::Unknown;
    Sum own_ = Sum::Own;
    ScanNames names_;
};

} // namespace

std::optional<ScanNames> scanRound(const CodeMap& code, VariableId stride,
                                   const std::vector<StmtId>& reads,
                                   const std::vector<StmtId>& writes) {
    Round adding(code, stride, true);
    Round keeping(code, stride, false);
    if (!adding.run(reads, writes) || !keeping.run(reads, writes))
        return std::nullopt;
    const ScanNames& names = adding.names();
    const bool isComplete = names.value != noId && names.array != noId && names.thread != noId;
    return isComplete ? std::optional(names) : std::nullopt;
}

} // namespace kernelskill::skills
