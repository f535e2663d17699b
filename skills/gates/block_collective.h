/// Gates of loops in which all threads of a block work on an array in shared memory together.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// The number of threads that a loop spans: blockDim.x, a constant, or what each launch passes as a
/// template argument or a parameter.
struct SpannedThreads {
    std::optional<std::int64_t> constant;
    analysis::VariableId variable = analysis::noId; ///< The parameter, of either kind.

    [[nodiscard]] bool isBlockDim() const { return !constant && variable == analysis::noId; }
};
/// nullopt if `threads` is none of these.
[[nodiscard]] std::optional<SpannedThreads>
spannedThreads(const analysis::CodeMap& code, const analysis::IndexExpression& threads);

/// Whether warps can exchange values of `type` by shuffles, which move 4 and 8 bytes: narrower ones
/// would be promoted on the way.
[[nodiscard]] bool canShuffle(const analysis::Type& type);

/// Whether the statement is a barrier of the block: __syncthreads(), or a group's sync().
[[nodiscard]] bool isBlockBarrier(const analysis::KernelModel& kernel, analysis::StmtId statement);

/// Refuses with `no-barrier` a kernel in which the threads of a block, or a warp, never meet.
[[nodiscard]] Gated<void> requireBarriers(const SkillContext& context);

enum class WarpCount : std::uint8_t { Any, PowerOfTwo };

/// Refuses unless every launch in the file has one-dimensional blocks of whole warps, whose threads
/// `span` counts: `no-launch`, `unknown-block`, `two-dimensional`, `partial-warps`,
/// `unknown-extent`, `extent-not-block`, and what requireKnownLaunches() refuses.
[[nodiscard]] Gated<void> requireWholeWarps(const SkillContext& context, const SpannedThreads& span,
                                            WarpCount count);

/// Refuses unless every launch in the file has one-dimensional blocks of a power of two, however
/// small, whose threads `span` counts: `no-launch`, `unknown-block`, `two-dimensional`,
/// `no-power-of-two`, `unknown-extent`, `extent-not-block`, and what requireKnownLaunches()
/// refuses.
[[nodiscard]] Gated<void> requirePowerOfTwo(const SkillContext& context,
                                            const SpannedThreads& span);

/// The axes of threadIdx that a thread's lane depends on.
enum class LaneForm : std::uint8_t { AlongX, TwoAxes, ThreeAxes };

/// Returns the form that is right for every launch in the file. Refuses with `partial-warps` unless
/// all blocks consist of whole warps; `no-launch`, `unknown-block`, and what requireKnownLaunches()
/// refuses.
[[nodiscard]] Gated<LaneForm> requireLanes(const SkillContext& context);

/// Refuses unless every thread of a block comes to the barriers of `loop`: `divergent-branch`,
/// `early-return`.
[[nodiscard]] Gated<void> requireAllThreads(const SkillContext& context,
                                            const analysis::CodeMap& code, analysis::StmtId loop);

} // namespace kernelskill::skills
