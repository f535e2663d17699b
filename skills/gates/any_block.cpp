#include "skills/gates/any_block.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/elementwise_kernel.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

Gated<void> requireAnyBlock(const SkillContext& context) {
    const CodeMap& code = context.code();
    const std::vector<GridStrideLoop> loops = findGridStrideLoops(context.kernel, code);
    if (loops.empty()) {
        KERNELSKILL_CHECK(recogniseElementwise(context, code));
        return {};
    }
    const Loop& loop = context.kernel.loops[loops.front().loop];
    const bool isAll = std::ranges::all_of(context.kernel.body.exprs, [&](const Expr& expr) {
        return expr.kind != ExprKind::BuiltinIndex ||
               context.kernel.body.stmt(loop.statement).span.contains(expr.span);
    });
    if (loops.size() > 1 || !isAll)
        return refuse("uses-thread-position",
                      fmt::format("{} uses the position of a thread beside its grid-stride loop",
                                  context.kernel.name));
    return requireIndependentWork(context, code, code.statementsOf(loop.body));
}

} // namespace kernelskill::skills
