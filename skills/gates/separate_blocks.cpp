#include "skills/gates/separate_blocks.h"

#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/callees.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isLoop(const Stmt& stmt) {
    return stmt.kind == StmtKind::For || stmt.kind == StmtKind::While || stmt.kind == StmtKind::Do;
}

} // namespace

Gated<void> requireSeparateBlocks(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    const FunctionBody& body = kernel.body;
    const auto meet = [&](std::string_view what, Span at) {
        return refuse("blocks-meet", fmt::format("blocks may communicate through {} on line {}",
                                                 what, lineNumber(context, at.begin)));
    };
    for (const Barrier& barrier : kernel.barriers)
        if (barrier.kind == BarrierKind::GridSync || barrier.kind == BarrierKind::Fence)
            return meet(body.expr(barrier.call).name, body.expr(barrier.call).span);
    for (const Parameter& parameter : kernel.parameters)
        if (parameter.type.isVolatile)
            return meet(parameter.name, parameter.span);
    for (const Stmt& stmt : body.stmts) {
        if (!isLoop(stmt) || stmt.condition == noId)
            continue;
        const std::vector<ExprId> condition = context.code().expressionsBelow(stmt.condition);
        for (const Atomic& atomic : kernel.atomics)
            if (std::ranges::find(condition, atomic.call) != condition.end())
                return meet(body.expr(atomic.call).name, body.expr(atomic.call).span);
    }
    for (const Token& token : lex(context.file.source->text(), kernel.span))
        if (token.text == "this_grid" || token.text.contains("cluster"))
            return meet(token.text, token.span);
    return {};
}

Gated<void> requireCalleesWithoutGrid(const SkillContext& context) {
    const auto asks = [](const KernelModel& function) {
        return std::ranges::any_of(function.body.exprs,
                                   [](const Expr& expr) { return expr.name == "gridDim"; });
    };
    if (const auto name = calleeThat(context, asks))
        return refuse("uses-grid", fmt::format("{} may ask how many blocks there are", *name));
    return {};
}

} // namespace kernelskill::skills
