/// A parameter that tells a kernel how many blocks its launch had before an edit gave it another
/// grid.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Refuses unless every launch can be given another grid, and one more argument that repeats an
/// extent of its old grid: `declared-before`, `grid-has-effect`, `default-argument`, or what
/// requireResizableGrids() refuses with.
[[nodiscard]] Gated<void> requirePassableGrids(const SkillContext& context);

/// The launch's blocks along `axis` as its text has them: `grid.x`, `(n + 255) / 256`. "1" where it
/// does not name that axis.
[[nodiscard]] std::string blocksText(const SkillContext& context,
                                     const analysis::LaunchSite& launch, std::uint8_t axis);

/// A parameter that is the old number of blocks along an axis.
struct BlockCount {
    std::uint8_t axis = 0;
    std::string name;
};

/// The parameters `unsigned int name` behind the others, and the arguments of each launch. Needs
/// requirePassableGrids().
[[nodiscard]] std::vector<analysis::TextEdit>
passedBlockCounts(const SkillContext& context, const std::vector<BlockCount>& counts);

} // namespace kernelskill::skills
