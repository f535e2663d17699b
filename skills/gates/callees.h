/// The device functions that a kernel leads to.
#pragma once

#include "skills/base/skill.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A function that the kernel calls, directly or through others, for which `holds` is true or whose
/// body is not known; nullopt if there is none.
[[nodiscard]] std::optional<std::string>
calleeThat(const SkillContext& context,
           const std::function<bool(const analysis::KernelModel&)>& holds);

/// The functions that the kernel calls, directly or through others, whose text an edit may change:
/// they stand in the kernel's file, and no macro writes them. Each comes once, in the order of the
/// first calls.
[[nodiscard]] std::vector<const analysis::KernelModel*>
editableCallees(const SkillContext& context);

} // namespace kernelskill::skills
