/// Finds branches that every m-th thread of a block takes: `if (tid % m == 0)`.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct StridedBranch {
    analysis::StmtId branch = analysis::noId;
    analysis::ExprId test = analysis::noId;   ///< `tid % m == 0`, maybe one of several conditions.
    analysis::ExprId thread = analysis::noId; ///< `tid` in it.
    std::string stride;                       ///< `m`, in brackets where it needs them.
    std::optional<std::int64_t> constantStride;
    /// Further places of the branch that name the thread's index.
    std::vector<analysis::ExprId> threads;
};

/// The branch at the cursor, else the first that fits. Refuses with the first gate that does not
/// hold, e.g. `no-strided-branch`, `uses-thread-value`, `no-barrier-around`, `unknown-stride`.
[[nodiscard]] Gated<StridedBranch> findStridedBranch(const SkillContext& context,
                                                     const analysis::CodeMap& code);

} // namespace kernelskill::skills
