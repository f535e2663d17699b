/// Gates that every skill shares, and the shape of a refusal.
#pragma once

#include "skills/base/skill.h"

#include <expected>
#include <string>
#include <string_view>

namespace kernelskill::skills {

[[nodiscard]] std::unexpected<Refusal> refuse(std::string gate, std::string reason);

/// 1-based line of `offset`, as editors show it.
[[nodiscard]] std::uint32_t lineNumber(const SkillContext& context, std::uint32_t offset);

/// "line 31", or "line 31 of main.cu" for a launch in another file.
[[nodiscard]] std::string placeOf(const SkillContext& context, const analysis::LaunchSite& launch);

/// "a.cu and b.cu" for the sources beyond this reading that may launch the kernel.
[[nodiscard]] std::string alsoLaunchedIn(const SkillContext& context);

/// Refuses kernels that no edit may touch: `kernel-in-header`, `kernel-from-macro`,
/// `does-not-compile`, `cursor-outside`.
[[nodiscard]] Gated<void> requireEditable(const SkillContext& context);

/// The facts of the compiler about the kernel; refuses with `needs-compiled-facts` without them.
[[nodiscard]] Gated<const CompiledKernel*> requireCompiled(const SkillContext& context);

/// An apply() whose gates no longer hold: the refusal as an error with the kernel's place.
[[nodiscard]] Error unsupported(const SkillContext& context, const Refusal& refusal);

} // namespace kernelskill::skills
