/// A loop that a `#pragma unroll` has written out several times, and the place of its factor.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>

namespace kernelskill::skills {

struct UnrolledLoop {
    std::uint32_t loop = analysis::noId; ///< Index into KernelModel::loops.
    std::int64_t rounds = 0;             ///< Side by side in the code.
    bool isComplete = false;             ///< Nothing is left of the loop.
    std::size_t size = 0;                ///< Expressions, all rounds together.
    analysis::Span factor; ///< The place in the pragma from behind `unroll` to behind the number.
};

/// The loop at the cursor, else the one that makes most code. Refuses with `no-unrolled-loop`, and
/// for a loop whose pragma is not to be changed with `factor-not-literal`, `unknown-rounds`,
/// `few-rounds` or, where fewer rounds would put an array of the thread's own into memory,
/// `indexes-registers`.
[[nodiscard]] Gated<UnrolledLoop> findUnrolledLoop(const SkillContext& context,
                                                   const analysis::CodeMap& code);

} // namespace kernelskill::skills
