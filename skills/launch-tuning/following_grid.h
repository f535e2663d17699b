/// Blocks that are changed where they are defined, with grids whose formulas follow.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"
#include "skills/schedule/grid_axes.h"

#include <optional>
#include <vector>

namespace kernelskill::skills {

/// The edits that give all launches blocks of `to` instead of `from` threads, by changing the
/// numbers that the blocks are made of, and those that stand for them in the grids. nullopt where
/// these are not plain numbers or names of numbers, where something else depends on them, or where
/// a grid is not the number of elements over the block, rounded up, of at least as many elements
/// as the kernel limits its threads to.
[[nodiscard]] std::optional<std::vector<analysis::TextEdit>>
editsOfDefinitions(const SkillContext& context, const GridAxes& axes, const analysis::Extents& from,
                   const analysis::Extents& to);

} // namespace kernelskill::skills
