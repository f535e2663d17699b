#include "lsp-server/features/offered_skill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::lsp {

namespace {

Result<std::vector<skills::Offer>> knownOffers(const Snapshot& snapshot,
                                               const analysis::KernelModel& kernel,
                                               std::optional<std::uint32_t> line,
                                               const std::string& skill) {
    using Alternatives = engine::SkillAdvisor::Alternatives;
    const auto planAt = [&](analysis::Span range, Alternatives alternatives) {
        return snapshot.workbench->advisor().plan({snapshot.program, kernel}, range,
                                                  snapshot.memory(), alternatives);
    };
    const auto isOfSkill = [&](const engine::RankedSkill& ranked) {
        return ranked.offer.skillId == skill;
    };
    std::vector<analysis::Span> ranges;
    if (line)
        ranges.push_back(snapshot.source().lineSpan(*line));
    ranges.push_back(kernel.span);
    std::string why = "it is not offered here";
    for (const analysis::Span range : ranges) {
        const engine::Plan plan = planAt(range, Alternatives::Left);
        const auto first = std::ranges::find_if(plan.ranked, isOfSkill);
        if (first != plan.ranked.end()) {
            std::vector<skills::Offer> offers{first->offer};
            for (const engine::RankedSkill& ranked : planAt(range, Alternatives::Wanted).ranked)
                if (isOfSkill(ranked) && ranked.offer.option != first->offer.option)
                    offers.push_back(ranked.offer);
            return offers;
        }
        const auto ruledOut = std::ranges::find(plan.ruledOut, skill, &engine::RuledOut::skill);
        if (ruledOut != plan.ruledOut.end())
            why = ruledOut->why;
    }
    return std::unexpected(
        Error{ErrorKind::Unsupported,
              fmt::format("'{}' does not fit kernel '{}': {}", skill, kernel.qualifiedName, why),
              "", ""});
}

} // namespace

Result<std::vector<skills::Offer>> offersOf(const Snapshot& snapshot,
                                            const analysis::KernelModel& kernel,
                                            std::optional<std::uint32_t> line,
                                            const std::string& skill) {
    auto offers = knownOffers(snapshot, kernel, line, skill);
    if (offers || !offers.error().what.contains(skills::needsCompiledFacts))
        return offers;
    if (auto compiled = snapshot.workbench->profiler().compile({snapshot.program, kernel},
                                                               engine::Profiler::Compiler::Run, {});
        !compiled) {
        offers.error().what += " (" + compiled.error().what + ")";
        offers.error().remedy = compiled.error().remedy;
        return offers;
    }
    return knownOffers(snapshot, kernel, line, skill);
}

Result<skills::Offer> offerOf(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                              std::optional<std::uint32_t> line, const std::string& skill) {
    auto offers = offersOf(snapshot, kernel, line, skill);
    if (!offers)
        return std::unexpected(std::move(offers.error()));
    return std::move(offers->front());
}

} // namespace kernelskill::lsp
