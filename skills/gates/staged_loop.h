/// Finds loops that stage a tile in shared memory, wait for it and use it, round by round.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// `tile[y][x] = in[...];`: what each thread copies into shared memory.
struct StagedElement {
    analysis::StmtId statement = analysis::noId;
    analysis::ExprId value = analysis::noId; ///< The right side.
    std::string array;                       ///< Name of the shared array.
    std::string type;                        ///< The type of its elements.
};

struct StagedLoop {
    CountedLoop counted;
    std::vector<StagedElement> elements; ///< At least one, in the order of the source.
    /// Declarations ahead of them that their values follow from.
    std::vector<analysis::StmtId> declarations;
    analysis::StmtId barrier = analysis::noId; ///< The statement after which the tile is used.
    std::vector<analysis::StmtId> use;         ///< The statements that follow it in a round.
};

/// Reads the loop of that index. Refuses with the first gate that does not hold, e.g.
/// `not-counted-up`, `no-barrier`, `nothing-staged`, `may-alias`, `early-exit`.
[[nodiscard]] Gated<StagedLoop> readStagedLoop(const SkillContext& context,
                                               const analysis::CodeMap& code, std::uint32_t loop);

} // namespace kernelskill::skills
