#include "skills/atomics-privatization/table_updates.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/source/try.h"
#include "skills/atomics-privatization/private_table.h"
#include "skills/base/gates.h"
#include "skills/editing/grid_stride_form.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    [[nodiscard]] Gated<TableUpdates> study(VariableId base) const {
        TableUpdates updates;
        KERNELSKILL_TRY(static_cast<ContendedUpdates&>(updates), updatesOf(context_, base));
        const UpdateSite& first = updates.sites.front();
        updates.fold = first.fold;
        updates.function = first.function;
        if (updates.space != MemorySpace::Global)
            return refuse("not-global", fmt::format("the atomic on line {} is not known to be on "
                                                    "global memory",
                                                    line(first.call)));
        for (const UpdateSite& site : updates.sites)
            if (site.function != first.function)
                return refuse("mixed-operations",
                              fmt::format("{} is updated by {} and, on line {}, by {}",
                                          body_.variable(base).name, first.function,
                                          line(site.call), site.function));
        KERNELSKILL_CHECK(requireUnseen(context_, updates));
        KERNELSKILL_TRY(updates.earlyReturns, findEarlyReturns(context_, code_));
        updates.launched = launchedThreads(context_);
        KERNELSKILL_CHECK(requireOwnLinesOf(context_, updates.sites));
        const StmtId guard =
            updates.earlyReturns.empty() ? noId : updates.earlyReturns.front().guard;
        if (std::ranges::all_of(updates.sites, [&](const UpdateSite& site) {
                return code_.sameExpression(first.address, site.address) &&
                       isSameForBlock(context_, base, guard, site.address);
            }))
            return refuse("one-address",
                          fmt::format("line {} updates one address, which needs a sum and no table",
                                      line(first.call)));
        updates.elementwise = severalElements(updates);
        KERNELSKILL_TRY(updates.table, findPrivateTable(context_, code_, updates));
        return updates;
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// Returns the kernel as one element a thread if a loop over several can take its place.
    [[nodiscard]] std::optional<ElementwiseKernel>
    severalElements(const TableUpdates& updates) const {
        if (updates.isRepeated || !findGridStrideLoops(kernel_, code_).empty() ||
            !requireResizableGrids(context_) ||
            !std::ranges::all_of(kernel_.launches, [&](const LaunchSite& launch) {
                return isRoundedUp(context_.shared().host(launch.host), launch.grid);
            }))
            return std::nullopt;
        auto found = recogniseElementwise(context_, code_);
        if (!found || !requireLoopLines(context_, code_, *found))
            return std::nullopt;
        return *found;
    }

    /// Whether the grid is rounded up, like `(n + 255) / 256`. One that is rounded down leaves out
    /// elements that a loop would reach.
    [[nodiscard]] bool isRoundedUp(const CodeMap& host, ExprId grid, int depth = 0) const {
        constexpr int maximumDepth = 8;
        const ExprId inner = host.withoutCasts(grid);
        if (inner == noId || depth > maximumDepth)
            return false;
        const Expr& expr = host.body().expr(inner);
        if (expr.kind == ExprKind::Variable && expr.variable != noId &&
            !host.isEverWritten(expr.variable))
            return isRoundedUp(host, host.body().variable(expr.variable).init, depth + 1);
        if (expr.kind == ExprKind::InitList && !expr.children.empty())
            return isRoundedUp(host, expr.children[0], depth + 1);
        if (expr.kind != ExprKind::Binary || expr.op != "/")
            return false;
        const Expr& sum = host.body().expr(host.withoutCasts(expr.children[0]));
        return sum.kind == ExprKind::Binary && (sum.op == "+" || sum.op == "-");
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

std::int64_t updatesOfBlock(const TableUpdates& updates, int elementsPerThread) {
    return updates.launched.most * static_cast<std::int64_t>(updates.sites.size()) *
           (updates.elementwise ? elementsPerThread : 1);
}

Gated<TableUpdates> findTableUpdates(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    const Finder finder(context, code);
    return chooseUpdates(context, [&](VariableId base) { return finder.study(base); });
}

} // namespace kernelskill::skills
