/// Arrays that a kernel goes through once, beside one that it reads at random places.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// An access in the kernel's own text that is the only one to its element.
struct StreamedAccess {
    analysis::NestAccessId access = analysis::noId;
    analysis::ExprId expression = analysis::noId; ///< `x[i]` or `*p`.
    analysis::ExprId assignment =
        analysis::noId;  ///< Set for a store: the statement's `x[i] = value`.
    analysis::Span sign; ///< Set for a store: " =".
};

struct Streams {
    std::vector<StreamedAccess> loads; ///< Not empty.
    std::vector<StreamedAccess> stores;
    /// The access at a place that was read from memory. Caches are to keep its array.
    analysis::NestAccessId gathered = analysis::noId;
};

/// Refuses with `no-gather` where no array is read at places that are read from memory, and with
/// `no-streams` where the kernel goes through no other array once, lanes side by side.
[[nodiscard]] Gated<Streams> findStreams(const SkillContext& context);

} // namespace kernelskill::skills
