/// Pairs of shared arrays of which one is done with before the other is begun.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <string>

namespace kernelskill::skills {

struct ReusableArrays {
    analysis::VariableId kept = analysis::noId;    ///< The larger one; both lie in its memory.
    analysis::VariableId placed = analysis::noId;  ///< Becomes a reference into the other.
    analysis::VariableId earlier = analysis::noId; ///< The one of the two that is used first.
    analysis::StmtId keptDeclaration = analysis::noId;
    analysis::StmtId placedDeclaration = analysis::noId;
    std::uint64_t savedBytes = 0;
    /// The first statement that uses the later array, where no barrier stands before it yet;
    /// else noId.
    analysis::StmtId needsBarrierBefore = analysis::noId;
    std::string elementType; ///< As written.
    std::string extents;     ///< The extents of the placed one as written, e.g. "[32][33]".
};

/// The pair that saves most. All uses of one array stand in statements of the kernel's outermost
/// block that are before those with uses of the other; between them all threads meet, or can. Both
/// have elements of one type, and nothing keeps a pointer into either. Refuses with
/// `one-shared-array`, or with what speaks against the first pair: `element-types-differ`,
/// `pointer-kept`, `used-together`, `early-exit`, `several-declarations`,
/// `several-statements-a-line`.
[[nodiscard]] Gated<ReusableArrays> findReusableArrays(const SkillContext& context,
                                                       const analysis::CodeMap& code);

} // namespace kernelskill::skills
