/// Two neighbouring launches of a host function that one launch could replace.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// Two launches with the same grid, block, stream and size of shared memory. They are statements of
/// one block, with nothing between them but waits, checks for errors and locals with plain values.
struct LaunchPair {
    std::uint32_t host = analysis::noId;         ///< Index into FileModel::hostFunctions.
    const analysis::LaunchSite* first = nullptr; ///< The launches and kernels live in the file.
    const analysis::LaunchSite* second = nullptr;
    const analysis::KernelModel* producer = nullptr;
    const analysis::KernelModel* consumer = nullptr;
    analysis::StmtId firstStatement = analysis::noId;
    analysis::StmtId secondStatement = analysis::noId;
    /// The checks for errors between them that stand behind the second launch as well.
    std::vector<analysis::StmtId> repeated;
    /// The fused launch takes the place of the second one: that one names a local that is declared
    /// in between, or there is a wait in between, which may be meant for work of other streams.
    bool isAtSecond = false;
};

enum class Neighbour : std::uint8_t { Behind, Before };

/// Returns the launch with its neighbour on that side. Refuses with `no-neighbour`,
/// `host-work-between`, `waits-between`, `argument-acts`, `other-configuration`,
/// `shared-memory-size`, and what requireEditableLaunch() refuses.
[[nodiscard]] Gated<LaunchPair> pairWith(const SkillContext& context,
                                         const analysis::LaunchSite& launch, Neighbour neighbour);

} // namespace kernelskill::skills
