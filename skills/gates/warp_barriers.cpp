#include "skills/gates/warp_barriers.h"

#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

Gated<std::vector<ExprId>> warpBarriers(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    std::vector<ExprId> calls;
    for (const Barrier& barrier : kernel.barriers) {
        if (barrier.kind == BarrierKind::SyncWarp || barrier.kind == BarrierKind::Fence)
            continue;
        const Expr& call = kernel.body.expr(barrier.call);
        if (barrier.kind != BarrierKind::SyncThreads || call.fromMacro)
            return refuse("barrier-form",
                          fmt::format("the barrier on line {} is no plain __syncthreads()",
                                      lineNumber(context, call.span.begin)));
        calls.push_back(barrier.call);
    }
    if (calls.empty())
        return refuse("no-barrier",
                      fmt::format("the threads of a block of {} do not meet", kernel.name));
    return calls;
}

} // namespace kernelskill::skills
