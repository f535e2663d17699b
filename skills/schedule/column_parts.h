/// Kernels whose threads each work along a column, where several threads of a block can share one.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"
#include "skills/schedule/shared_loops.h"
#include "skills/schedule/split_guard.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

struct ColumnParts {
    SharedLoops shared;
    std::uint8_t axis = 1;               ///< Of a block: the threads of a column lie along it.
    analysis::Extents block{1, 1, 1};    ///< As launched.
    bool canNarrow = false;              ///< The kernel does the same with any block along x.
    std::optional<std::int64_t> threads; ///< Of the smallest launch; nullopt: one is not known.
    std::optional<SplitGuard> guard;     ///< nullopt: barriers may stand where the loops do.

    /// Columns of a block along x.
    [[nodiscard]] std::int64_t columns() const;
    /// Threads that a block has for one part of its columns.
    [[nodiscard]] std::int64_t threadsOfPart() const;
};

/// Refuses with `no-free-axis`, `redundant-threads`, `blocks-differ`, `launch-block`,
/// `uncoalesced`, `unshared-work`, `row-memory`, `guard`, `declaration`, or what
/// requireThreadsApart(), sharedLoops() and requireCountableGrids() refuse with.
[[nodiscard]] Gated<ColumnParts> columnParts(const SkillContext& context);

} // namespace kernelskill::skills
