#include "engine/graph/choice/accuracy_search.h"

#include <algorithm>

namespace kernelskill::engine::graph {

namespace {

bool isExact(const AccuracyGroup& group) {
    return group.option().exactness == Exactness::AsPyTorch;
}

VariantMix mixOf(const AccuracyGroup& group) {
    VariantMix mix;
    for (const ProgramPart& part : group.parts)
        mix.push_back({part, group.option().files});
    return mix;
}

} // namespace

MixVerdict AccuracySearch::run() {
    using Outcome = MixVerdict::Outcome;
    MixVerdict verdict = judgeAll();
    if (verdict.outcome == Outcome::Wrong) {
        judgeAlone();
        verdict = judgeAll();
    }
    for (std::size_t count = 1; verdict.outcome == Outcome::Wrong &&
                                makeMoreExact(count, "with all places, " + verdict.worst);
         count *= 2)
        verdict = judgeAll();
    if (verdict.outcome == Outcome::NotCompared)
        for (AccuracyGroup& group : groups_)
            pickTrusted(group, "not compared: " + verdict.why);
    return verdict;
}

bool AccuracySearch::pickTrusted(AccuracyGroup& group, const std::string& why) {
    bool isChanged = false;
    while (group.option().exactness < trusted_ && refuse(group, why, true))
        isChanged = true;
    return isChanged;
}

MixVerdict AccuracySearch::judgeAll() {
    while (true) {
        VariantMix all;
        std::vector<AccuracyGroup*> groupsOf; // Of the mix's variants.
        for (AccuracyGroup& group : groups_)
            for (PlacedVariant& variant : mixOf(group)) {
                all.push_back(std::move(variant));
                groupsOf.push_back(&group);
            }
        MixVerdict verdict = judge_({std::move(all)}).at(0);
        bool isChanged = false;
        for (const std::size_t place : verdict.leftOut)
            isChanged |= pickTrusted(*groupsOf.at(place), std::string(cannotRunAtOnce));
        if (!isChanged)
            return verdict;
    }
}

void AccuracySearch::judgeAlone() {
    std::vector<AccuracyGroup*> open;
    for (AccuracyGroup& group : groups_)
        if (!isExact(group))
            open.push_back(&group);
    while (!open.empty()) {
        std::vector<VariantMix> mixes;
        for (const AccuracyGroup* group : open)
            mixes.push_back(mixOf(*group));
        const std::vector<MixVerdict> verdicts = judge_(mixes);
        std::vector<AccuracyGroup*> next;
        for (std::size_t i = 0; i < open.size(); ++i) {
            open[i]->error = verdicts[i].error;
            if (verdicts[i].outcome == MixVerdict::Outcome::Wrong &&
                refuse(*open[i], verdicts[i].worst, false) && !isExact(*open[i]))
                next.push_back(open[i]);
        }
        open = std::move(next);
    }
}

bool AccuracySearch::makeMoreExact(std::size_t count, const std::string& why) {
    std::vector<AccuracyGroup*> inexact;
    for (AccuracyGroup& group : groups_)
        if (!isExact(group))
            inexact.push_back(&group);
    std::ranges::stable_sort(inexact, std::ranges::greater(), &AccuracyGroup::error);
    std::size_t changed = 0;
    for (AccuracyGroup* group : inexact)
        if (changed < count && refuse(*group, why, true))
            ++changed;
    return changed > 0;
}

bool AccuracySearch::refuse(AccuracyGroup& group, const std::string& why, bool isWhole) {
    const auto refuseAll = [&](Exactness exactness, bool isLibrary) {
        for (AccuracyOption& option : group.options)
            if (option.refused.empty() &&
                (option.exactness < exactness ||
                 (option.exactness == exactness && (isWhole || option.isLibrary == isLibrary))))
                option.refused = why;
    };
    const Exactness exactness = group.option().exactness;
    const bool isLibrary = group.option().isLibrary;
    const std::size_t before = group.options[group.picked].variant;
    refuseAll(exactness, isLibrary);
    if (!group.hasAllOptions && exactness < Exactness::Float32) {
        group.hasAllOptions = true;
        findMore_(group);
        refuseAll(exactness, isLibrary);
    }
    const auto next = std::ranges::find_if(
        group.options, [](const AccuracyOption& option) { return option.refused.empty(); });
    if (next == group.options.end()) {
        // Nothing is better than what it has.
        const auto same = std::ranges::find(group.options, before, &AccuracyOption::variant);
        group.picked = static_cast<std::size_t>(same - group.options.begin());
        return false;
    }
    group.picked = static_cast<std::size_t>(next - group.options.begin());
    return true;
}

} // namespace kernelskill::engine::graph
