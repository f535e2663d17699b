/// Copies the next tile into a second buffer of shared memory, past the registers, while the one
/// that is there is used.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeAsyncCopy();

} // namespace kernelskill::skills
