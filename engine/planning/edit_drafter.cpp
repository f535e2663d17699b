#include "engine/planning/edit_drafter.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

Result<ProposedEdit> EditDrafter::propose(const analysis::FileModel& file,
                                          const analysis::KernelModel& kernel,
                                          const analysis::Features& features,
                                          const skills::Offer& offer,
                                          const std::stop_token& stop) const {
    const auto cancelled = [] {
        return std::unexpected(Error{ErrorKind::Cancelled, "no edit was made", {}, {}});
    };
    if (stop.stop_requested())
        return cancelled();
    const auto skill = std::ranges::find(catalogue_, offer.skillId, [](const auto& candidate) {
        return std::string(candidate->id());
    });
    const auto document = std::ranges::find(documents_, offer.skillId, &skills::SkillMetadata::id);
    if (skill == catalogue_.end() || document == documents_.end())
        return std::unexpected(Error{ErrorKind::InvalidInput, "there is no skill " + offer.skillId,
                                     "", "See `kernelskill skills`"});
    auto edits = (*skill)->apply({file, kernel, features, offer.anchor}, offer);
    if (stop.stop_requested())
        return cancelled();
    if (!edits)
        return std::unexpected(edits.error());
    return ProposedEdit{std::move(*edits), skills::accuracyOf(offer, *document)};
}

} // namespace kernelskill::engine
