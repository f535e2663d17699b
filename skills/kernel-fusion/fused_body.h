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
    SharedReturn, ///< They follow its early return, which the consumer's own would repeat.
    SharedGuard,  ///< They stand in its last `if`, whose condition the consumer's repeats.
    Guarded,      ///< They follow, and early returns of the producer become guards.
};

/// Where the consumer's part begins and what is left out of it.
struct FusedBody {
    BodyJoint joint = BodyJoint::Appended;
    std::vector<analysis::StmtId> returns;   ///< The producer's `if (...) return;`, in order.
    analysis::StmtId guard = analysis::noId; ///< The producer's last `if`, of SharedGuard.
    analysis::StmtId repeatedGuard = analysis::noId; ///< The consumer's that repeats it.
};

/// Refuses with `early-exit` where the producer returns elsewhere than from its own level.
[[nodiscard]] Gated<FusedBody> fusedBody(const SkillContext& context, const LaunchPair& pair,
                                         const FusedNames& names);

/// The head's text must serve both. Refuses with `heads-differ` or `scopes-differ`.
[[nodiscard]] Gated<const analysis::KernelModel*> headOf(const SkillContext& context,
                                                         const LaunchPair& pair);

} // namespace kernelskill::skills
