/// Loops that try a compare-and-swap until no other thread came between.
#pragma once

#include "skills/base/skill.h"

#include <string>

namespace kernelskill::skills {

struct RetryLoop {
    const analysis::KernelModel* function = nullptr; ///< The kernel, or a function that it calls.
    analysis::StmtId loop = analysis::noId;
    std::string atomic; ///< The function that does in one step what the loop tries: "atomicAdd".
    std::string text;   ///< The statement that takes the loop's place.
};

/// Returns the first loop of the kernel, or of the functions of the main file that it calls, that
/// one atomic function replaces. Refuses with `no-retry-loop`, `other-update` or `from-macro`.
[[nodiscard]] Gated<RetryLoop> retryLoop(const SkillContext& context);

} // namespace kernelskill::skills
