/// Kernels whose threads each copy or map one element, in whatever style.
#pragma once

#include "skills/base/skill.h"
#include "skills/shared-memory-transpose/position_digits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// One of the conditions that all have to hold for an element to be copied.
struct CopyClause {
    analysis::ExprId condition = analysis::noId;
    bool isNegated = false; ///< The condition of an early return, which must not hold.
    bool isImplied = false; ///< It holds for all elements of all tiles.
};

/// `out[...] = value;`
struct CopyStore {
    analysis::StmtId statement = analysis::noId;
    analysis::ExprId target = analysis::noId;
    analysis::ExprId value = analysis::noId;
    std::string op;
};

/// A loop over elements of a thread, which becomes an axis of the grid: `for (int i = 0; i < n;
/// ++i)`, with a limit that launches can tell.
struct CopyLoop {
    analysis::VariableId index = analysis::noId;
    analysis::ExprId limit = analysis::noId;
    std::uint8_t axis = 0; ///< Along it the kernel has no position, and launches one thread.
};

/// A thread's work on its element.
struct CopyElement {
    std::vector<analysis::StmtId> statements; ///< In order.
    std::vector<CopyClause> guard;
    std::vector<CopyStore> stores;                 ///< At least one.
    analysis::VariableId strided = analysis::noId; ///< The variable of a grid-stride loop.
    std::optional<CopyLoop> loop;
};

/// Reads the kernel's statements into `digits` on the way. Refuses with `from-macro`, `loop` or
/// `other-shape`.
[[nodiscard]] Gated<CopyElement> copiedElement(const SkillContext& context, PositionDigits& digits);

} // namespace kernelskill::skills
