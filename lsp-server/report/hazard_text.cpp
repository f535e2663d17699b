#include "lsp-server/report/hazard_text.h"

namespace kernelskill::lsp {

bool mayBeTheGuess(const engine::Hazard& hazard, const engine::LaunchSpec& launch) {
    const bool isOfContents = hazard.details.doubt == engine::RaceDoubt::GuessedIndices ||
                              hazard.kind == engine::HazardKind::OutOfBounds;
    return launch.isShapeGuessed || (!hazard.certain && isOfContents);
}

bool isSureOf(const engine::Hazard& hazard, const engine::LaunchSpec& launch) {
    return hazard.certain && !mayBeTheGuess(hazard, launch);
}

std::string hazardName(const engine::Hazard& hazard, const engine::LaunchSpec& launch) {
    std::string name(spelling(hazard.kind));
    if (mayBeTheGuess(hazard, launch))
        return name + " (may be the guess)";
    return hazard.certain ? name : name + " suspected";
}

} // namespace kernelskill::lsp
