/// Finds atomics through which many threads update the same few places of global memory.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/atomics-privatization/early_return.h"
#include "skills/base/skill.h"
#include "skills/gates/elementwise_kernel.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

enum class UpdateOperation : std::uint8_t { Sum, Minimum, Maximum, BitAnd, BitOr, BitXor };

/// `atomicAdd(address, value);`, a statement of its own.
struct UpdateSite {
    analysis::ExprId call = analysis::noId;
    analysis::ExprId address = analysis::noId;
    analysis::ExprId value = analysis::noId;
    analysis::StmtId outermost =
        analysis::noId; ///< The statement of the kernel's own block that holds it.
};

/// How many elements the updates can reach.
struct PrivateTable {
    std::int64_t entries = 0;
    std::string extent; ///< For the declaration: a name of the user's, or a number.
    std::string limit;  ///< For loops over the table: may be a parameter that is no more than that.
};

/// All updates of one variable, or of what one pointer points to.
struct ContendedUpdates {
    analysis::VariableId base = analysis::noId;
    UpdateOperation operation = UpdateOperation::Sum;
    std::string function; ///< "atomicAdd"
    std::string element;  ///< "unsigned int"
    analysis::ScalarKind scalar = analysis::ScalarKind::Unknown;
    std::vector<UpdateSite> sites;     ///< In the order of the source.
    std::optional<PrivateTable> table; ///< nullopt: all update one element, at the same address.
    std::optional<EarlyReturn> earlyReturn;
    /// Set where each thread has one element and can be given several, so that a block has more
    /// updates for one table. The grid becomes so many times smaller: elementsPerThread.
    std::optional<ElementwiseKernel> elementwise;
    bool isFlatBlock = false;     ///< Every launch has one-dimensional blocks.
    std::int64_t threads = 0;     ///< The threads of the largest block launched; 0: not known.
    bool isRepeated = false;      ///< A thread may update more than once.
    bool mayTouchNothing = false; ///< A block may have no update, and the address depends on it.
};

inline constexpr int elementsPerThread = 8;

/// That a block makes after the edit, where no loop repeats them.
[[nodiscard]] std::int64_t updatesOfBlock(const ContendedUpdates& updates);

/// The updates at the cursor, else the first that fit. Refuses with the first gate that does not
/// hold, e.g. `no-atomic`, `result-used`, `one-thread-updates`, `lanes-apart`,
/// `unknown-table-size`.
[[nodiscard]] Gated<ContendedUpdates> findContendedUpdates(const SkillContext& context,
                                                           const analysis::CodeMap& code);

} // namespace kernelskill::skills
