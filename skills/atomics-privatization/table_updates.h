/// Finds atomics through which many threads update the same few elements of global memory.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/editing/early_return.h"
#include "skills/gates/contended_updates.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/update_gates.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// An update whose index may lie outside of the table. It goes to global memory then.
struct OpenUpdate {
    analysis::ExprId call = analysis::noId;
    analysis::ExprId index = analysis::noId;
};

/// A block's own table in shared memory, for every element that the updates can reach, those of
/// `open` excepted.
struct PrivateTable {
    std::int64_t entries = 0;
    std::string extent; ///< The extent to declare: a name in the user's code, or a number.
    std::string
        limit; ///< The bound of loops over it: `extent`, or a parameter that is at most that.
    std::vector<OpenUpdate>
        open; ///< Sorted as in the source. If there are any, `limit` is `extent`.
};

/// The updates of one array, all by the same atomic.
struct TableUpdates : ContendedUpdates {
    FoldKind fold = FoldKind::Sum;
    std::string function; ///< "atomicAdd"
    PrivateTable table;
    std::vector<EarlyReturn> earlyReturns;
    /// Set if each thread handles one element and can loop over several. Then a block makes more
    /// updates for one table, and the grid shrinks by that factor.
    std::optional<ElementwiseKernel> elementwise;
    LaunchedThreads launched;
};

/// Returns how many updates the largest block makes after the edit, if no loop repeats them.
[[nodiscard]] std::int64_t updatesOfBlock(const TableUpdates& updates, int elementsPerThread);

/// Finds the updates at the cursor, else the first that fit. Refuses with the first gate that does
/// not hold, e.g. `no-atomic`, `one-address`, `lanes-apart`, `unknown-table-size`.
[[nodiscard]] Gated<TableUpdates> findTableUpdates(const SkillContext& context,
                                                   const analysis::CodeMap& code);

} // namespace kernelskill::skills
