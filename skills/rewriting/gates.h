/// Gates that every skill shares, and the shape of a refusal.
#pragma once

#include "skills/skill.h"

#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kernelskill::skills {

[[nodiscard]] std::unexpected<Refusal> refuse(std::string gate, std::string reason);

/// 1-based line of `offset`, as editors show it.
[[nodiscard]] std::uint32_t lineNumber(const SkillContext& context, std::uint32_t offset);

/// Refuses kernels that no edit may touch: `kernel-in-header`, `kernel-from-macro`,
/// `does-not-compile`, `cursor-outside`.
[[nodiscard]] std::expected<void, Refusal> requireEditable(const SkillContext& context);

/// What the compiler says of the kernel; refuses with `needs-compiled-facts` where nobody knows.
[[nodiscard]] std::expected<const CompiledKernel*, Refusal>
requireCompiled(const SkillContext& context);

/// True if the cursor is in `span` or the selection overlaps it.
[[nodiscard]] bool touches(analysis::Span range, analysis::Span span);

/// True if the statement starts with one of these keywords in the file itself: its head does not
/// come out of a macro.
[[nodiscard]] bool isWrittenAs(const SkillContext& context, analysis::Span statement,
                               std::initializer_list<std::string_view> keywords);

/// An apply() whose gates no longer hold: the refusal as an error with the kernel's place.
[[nodiscard]] Error unsupported(const SkillContext& context, const Refusal& refusal);

} // namespace kernelskill::skills
