/// The device functions that a kernel leads to.
#pragma once

#include "skills/base/skill.h"

#include <functional>
#include <optional>
#include <string>

namespace kernelskill::skills {

/// A function that the kernel calls, directly or through others, for which `holds` is true or whose
/// body is not known; nullopt if there is none.
[[nodiscard]] std::optional<std::string>
calleeThat(const SkillContext& context,
           const std::function<bool(const analysis::KernelModel&)>& holds);

} // namespace kernelskill::skills
