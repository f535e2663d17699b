#include "skills/schedule/part_returns.h"

#include "analysis/source/try.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

Gated<void> requireLast(const SkillContext& context, const StatementRoles& roles, StmtId exit,
                        std::size_t run) {
    const FunctionBody& body = context.kernel.body;
    const std::uint32_t line = lineNumber(context, body.stmt(exit).span.begin);
    if (body.stmt(exit).fromMacro || !roles.runs()[run].isLast)
        return refuse("early-return", fmt::format("threads that leave on line {} would be missing "
                                                  "at barriers of other parts",
                                                  line));
    for (StmtId at = body.stmt(exit).parent; roles.runOf(at).has_value(); at = body.stmt(at).parent)
        if (isLoop(body.stmt(at).kind))
            return refuse("early-return",
                          fmt::format("line {} leaves the kernel from within a loop", line));
    for (const Barrier& barrier : context.kernel.barriers)
        if (roles.runOf(context.code().statement(barrier.call)) == run)
            return refuse("early-return",
                          fmt::format("threads that leave on line {} would be missing at the "
                                      "barrier on line {} for other parts",
                                      line,
                                      lineNumber(context, body.expr(barrier.call).span.begin)));
    return {};
}

} // namespace

Gated<std::vector<StmtId>> lastReturns(const SkillContext& context, const StatementRoles& roles) {
    const FunctionBody& body = context.kernel.body;
    std::vector<StmtId> returns;
    for (StmtId id = 0; id < body.stmts.size(); ++id) {
        const auto run = roles.runOf(id);
        if (!run || body.stmt(id).kind != StmtKind::Return)
            continue;
        KERNELSKILL_CHECK(requireLast(context, roles, id, *run));
        returns.push_back(id);
    }
    return returns;
}

} // namespace kernelskill::skills
