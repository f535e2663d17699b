/// The text of a fused kernel: the producer's, with the consumer's work behind its own.
#pragma once

#include "skills/base/skill.h"
#include "skills/kernel-fusion/fused_body.h"
#include "skills/kernel-fusion/fused_names.h"
#include "skills/kernel-fusion/launch_pair.h"

#include <string>

namespace kernelskill::skills {

/// Returns the definition of the fused kernel, indented as the producer's, without a line end.
[[nodiscard]] std::string fusedText(const SkillContext& context, const LaunchPair& pair,
                                    const FusedNames& names, const FusedBody& body,
                                    const analysis::KernelModel& head);

} // namespace kernelskill::skills
