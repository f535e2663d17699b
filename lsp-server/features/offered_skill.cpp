#include "lsp-server/features/offered_skill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::lsp {

namespace {

Result<skills::Offer> knownOffer(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                                 std::optional<std::uint32_t> line, const std::string& skill) {
    std::vector<analysis::Span> ranges;
    if (line)
        ranges.push_back(snapshot.source().lineSpan(*line));
    ranges.push_back(kernel.span);
    std::string why = "it is not offered here";
    for (const analysis::Span range : ranges) {
        const engine::Plan plan = snapshot.workbench->advisor().plan({snapshot.program, kernel},
                                                                     range, snapshot.memory());
        for (const engine::RankedSkill& ranked : plan.ranked) {
            if (ranked.offer.skillId == skill)
                return ranked.offer;
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

Result<skills::Offer> offerOf(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                              std::optional<std::uint32_t> line, const std::string& skill) {
    auto offer = knownOffer(snapshot, kernel, line, skill);
    if (offer || !offer.error().what.contains(skills::needsCompiledFacts))
        return offer;
    if (auto compiled = snapshot.workbench->profiler().compile({snapshot.program, kernel},
                                                               engine::Profiler::Compiler::Run, {});
        !compiled) {
        offer.error().what += " (" + compiled.error().what + ")";
        offer.error().remedy = compiled.error().remedy;
        return offer;
    }
    return knownOffer(snapshot, kernel, line, skill);
}

} // namespace kernelskill::lsp
