/// How the bodies of two kernels become that of one.
#pragma once

#include "skills/base/skill.h"
#include "skills/kernel-fusion/fused_names.h"
#include "skills/kernel-fusion/launch_pair.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// How the two bodies become one.
enum class BodyJoint : std::uint8_t {
    Appended,     ///< The consumer's statements follow those of the producer.
    SharedReturn, ///< They follow its early return, which the consumer need not repeat.
    SharedGuard,  ///< They stand in its last `if`, which has the condition of the consumer's only
                  ///< one.
    Guarded,      ///< They follow, and early returns of the producer become guards.
};

/// Where the consumer's part begins and what is left out of it.
struct FusedBody {
    BodyJoint joint = BodyJoint::Appended;
    std::vector<analysis::StmtId> returns;   ///< Each `if (...) return;` of the producer, in order.
    analysis::StmtId guard = analysis::noId; ///< The producer's last `if`, of SharedGuard.
    analysis::StmtId repeatedGuard = analysis::noId; ///< The consumer's `if` that goes.
};

/// Decides how the bodies are joined. Refuses with `early-exit` where the producer returns from
/// within other code than an `if` of its outermost block, or where threads that return early would
/// be missing at its barriers.
[[nodiscard]] Gated<FusedBody> fusedBody(const SkillContext& context, const LaunchPair& pair,
                                         const FusedNames& names);

/// Returns the kernel whose head, which is all before its name, can be that of the fused kernel.
/// Refuses with `heads-differ` or `scopes-differ`.
[[nodiscard]] Gated<const analysis::KernelModel*> headOf(const SkillContext& context,
                                                         const LaunchPair& pair);

} // namespace kernelskill::skills
