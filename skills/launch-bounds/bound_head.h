/// The head of a kernel with a bound in it.
#pragma once

#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Puts `bound` before the kernel's name: on the same line if the file has lines that wide, and
/// with the parameters below still in line.
[[nodiscard]] std::vector<analysis::TextEdit> boundHead(const SkillContext& context,
                                                        const std::string& bound);

} // namespace kernelskill::skills
