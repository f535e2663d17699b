/// Every skill there is, in one list.
#pragma once

#include "skills/base/skill.h"

#include <memory>
#include <vector>

namespace kernelskill::skills {

/// The skills of skills/CMakeLists.txt, in the order of its lines, which is that of the menus.
[[nodiscard]] std::vector<std::unique_ptr<Skill>> makeCatalogue();

} // namespace kernelskill::skills
