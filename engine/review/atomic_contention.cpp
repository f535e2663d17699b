#include "engine/review/atomic_contention.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr const char* contentionCheck = "atomics meet";
constexpr std::string_view ofBlock = "_block";

/// Object and name of the function.
using Update = std::pair<std::string, std::string>;

struct Uses {
    int count = 0;
    bool isAnywhere = false; ///< One of them is at a place that data may decide.
    bool isShared = false;
};

/// Whether the place follows from the block as well as from the thread.
bool isOfOneBlock(analysis::MemorySpace space, const analysis::IndexExpression& index) {
    return space == analysis::MemorySpace::Shared ||
           std::ranges::any_of(std::array{0u, 1u, 2u}, [&](std::uint32_t axis) {
               return index.dependsOn({analysis::SymbolKind::BlockIdx, axis});
           });
}

void addUses(const analysis::KernelModel& function, bool isKernel, std::map<Update, Uses>& uses) {
    for (const analysis::Atomic& atomic : function.atomics) {
        if (atomic.access >= function.accesses.size())
            continue;
        const analysis::MemoryAccess& access = function.accesses[atomic.access];
        std::string object;
        // A function's parameter points to other objects for other callers.
        if (access.base != analysis::noId &&
            (isKernel ||
             function.body.variable(access.base).storage != analysis::Storage::Parameter))
            object = function.body.variable(access.base).name;
        Uses& found = uses[{std::move(object), function.body.expr(atomic.call).name}];
        ++found.count;
        found.isAnywhere |= !access.index || access.index->hasOpaque() ||
                            !isOfOneBlock(access.space, *access.index);
        found.isShared |= access.space == analysis::MemorySpace::Shared;
    }
}

std::map<Update, Uses> usesIn(KernelRef subject) {
    std::map<Update, Uses> uses;
    addUses(subject.kernel, true, uses);
    for (const analysis::KernelModel& function : subject.file().deviceFunctions) {
        if (std::ranges::find(subject.kernel.calls, function.qualifiedName) !=
            subject.kernel.calls.end())
            addUses(function, false, uses);
    }
    return uses;
}

} // namespace

AtomicContention::AtomicContention(KernelRef original, KernelRef candidate) {
    const auto before = usesIn(original);
    const auto after = usesIn(candidate);
    const auto countOf = [](const std::map<Update, Uses>& uses, const Update& update) {
        const auto found = uses.find(update);
        return found == uses.end() ? 0 : found->second.count;
    };
    for (const auto& [update, uses] : before) {
        const auto& [object, call] = update;
        if (!uses.isAnywhere || countOf(after, update) >= uses.count)
            continue;
        const Update narrowed{object, call + std::string(ofBlock)};
        lost_.push_back(
            {object, call, !uses.isShared && countOf(after, narrowed) > countOf(before, narrowed)});
    }
}

void AtomicContention::add(const std::vector<Contention>& seen) {
    seen_.insert(seen_.end(), seen.begin(), seen.end());
    // A review has many runs of few objects.
    std::ranges::sort(seen_, {},
                      [](const Contention& one) { return std::pair(one.object, one.amongBlocks); });
    const auto rest = std::ranges::unique(seen_);
    seen_.erase(rest.begin(), rest.end());
}

CheckResult AtomicContention::check() const {
    for (const Lost& lost : lost_) {
        const bool met = std::ranges::any_of(seen_, [&](const Contention& seen) {
            return (lost.object.empty() || seen.object == lost.object) &&
                   (seen.amongBlocks || !lost.isNarrowed);
        });
        if (met)
            continue;
        const std::string object = lost.object.empty() ? "memory" : "'" + lost.object + "'";
        return invalid(
            contentionCheck,
            fmt::format("the edit {} '{}' on {}, but no two {} updated one element of it in any "
                        "run, so the runs do not show that it is not needed",
                        lost.isNarrowed ? "narrows" : "removes", lost.call, object,
                        lost.isNarrowed ? "blocks" : "threads"),
            {.stage = ReviewStage::Reach});
    }
    return held(contentionCheck);
}

} // namespace kernelskill::engine
