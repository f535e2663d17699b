/// Staged loops whose tiles the hardware can copy by itself: each element as it is, or zero.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/staged_loop.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// `tile[y][x] = in[i];` or `tile[y][x] = i < n ? in[i] : 0;`
struct CopiedElement {
    analysis::StmtId statement = analysis::noId;
    analysis::ExprId target = analysis::noId;
    /// The element in global memory, or the pointer to it.
    analysis::ExprId source = analysis::noId;
    bool isPointer = false;
    analysis::ExprId condition = analysis::noId; ///< Where it does not hold the element is zero.
    std::string type; ///< A type of 4, 8 or 16 bytes, aligned to its size.
};

struct CopiedTiles {
    StagedLoop staged;
    std::vector<CopiedElement> elements;
    std::vector<analysis::VariableId> arrays; ///< The arrays that they are copied to, each once.
    /// The size of all arrays; nullopt if an extent is a template parameter.
    std::optional<std::uint64_t> bytes;
};

/// Finds the loop at the cursor, else the first that fits. Refuses with the first gate that does
/// not hold: those of readStagedLoop(), or e.g. `element-size`, `not-a-copy`, `tile-used-outside`.
[[nodiscard]] Gated<CopiedTiles> findCopiedTiles(const SkillContext& context,
                                                 const analysis::CodeMap& code);

} // namespace kernelskill::skills
