/// Which parameters a kernel can be compiled for, and the edit that does so.
#pragma once

#include "skills/base/skill.h"
#include "skills/launch-specialization/known_arguments.h"
#include "skills/launch-specialization/special_reasons.h"
#include "skills/schedule/draft.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// The values that one launch passes for the specialised parameters.
struct SpecialLaunch {
    std::uint32_t launch = 0;                         ///< Index into KernelModel::launches.
    std::vector<std::optional<KnownArgument>> values; ///< One for each parameter, in their order.

    [[nodiscard]] bool isKnown() const;    ///< All values are known.
    [[nodiscard]] bool isConstant() const; ///< All values are constant expressions.
};

struct Specialization {
    std::vector<std::uint32_t> parameters; ///< Indices of one or two parameters.
    std::vector<SpecialReason> reasons;    ///< Heaviest first; the parameters decide all of them.
    std::vector<SpecialLaunch> launches;   ///< All launches of the kernel.
    /// Every launch passes constants: the parameters become template parameters. Otherwise they
    /// stay and each gets a template parameter, which holds its value, or 0 or -1 for any value.
    bool isDirect = false;
    /// Loops that are small enough to be unrolled whole and have no pragma yet.
    std::vector<analysis::StmtId> unrolled;
};

/// Chooses the parameters and reads the launches. Refuses with `no-launch`, `no-scalar`,
/// `unknown-value`, `no-gain`, `c-linkage`, `declared-before`, `overloaded`, `template-head`,
/// `name-hidden`, `default-argument`, `launch-statement`, `value-range` or what
/// requireFollowableLaunches() refuses with.
[[nodiscard]] Gated<Specialization> specialization(const SkillContext& context);

/// Rewrites the head of the kernel and its launches; implemented in write_specialized.cpp.
void specialize(Draft& draft, const SkillContext& context, const Specialization& found);

} // namespace kernelskill::skills
