/// Finds atomics through which many threads update the same few elements of global memory.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/schedule/contended_updates.h"
#include "skills/schedule/early_return.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// How many elements the updates can reach.
struct PrivateTable {
    std::int64_t entries = 0;
    std::string extent; ///< For the declaration: a name of the user's, or a number.
    std::string limit;  ///< For loops over the table: may be a parameter that is no more than that.
};

/// Updates of one table, all of one kind.
struct TableUpdates : ContendedUpdates {
    UpdateOperation operation = UpdateOperation::Sum;
    std::string function; ///< "atomicAdd"
    PrivateTable table;
    std::vector<EarlyReturn> earlyReturns;
    /// Set where each thread has one element and can be given several, so that a block has more
    /// updates for one table. The grid becomes so many times smaller: elementsPerThread.
    std::optional<ElementwiseKernel> elementwise;
    LaunchedThreads launched;
};

inline constexpr int elementsPerThread = 8;

/// That a block makes after the edit, where no loop repeats them.
[[nodiscard]] std::int64_t updatesOfBlock(const TableUpdates& updates);

/// The updates at the cursor, else the first that fit. Refuses with the first gate that does not
/// hold, e.g. `no-atomic`, `one-address`, `lanes-apart`, `unknown-table-size`.
[[nodiscard]] Gated<TableUpdates> findTableUpdates(const SkillContext& context,
                                                   const analysis::CodeMap& code);

} // namespace kernelskill::skills
