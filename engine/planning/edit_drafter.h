/// EditDrafter: lets a skill make the edits of a plan. Edits are proposals: the Reviewer decides.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/findings/plain_form.h"
#include "skills/base/skill.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

struct ProposedEdit {
    analysis::EditSet edits;
    skills::Accuracy accuracy = {}; ///< What the offer promises.
};

/// Thread-safe.
class EditDrafter {
public:
    /// Both arguments outlive the drafter.
    EditDrafter(const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
                const std::vector<skills::SkillMetadata>& documents)
        : catalogue_(catalogue), documents_(documents) {}

    /// `offer` was made for exactly this text, or for its plain form, `plain`, which is null if
    /// there is none. InvalidInput if there is no such skill or form; Unsupported, with the reason,
    /// if the rewrite is impossible; Cancelled if `stop` is requested before the skill is asked, or
    /// while it works. May be slow.
    [[nodiscard]] Result<ProposedEdit> propose(const analysis::FileModel& file,
                                               const analysis::KernelModel& kernel,
                                               const analysis::Features& features,
                                               const skills::Offer& offer, const PlainForm* plain,
                                               const std::stop_token& stop) const;

private:
    const std::vector<std::unique_ptr<skills::Skill>>& catalogue_;
    const std::vector<skills::SkillMetadata>& documents_;
};

} // namespace kernelskill::engine
