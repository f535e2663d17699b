/// Every skill there is, in one list.
#pragma once

#include "skills/skill.h"

#include <memory>
#include <vector>

namespace kernelskill::skills {

/// In the order they are shown. To add a skill: its folder, and one line in catalogue.cpp.
[[nodiscard]] std::vector<std::unique_ptr<Skill>> makeCatalogue();

} // namespace kernelskill::skills
