/// Optimizer: a plan in, edits out, by the skill's own code. Edits are proposals: the Reviewer
/// decides.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <memory>
#include <vector>

namespace kernelskill::engine {

struct ProposedEdit {
    analysis::EditSet edits;
    skills::Numerics numerics = skills::Numerics::Exact; ///< Of this offer.
};

/// Thread-safe.
class Optimizer {
public:
    /// Both outlive the optimizer.
    Optimizer(const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
              const std::vector<skills::SkillMetadata>& documents)
        : catalogue_(catalogue), documents_(documents) {}

    /// `offer` was made for this very text. InvalidInput for a skill that is not there;
    /// Unsupported, with the reason, where its rewrite turns out to be impossible. May be slow.
    [[nodiscard]] Result<ProposedEdit> propose(const analysis::FileModel& file,
                                               const analysis::KernelModel& kernel,
                                               const analysis::Features& features,
                                               const skills::Offer& offer) const;

private:
    const std::vector<std::unique_ptr<skills::Skill>>& catalogue_;
    const std::vector<skills::SkillMetadata>& documents_;
};

} // namespace kernelskill::engine
