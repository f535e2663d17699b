/// Updates a private copy in each block, and global memory once a block.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeAtomicsPrivatization();

} // namespace kernelskill::skills
