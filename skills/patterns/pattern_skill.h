/// A skill made of patterns instead of C++.
#pragma once

#include "skills/base/skill.h"
#include "skills/patterns/code_pattern.h"

#include <memory>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Offered inside a kernel of the main file: on a match at the cursor that match, on the kernel's
/// head or the whole kernel every match. Refuses with `no-match`, or the gates of every skill.
/// Offer::option is the number of the pattern, of which the first that matches is taken.
[[nodiscard]] std::unique_ptr<Skill> makePatternSkill(std::string id, std::string title,
                                                      std::vector<CodePattern> patterns);

} // namespace kernelskill::skills
