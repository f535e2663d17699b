/// Loads the next tile into registers while the one in shared memory is used.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeSoftwarePrefetch();

} // namespace kernelskill::skills
