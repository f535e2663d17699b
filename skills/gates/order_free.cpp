#include "skills/gates/order_free.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class OrderReader {
public:
    OrderReader(const SkillContext& context, const Loop& loop)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          loop_(loop) {}

    [[nodiscard]] Gated<void> require() const {
        if (loop_.hasBarrier)
            return refuse(
                "barrier",
                fmt::format("threads meet in the loop on line {}",
                            lineNumber(context_, body_.stmt(loop_.statement).span.begin)));
        for (const MemoryAccess& access : kernel_.accesses)
            if (access.kind == AccessKind::Atomic && code_.holds(loop_.body, access.expression))
                return refuse("atomic", fmt::format("line {} updates memory that other threads "
                                                    "use",
                                                    line(access.expression)));
        for (const WarpOperation& operation : kernel_.warpOperations)
            if (code_.holds(loop_.body, operation.call))
                return refuse(
                    "warp-operation",
                    fmt::format("line {} exchanges values with other lanes", line(operation.call)));
        for (const StmtId id : code_.statementsIn(loop_.body))
            KERNELSKILL_CHECK(requirePlain(body_.stmt(id)));
        for (const ExprId id : code_.expressionsIn(loop_.body))
            KERNELSKILL_CHECK(requirePlain(id));
        return {};
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    [[nodiscard]] Gated<void> requirePlain(const Stmt& stmt) const {
        const std::uint32_t at = lineNumber(context_, stmt.span.begin);
        switch (stmt.kind) {
        case StmtKind::Return:
        case StmtKind::Goto:
        case StmtKind::RangeFor:
        case StmtKind::Asm:
        case StmtKind::Other:
            return refuse("leaves-loop",
                          fmt::format("line {} may leave the loop, or is not followed", at));
        case StmtKind::Break:
        case StmtKind::Continue:
            return isAbout(code_, stmt, loop_)
                       ? refuse("leaves-loop",
                                fmt::format("line {} ends a round of the loop early", at))
                       : Gated<void>{};
        case StmtKind::Declaration:
            for (const VariableId id : stmt.declared)
                if (body_.variable(id).type.isReference)
                    return refuse("address-taken", fmt::format("{} is another name for something",
                                                               body_.variable(id).name));
            return {};
        default:
            return {};
        }
    }

    [[nodiscard]] Gated<void> requirePlain(ExprId id) const {
        const Expr& expr = body_.expr(id);
        const bool isAddress = expr.kind == ExprKind::Unary && expr.op == "&";
        if (isAddress)
            return refuse("address-taken",
                          fmt::format("line {} takes the address of something", line(id)));
        const bool isKnown = expr.kind != ExprKind::Call ||
                             isKnownCall(context_.file, kernel_, expr) || expr.name == "min" ||
                             expr.name == "max" || isTextureFetch(expr);
        if (expr.kind == ExprKind::Other || expr.type.isVolatile || !isKnown)
            return refuse("unknown-call",
                          fmt::format("what line {} changes is not known", line(id)));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Loop& loop_;
};

} // namespace

Gated<void> requireOrderFree(const SkillContext& context, const Loop& loop) {
    return OrderReader(context, loop).require();
}

bool isAbout(const CodeMap& code, const Stmt& exit, const Loop& loop) {
    const FunctionBody& body = code.body();
    StmtId at = exit.parent;
    const auto takesExit = [&](StmtKind kind) {
        return isLoop(kind) || (kind == StmtKind::Switch && exit.kind == StmtKind::Break);
    };
    while (!takesExit(body.stmt(at).kind))
        at = body.stmt(at).parent;
    return at == loop.statement;
}

bool isTextureFetch(const Expr& expr) {
    return expr.kind == ExprKind::Call &&
           (expr.name.starts_with("tex1D") || expr.name.starts_with("tex2D") ||
            expr.name.starts_with("tex3D"));
}

} // namespace kernelskill::skills
