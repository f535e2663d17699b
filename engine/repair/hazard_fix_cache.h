/// A cache of hazard fixes that were tried, by the text of their kernel.
#pragma once

#include "engine/findings/profile_cache.h"
#include "engine/repair/hazard_repairer.h"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace kernelskill::engine {

using HazardFixes = std::shared_ptr<const std::vector<HazardFix>>;

/// The key is what the profile depends on, and the exact text of the kernel, because edits refer to
/// it.
[[nodiscard]] std::uint64_t hazardFixKey(KernelRef kernel, const ProfileKey& profile);

/// The begin of a kernel in its file.
struct KernelPlace {
    std::uint32_t offset = 0;
    std::uint32_t line = 0;
};
[[nodiscard]] KernelPlace placeOf(KernelRef kernel);

/// Keeps the latest fixes. Edits, and line numbers in titles, are stored relative to the start of
/// the kernel, so that the kernel may move. Thread-safe.
class HazardFixCache {
public:
    /// Null if no fixes were searched yet.
    [[nodiscard]] HazardFixes find(std::uint64_t key, KernelPlace place);
    void insert(std::uint64_t key, KernelPlace place, std::vector<HazardFix> fixes);

private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::vector<HazardFix>> entries_;
    std::list<std::uint64_t> order_; ///< Oldest first.
};

} // namespace kernelskill::engine
