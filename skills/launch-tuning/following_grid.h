/// Changes blocks where they are defined, where the grid follows by its formula.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"
#include "skills/launch-tuning/grid_axes.h"

#include <optional>
#include <vector>

namespace kernelskill::skills {

/// Returns edits that give all launches blocks of `to` instead of `from` threads. They change the
/// numbers that define the blocks, and those that repeat them in the grids. nullopt
/// - where one of these is no plain number or name of a number, or something else depends on it,
/// - where a grid is not the number of elements over the block, rounded up,
/// - where there are fewer elements than the bound that guards the kernel's accesses.
[[nodiscard]] std::optional<std::vector<analysis::TextEdit>>
editsOfDefinitions(const SkillContext& context, const GridAxes& axes, const analysis::Extents& from,
                   const analysis::Extents& to);

} // namespace kernelskill::skills
