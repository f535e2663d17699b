#include "analysis/nest/dependences.h"
#include "analysis/nest/nest_text.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

using CarrierLevel = NestCarrier::Level;

std::string judgementText(const NestJudgement& judgement) {
    if (judgement.certainty == NestCertainty::Proved)
        return "independent";
    if (judgement.certainty == NestCertainty::Broken)
        return "dependent: " + judgement.reason;
    std::string text = "independent if";
    for (std::size_t i = 0; i < judgement.conditions.size(); ++i)
        text += (i > 0 ? " and " : " ") + judgement.conditions[i];
    return text;
}

} // namespace

std::string_view dependenceName(NestDependenceKind kind) {
    switch (kind) {
    case NestDependenceKind::Flow:
        return "write before read";
    case NestDependenceKind::Anti:
        return "read before write";
    case NestDependenceKind::Output:
        return "write before write";
    }
    return {};
}

std::string carrierText(const Nest& nest, const NestCarrier& carrier) {
    switch (carrier.level) {
    case CarrierLevel::Blocks:
        return "between blocks";
    case CarrierLevel::Threads:
        return "between threads of a block";
    case CarrierLevel::Loop: {
        const auto nameOf = [&](NestNodeId loop) {
            return nest.symbols.nameOf(nest.node(loop).loop()->iterator);
        };
        const std::string text = "from round to round of " + nameOf(carrier.loop);
        return carrier.crossed == noId ? text
                                       : text + " to an earlier one of " + nameOf(carrier.crossed);
    }
    case CarrierLevel::Order:
        return "in order";
    }
    return {};
}

NestJudgement judge(const Nest& nest, const NestDependences& dependences,
                    const NestCarrier& carrier) {
    NestJudgement judgement;
    const auto note = [&](const std::string& condition) {
        if (std::ranges::find(judgement.conditions, condition) == judgement.conditions.end())
            judgement.conditions.push_back(condition);
    };
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
        const NestStatement* statement = nest.nodes[id].computation();
        const std::vector<NestNodeId> outer = around(nest, id);
        const bool takesPart =
            carrier.loop == noId || std::ranges::find(outer, carrier.loop) != outer.end();
        if (statement != nullptr && !statement->opaque.empty() && takesPart)
            return {NestCertainty::Broken, {}, "a statement is opaque: " + statement->opaque};
    }
    for (const NestDependence& dependence : dependences.dependences) {
        if (dependence.carrier != carrier)
            continue;
        if (dependence.independence == NestCertainty::Broken)
            return {NestCertainty::Broken, {}, dependenceText(nest, dependence)};
        for (const std::string& condition : dependence.conditions)
            note(condition);
    }
    if (!dependences.isComplete)
        return {NestCertainty::Broken, {}, "the kernel has too many accesses to compare"};
    if (carrier.level != CarrierLevel::Order)
        for (const NestOverlap& overlap : dependences.overlaps)
            note(nest.arrays[overlap.first].name + ", " + nest.arrays[overlap.second].name +
                 " do not overlap");
    if (!judgement.conditions.empty())
        judgement.certainty = NestCertainty::Likely;
    return judgement;
}

std::string dependenceText(const Nest& nest, const NestDependence& dependence) {
    const std::string from = accessText(nest, nest.accesses[dependence.from]);
    const std::string to = accessText(nest, nest.accesses[dependence.to]);
    std::string text = from + " -> " + to + " " + carrierText(nest, dependence.carrier) + ": " +
                       std::string(dependenceName(dependence.kind));
    if (dependence.independence == NestCertainty::Likely) {
        text += ", unless";
        for (std::size_t i = 0; i < dependence.conditions.size(); ++i)
            text += (i > 0 ? " and " : " ") + dependence.conditions[i];
    } else if (!dependence.reason.empty()) {
        text += ", " + dependence.reason;
    }
    if (dependence.isSynchronised)
        text += ", a barrier stands between";
    return dependence.isReduction ? text + " (a reduction)" : text;
}

std::string dependencesText(const Nest& nest, const NestDependences& dependences) {
    std::vector<NestCarrier> carriers = {{CarrierLevel::Blocks, noId},
                                         {CarrierLevel::Threads, noId}};
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id)
        if (nest.nodes[id].loop() != nullptr)
            carriers.push_back({CarrierLevel::Loop, id});
    std::string text;
    for (const NestCarrier& carrier : carriers)
        text += "  " + carrierText(nest, carrier) + ": " +
                judgementText(judge(nest, dependences, carrier)) + "\n";
    for (const NestDependence& dependence : dependences.dependences)
        text += "    " + dependenceText(nest, dependence) + "\n";
    return text;
}

} // namespace kernelskill::analysis
