/// Arrays that a kernel goes through once, beside one that it goes back to.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// An access of the kernel's own text, the only one to its element.
struct StreamedAccess {
    analysis::NestAccessId access = analysis::noId;
    analysis::ExprId expression = analysis::noId; ///< `x[i]` or `*p`.
    analysis::ExprId assignment = analysis::noId; ///< Of a store: `x[i] = value`, a statement.
    analysis::Span sign;                          ///< Its " =".
};

struct Streams {
    std::vector<StreamedAccess> loads; ///< Not empty.
    std::vector<StreamedAccess> stores;
    /// An access at a place that was read from memory: its array is what caches are to keep.
    analysis::NestAccessId gathered = analysis::noId;
};

/// Refuses with `no-gather` where no array is read at places that are read from memory, and with
/// `no-streams` where the kernel goes through no other array once, lanes side by side.
[[nodiscard]] Gated<Streams> findStreams(const SkillContext& context);

} // namespace kernelskill::skills
