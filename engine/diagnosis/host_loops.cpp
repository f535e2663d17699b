#include "engine/diagnosis/host_loops.h"

#include "analysis/model/dependence.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::FunctionBody;
using analysis::noId;
using analysis::Stmt;
using analysis::StmtKind;
using analysis::VariableId;

/// The integer value of an expression, if one function's text tells it: literals, constants, sums.
std::optional<std::int64_t> valueOf(const FunctionBody& body, ExprId id) {
    if (id == noId)
        return std::nullopt;
    const Expr& expr = body.expr(id);
    if (expr.kind == ExprKind::Integer)
        return expr.integer;
    if (expr.kind == ExprKind::Cast)
        return valueOf(body, expr.children.front());
    if (expr.kind == ExprKind::Variable && expr.variable != noId)
        return body.variable(expr.variable).constantValue;
    return std::nullopt;
}

/// The end of the condition `i < end`, for the variable of the loop.
struct Bound {
    VariableId variable = noId;
    std::int64_t end = 0;
};

std::optional<Bound> boundOf(const FunctionBody& body, ExprId condition) {
    if (condition == noId)
        return std::nullopt;
    const Expr& expr = body.expr(condition);
    const bool isUpper =
        expr.kind == ExprKind::Binary && (expr.op == "<" || expr.op == "<=" || expr.op == "!=");
    if (!isUpper)
        return std::nullopt;
    const Expr& left = body.expr(expr.children[0]);
    const auto limit = valueOf(body, expr.children[1]);
    if (left.kind != ExprKind::Variable || left.variable == noId || !limit)
        return std::nullopt;
    return Bound{left.variable, *limit + (expr.op == "<=" ? 1 : 0)};
}

bool countsUpByOne(const FunctionBody& body, ExprId increment, VariableId variable) {
    if (increment == noId)
        return false;
    const Expr& expr = body.expr(increment);
    if (expr.kind != ExprKind::Unary || (expr.op != "++" && expr.op != "p++"))
        return false;
    const Expr& counted = body.expr(expr.children.front());
    return counted.kind == ExprKind::Variable && counted.variable == variable;
}

/// The iterations of `for (int i = a; i < b; ++i)` with known a and b; nullopt for any other loop.
std::optional<std::int64_t> roundsOf(const FunctionBody& body, const Stmt& loop) {
    const auto bound = boundOf(body, loop.condition);
    if (loop.kind != StmtKind::For || !bound || loop.init == noId ||
        !countsUpByOne(body, loop.increment, bound->variable))
        return std::nullopt;
    const auto& declared = body.stmt(loop.init).declared;
    if (std::ranges::find(declared, bound->variable) == declared.end())
        return std::nullopt;
    const auto start = valueOf(body, body.variable(bound->variable).init);
    return start && bound->end > *start ? std::optional(bound->end - *start) : std::nullopt;
}

bool isLoop(const Stmt& stmt) {
    return stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
           stmt.kind == StmtKind::Do || stmt.kind == StmtKind::RangeFor;
}

bool isAround(const FunctionBody& body, const Stmt& stmt, analysis::Span span) {
    return isLoop(stmt) && std::ranges::any_of(stmt.children, [&](analysis::StmtId child) {
               return body.stmt(child).span.contains(span);
           });
}

/// Whether the value of `id` differs between the rounds of a loop of that span.
bool changesWithin(const FunctionBody& body, analysis::Span loop, ExprId id, int depth = 0) {
    constexpr int maxDepth = 8;
    if (id == noId || depth > maxDepth)
        return false;
    const Expr& expr = body.expr(id);
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        const bool isSet = std::ranges::any_of(body.exprs, [&](const Expr& change) {
            return (analysis::isAssignment(change) || analysis::isIncrement(change)) &&
                   loop.contains(change.span) &&
                   analysis::rootVariable(body, change.children.front()) == expr.variable;
        });
        const analysis::Variable& variable = body.variable(expr.variable);
        return isSet || changesWithin(body, loop, variable.init, depth + 1);
    }
    return std::ranges::any_of(
        expr.children, [&](ExprId child) { return changesWithin(body, loop, child, depth + 1); });
}

} // namespace

std::vector<RepeatedLaunch> repeatedLaunches(const analysis::FileModel& file,
                                             const analysis::KernelModel& kernel) {
    std::vector<RepeatedLaunch> found;
    for (const analysis::LaunchSite& site : kernel.launches) {
        if (site.host >= file.hostFunctions.size())
            continue;
        const analysis::HostFunction& host = file.hostFunctions[site.host];
        std::optional<std::int64_t> launches = 1;
        bool isRepeated = false;
        for (const Stmt& stmt : host.body.stmts) {
            if (!isAround(host.body, stmt, site.span))
                continue;
            isRepeated = true;
            const auto rounds = roundsOf(host.body, stmt);
            launches = launches && rounds ? std::optional(*launches * *rounds) : std::nullopt;
        }
        if (isRepeated)
            found.push_back({host.file, site.span, launches});
    }
    return found;
}

bool triesBlocks(const analysis::FileModel& file, const analysis::KernelModel& kernel) {
    return std::ranges::any_of(kernel.launches, [&](const analysis::LaunchSite& site) {
        if (site.host >= file.hostFunctions.size())
            return false;
        const FunctionBody& body = file.hostFunctions[site.host].body;
        return std::ranges::any_of(body.stmts, [&](const Stmt& stmt) {
            return isAround(body, stmt, site.span) && changesWithin(body, stmt.span, site.block);
        });
    });
}

} // namespace kernelskill::engine
