/// Whether each thread of a kernel may do its work right after the same thread's work in another
/// one: what they share is the thread's own.
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
    /// The bytes that a thread moves in both, and in one kernel; nullopt: loops or data decide.
    std::optional<double> bytesBefore;
    double bytesAfter = 0;
};

/// Holds if no thread touches what another thread of the other kernel writes. Refuses with
/// `reads-other-threads`, `may-alias`, `unknown-effects`, `redundant-threads` or `many-accesses`.
[[nodiscard]] Gated<SharedWork> requireOwnElements(const SkillContext& context,
                                                   const LaunchPair& pair);

} // namespace kernelskill::skills
