#include "skills/block-reduction/block_updates.h"

#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Each address takes a register of every thread and a reduction of its own.
constexpr std::size_t maxTargets = 8;

class Finder {
public:
    explicit Finder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    [[nodiscard]] Gated<BlockUpdates> study(VariableId base) const {
        BlockUpdates updates;
        KERNELSKILL_TRY(updates.all, updatesOf(context_, base));
        KERNELSKILL_CHECK(updates.isShared() ? requireOwnPhase(updates.all)
                                             : requireUnseen(context_, updates.all));
        KERNELSKILL_TRY(updates.earlyReturns, findEarlyReturns(context_, code_));
        updates.launched = launchedThreads(context_);
        KERNELSKILL_CHECK(requireOwnLinesOf(context_, updates.all.sites));
        KERNELSKILL_CHECK(sortByAddress(updates));
        KERNELSKILL_TRY(updates.lanes, requireLanes(context_));
        KERNELSKILL_CHECK(requireDistinctInputs(context_, base));
        if (updates.areCombined() && !updates.hasManyWarps() && !updates.all.isRepeated)
            return refuse("combined-already",
                          fmt::format("compilers add up the integers of a warp themselves, and {}",
                                      updates.isShared()
                                          ? "in shared memory one atomic a warp is left"
                                          : "a block has one warp"));
        return updates;
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// Refuses other uses of shared memory and barriers from the first statement that updates it to
    /// the last. Behind them a barrier comes before any read.
    [[nodiscard]] Gated<void> requireOwnPhase(const ContendedUpdates& updates) const {
        const std::string& name = body_.variable(updates.base).name;
        const Span phase{body_.stmt(updates.sites.front().outermost).span.begin,
                         body_.stmt(updates.sites.back().outermost).span.end};
        for (const Barrier& barrier : kernel_.barriers)
            if (phase.contains(body_.expr(barrier.call).span))
                return refuse("barrier-between",
                              fmt::format("the barrier on line {} stands between updates of {}",
                                          line(barrier.call), name));
        for (const ExprId use : code_.uses(updates.base)) {
            const bool isUpdate = std::ranges::any_of(updates.sites, [&](const UpdateSite& site) {
                return body_.expr(site.address).span.contains(body_.expr(use).span);
            });
            if (!isUpdate && phase.contains(body_.expr(use).span))
                return refuse("used-beside",
                              fmt::format("{} is also used on line {}", name, line(use)));
        }
        return {};
    }

    [[nodiscard]] Gated<void> sortByAddress(BlockUpdates& updates) const {
        const ContendedUpdates& all = updates.all;
        const StmtId guard =
            updates.earlyReturns.empty() ? noId : updates.earlyReturns.front().guard;
        for (const UpdateSite& site : all.sites) {
            if (!isSameForBlock(context_, all.base, guard, site.address))
                return refuse("addresses-differ",
                              fmt::format("line {} updates several places", line(site.call)));
            const auto same = std::ranges::find_if(updates.targets, [&](const BlockTarget& target) {
                return code_.sameExpression(target.address, site.address);
            });
            if (same == updates.targets.end())
                updates.targets.push_back({site.address, site.fold, site.function, {site}});
            else if (same->function != site.function)
                return mixed(*same, site);
            else
                same->sites.push_back(site);
        }
        if (updates.targets.size() > maxTargets)
            return refuse("many-addresses",
                          fmt::format("{} addresses of {} are updated, which take a register each",
                                      updates.targets.size(), body_.variable(all.base).name));
        KERNELSKILL_CHECK(requireUpdatedTogether(updates));
        for (const BlockTarget& target : updates.targets)
            for (const BlockTarget& other : updates.targets)
                if (target.function != other.function && !areApart(target, other))
                    return mixed(target, other.sites.front());
        updates.mayTouchNothing =
            std::ranges::any_of(updates.targets, [&](const BlockTarget& target) {
                return std::ranges::any_of(code_.expressionsBelow(target.address), [&](ExprId id) {
                    const Expr& at = body_.expr(id);
                    return at.kind == ExprKind::BuiltinIndex ||
                           (at.kind == ExprKind::Variable && at.variable != all.base);
                });
            });
        return {};
    }

    /// Refuses threads that each update one of several addresses: a reduction for each address
    /// costs more than a table.
    [[nodiscard]] Gated<void> requireUpdatedTogether(const BlockUpdates& updates) const {
        const auto blockOf = [&](const UpdateSite& site) {
            const StmtId statement = code_.statement(site.call);
            const StmtId parent = body_.stmt(statement).parent;
            return body_.stmt(parent).kind == StmtKind::Compound ? parent : statement;
        };
        const auto isIn = [&](const BlockTarget& target, StmtId block) {
            return std::ranges::any_of(
                target.sites, [&](const UpdateSite& site) { return blockOf(site) == block; });
        };
        const BlockTarget& first = updates.targets.front();
        const bool areTogether = std::ranges::any_of(first.sites, [&](const UpdateSite& site) {
            return std::ranges::all_of(updates.targets, [&](const BlockTarget& target) {
                return isIn(target, blockOf(site));
            });
        });
        if (areTogether)
            return {};
        return refuse("one-of-several",
                      fmt::format("a thread updates one of {} addresses of {}",
                                  updates.targets.size(), body_.variable(updates.all.base).name));
    }

    [[nodiscard]] std::unexpected<Refusal> mixed(const BlockTarget& target,
                                                 const UpdateSite& other) const {
        return refuse("mixed-operations",
                      fmt::format("one address may be updated by {} on line {} and by {} on line "
                                  "{}",
                                  target.function, line(target.sites.front().call), other.function,
                                  line(other.call)));
    }

    [[nodiscard]] std::optional<IndexExpression> indexOf(const BlockTarget& target) const {
        const auto atomic =
            std::ranges::find(kernel_.atomics, target.sites.front().call, &Atomic::call);
        return kernel_.accesses[atomic->access].index;
    }

    /// Whether the indices differ by a constant.
    [[nodiscard]] bool areApart(const BlockTarget& a, const BlockTarget& b) const {
        const auto first = indexOf(a);
        const auto second = indexOf(b);
        if (!first || !second)
            return false;
        const auto distance = (*first - *second).asConstant();
        return distance && *distance != 0;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

bool BlockUpdates::hasManyWarps() const {
    return !isShared() && launched.most > warpLanes;
}

bool BlockUpdates::areCombined() const {
    return all.scalar == ScalarKind::Int32 || all.scalar == ScalarKind::UInt32;
}

Gated<BlockUpdates> findBlockUpdates(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    const Finder finder(context);
    return chooseUpdates(context, [&](VariableId base) { return finder.study(base); });
}

} // namespace kernelskill::skills
