/// Two launches of a host function that one launch of one kernel could do.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// Statements of one block, `between` them only waits, checks for errors and locals with plain
/// values. Both launches have one grid, block, stream and size of shared memory.
struct LaunchPair {
    std::uint32_t host = analysis::noId;         ///< Index into FileModel::hostFunctions.
    const analysis::LaunchSite* first = nullptr; ///< The launches and kernels live in the file.
    const analysis::LaunchSite* second = nullptr;
    const analysis::KernelModel* producer = nullptr;
    const analysis::KernelModel* consumer = nullptr;
    analysis::StmtId firstStatement = analysis::noId;
    analysis::StmtId secondStatement = analysis::noId;
    /// The checks in between that follow the second launch as well.
    std::vector<analysis::StmtId> repeated;
    /// The one launch stands where the second one did: that names a local which is declared in
    /// between, or comes behind a wait, which other streams may need.
    bool isAtSecond = false;
};

enum class Neighbour : std::uint8_t { Behind, Before };

/// The launch and its neighbour. Refuses with `no-neighbour`, `host-work-between`,
/// `waits-between`, `argument-acts`, `other-configuration`, `shared-memory-size`, and what
/// requireEditableLaunch() refuses.
[[nodiscard]] Gated<LaunchPair> pairWith(const SkillContext& context,
                                         const analysis::LaunchSite& launch, Neighbour neighbour);

} // namespace kernelskill::skills
