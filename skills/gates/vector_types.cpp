#include "skills/gates/vector_types.h"

#include "analysis/model/known_functions.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

std::string vectorType(ScalarKind scalar, int lanes) {
    std::string_view stem;
    switch (scalar) {
    case ScalarKind::Half:
        return lanes == 2 ? "__half2" : "";
    case ScalarKind::BFloat16:
        return lanes == 2 ? "__nv_bfloat162" : "";
    case ScalarKind::Float:
        stem = "float";
        break;
    case ScalarKind::Double:
        stem = "double";
        break;
    case ScalarKind::Int16:
        stem = "short";
        break;
    case ScalarKind::UInt16:
        stem = "ushort";
        break;
    case ScalarKind::Int32:
        stem = "int";
        break;
    case ScalarKind::UInt32:
        stem = "uint";
        break;
    case ScalarKind::Int64:
        stem = "longlong";
        break;
    case ScalarKind::UInt64:
        stem = "ulonglong";
        break;
    case ScalarKind::UInt8:
        stem = "uchar";
        break;
    default:
        return "";
    }
    return fmt::format("{}{}", stem, lanes);
}

bool isUnconditional(const CodeMap& code, const std::vector<StmtId>& work, ExprId expr) {
    const FunctionBody& body = code.body();
    for (ExprId at = expr; at != noId; at = code.parent(at))
        if (code.mayBeSkipped(at))
            return false;
    const StmtId holder = code.statement(expr);
    if (body.stmt(holder).kind == StmtKind::If && body.stmt(holder).condition != noId &&
        std::ranges::find(work, holder) != work.end())
        return true; // the condition of an `if` at the top
    for (StmtId at = holder; at != noId; at = body.stmt(at).parent) {
        if (std::ranges::find(work, at) != work.end())
            return body.stmt(at).kind == StmtKind::Expression ||
                   body.stmt(at).kind == StmtKind::Declaration ||
                   body.stmt(at).kind == StmtKind::Compound;
        const StmtKind kind = body.stmt(at).kind;
        if (kind != StmtKind::Expression && kind != StmtKind::Declaration &&
            kind != StmtKind::Compound)
            return false;
    }
    return false;
}

ExprId elementOf(const CodeMap& code, ExprId expression) {
    const ExprId inner = code.withoutCasts(expression);
    const Expr& expr = code.body().expr(inner);
    const bool isAddress = expr.kind == ExprKind::Unary && expr.op == "&";
    const bool isPart = expr.kind == ExprKind::Member && !expr.isArrow && expr.children.size() == 1;
    return isAddress || isPart ? code.withoutCasts(expr.children[0]) : inner;
}

Gated<void> requireScalars(const SkillContext& context) {
    for (const Expr& expr : context.kernel.body.exprs)
        if (expr.kind == ExprKind::Cast && expr.type.pointerDepth == 1 && expr.type.lanes > 1)
            return refuse("already-vectorized",
                          fmt::format("line {} already casts to {}",
                                      lineNumber(context, expr.span.begin), expr.type.spelling));
    return {};
}

namespace {

/// The `f(&p[i], ...)` around p[i], or noId.
ExprId callWithAddress(const CodeMap& code, ExprId expression) {
    ExprId at = code.parent(elementOf(code, expression));
    if (at != noId && code.body().expr(at).kind == ExprKind::Unary &&
        code.body().expr(at).op == "&")
        at = code.parent(at);
    return at != noId && code.body().expr(at).kind == ExprKind::Call ? at : noId;
}

} // namespace

ExprId readOnlyLoadAround(const CodeMap& code, ExprId expression) {
    const ExprId call = callWithAddress(code, expression);
    return call != noId && code.body().expr(call).name == "__ldg" ? call : noId;
}

std::string_view cacheHintAround(const CodeMap& code, ExprId expression) {
    const ExprId call = callWithAddress(code, expression);
    if (call == noId)
        return {};
    const std::string_view name = code.body().expr(call).name;
    return cachedAccess(name) && name != "__ldg" ? name : std::string_view{};
}

} // namespace kernelskill::skills
