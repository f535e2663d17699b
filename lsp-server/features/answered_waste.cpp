#include "lsp-server/features/answered_waste.h"

#include "lsp-server/features/diagnostics.h"

#include <algorithm>

namespace kernelskill::lsp {

namespace {

bool contains(analysis::Span outer, analysis::Span inner) {
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool isAbout(const skills::Offer& offer, const analysis::KernelModel& kernel,
             const analysis::MemoryAccess& access) {
    if (contains(offer.anchor, kernel.body.expr(access.expression).span))
        return true;
    return access.base != analysis::noId &&
           contains(offer.anchor, kernel.body.variable(access.base).span);
}

} // namespace

std::vector<analysis::Diagnostic> wasteAnsweredBy(const Snapshot& snapshot,
                                                  const analysis::KernelModel& kernel,
                                                  const skills::Offer& offer) {
    const auto& skills = snapshot.workbench->library().documents;
    const auto skill = std::ranges::find(skills, offer.skillId, &skills::SkillMetadata::id);
    std::vector<analysis::Diagnostic> answered;
    if (skill == skills.end())
        return answered;
    for (Waste& waste : wasteOf(snapshot, kernel)) {
        if (std::ranges::find(skill->bottlenecks, waste.diagnostic.code) !=
                skill->bottlenecks.end() &&
            isAbout(offer, kernel, *waste.access))
            answered.push_back(std::move(waste.diagnostic));
    }
    return answered;
}

} // namespace kernelskill::lsp
