#include "engine/hazard_fix_cache.h"

#include "engine/text_hash.h"

#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t mostEntries = 64;

/// `fixes` with every edit moved; unsigned arithmetic makes the way back the negative distance.
std::vector<HazardFix> moved(std::vector<HazardFix> fixes, std::uint32_t distance) {
    for (HazardFix& fix : fixes) {
        for (analysis::TextEdit& edit : fix.edits) {
            edit.span.begin += distance;
            edit.span.end += distance;
        }
    }
    return fixes;
}

} // namespace

std::uint64_t hazardFixKey(const ProgramSource& program, const analysis::KernelModel& kernel,
                           const ProfileKey& profile) {
    TextHash hash;
    hash.add(profile.hash);
    // A title may name a line.
    for (const FunctionPlace& place : profile.places)
        hash.add(place.firstLine);
    if (program.model->source)
        hash.add(program.model->source->slice(kernel.span));
    return hash.value();
}

HazardFixes HazardFixCache::find(std::uint64_t key, const analysis::KernelModel& kernel) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end())
        return nullptr;
    return std::make_shared<const std::vector<HazardFix>>(moved(found->second, kernel.span.begin));
}

void HazardFixCache::insert(std::uint64_t key, const analysis::KernelModel& kernel,
                            std::vector<HazardFix> fixes) {
    const std::scoped_lock lock(mutex_);
    if (!entries_.insert_or_assign(key, moved(std::move(fixes), 0u - kernel.span.begin)).second)
        return;
    order_.push_back(key);
    if (order_.size() > mostEntries) {
        entries_.erase(order_.front());
        order_.pop_front();
    }
}

} // namespace kernelskill::engine
