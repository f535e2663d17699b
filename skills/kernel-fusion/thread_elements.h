/// Whether each thread can do its work in one kernel right after its work in another: no other
/// thread uses the elements that both kernels have in common.
#pragma once

#include "skills/base/skill.h"
#include "skills/kernel-fusion/launch_pair.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct SharedWork {
    std::vector<std::string> passed; ///< Arrays that the first writes and the second reads.
    std::vector<std::string> reread; ///< Arrays that both read at the same place.
    /// The bytes that a thread moves in the two kernels; nullopt: loops or data decide.
    std::optional<double> bytesBefore;
    double bytesAfter = 0; ///< The bytes that it moves in the fused kernel, if that is known.
};

/// Requires that no thread touches what another thread writes in the other kernel. Refuses with
/// `reads-other-threads`, `may-alias`, `unknown-effects`, `redundant-threads` or `many-accesses`.
[[nodiscard]] Gated<SharedWork> requireOwnElements(const SkillContext& context,
                                                   const LaunchPair& pair);

} // namespace kernelskill::skills
