/// Fixes of hazards that were run, by the text of the kernel that they are for.
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

/// What fixes of a kernel depend on: all that its profile does, and its own text to the byte,
/// which their edits refer to.
[[nodiscard]] std::uint64_t hazardFixKey(KernelRef kernel, const ProfileKey& profile);

/// Where a kernel begins in its file.
struct KernelPlace {
    std::uint32_t offset = 0;
    std::uint32_t line = 0;
};
[[nodiscard]] KernelPlace placeOf(KernelRef kernel);

/// Keeps the latest. Edits, and the lines that titles name, are kept relative to the start of the
/// kernel, so that the kernel may move. Thread-safe.
class HazardFixCache {
public:
    /// Null when nobody has looked for fixes yet.
    [[nodiscard]] HazardFixes find(std::uint64_t key, KernelPlace place);
    void insert(std::uint64_t key, KernelPlace place, std::vector<HazardFix> fixes);

private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::vector<HazardFix>> entries_;
    std::list<std::uint64_t> order_; ///< Oldest first.
};

} // namespace kernelskill::engine
