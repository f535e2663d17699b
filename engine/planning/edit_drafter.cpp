#include "engine/planning/edit_drafter.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The edits that make the plain form and those that the skill makes there, as edits of the file.
Result<analysis::EditSet> editsByPlainForm(const analysis::FileModel& file,
                                           const skills::Skill& skill, const skills::Offer& offer,
                                           const PlainForm& plain) {
    skills::Offer there = offer;
    there.anchor = *offer.plainAnchor;
    auto edits = skill.apply({*plain.model, plain.kernel(), plain.features, there.anchor}, there);
    if (!edits)
        return edits;
    std::vector<analysis::TextEdit>& ofFile = (*edits)[file.file];
    auto composed = analysis::composedEdits(file.source->text(), plain.edits, std::move(ofFile));
    if (!composed)
        return std::unexpected(composed.error());
    ofFile = *std::move(composed);
    return edits;
}

} // namespace

Result<ProposedEdit> EditDrafter::propose(const analysis::FileModel& file,
                                          const analysis::KernelModel& kernel,
                                          const analysis::Features& features,
                                          const skills::Offer& offer, const PlainForm* plain,
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
    if (offer.plainAnchor && plain == nullptr)
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "the offer is for a form that the kernel does not have", "",
                                     "Ask for the offers again"});
    auto edits = offer.plainAnchor ? editsByPlainForm(file, **skill, offer, *plain)
                                   : (*skill)->apply({file, kernel, features, offer.anchor}, offer);
    if (stop.stop_requested())
        return cancelled();
    if (!edits)
        return std::unexpected(edits.error());
    return ProposedEdit{std::move(*edits), skills::accuracyOf(offer, *document)};
}

} // namespace kernelskill::engine
