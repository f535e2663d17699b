#include "engine/planning/planner.h"

#include "engine/planning/record_bound.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

// The ranking in points. An answer to the bottleneck outweighs everything else; an exact edit ranks
// above one that is not. A record lowers a skill's points, see record_bound.h.
constexpr double answersLeadingKind = 100;
constexpr double answersFurtherKind = 50;
constexpr double eachFurtherKindLater = 5;
constexpr double fitsOnly = 10;
constexpr double keepsEveryBit = 4;
constexpr double reorders = 2;
/// The maximum for the gain that the code promises. It is below the difference between an exact
/// edit and one that reorders.
constexpr double maxGainScore = 1.5;
constexpr double eachAlternativeLater = 0.25;
/// The maximum that a record takes away. A skill that never gained on this bottleneck falls behind
/// one that answers the next bottleneck, but never behind one that merely fits.
constexpr double recordWeight = 60;
constexpr double failedOnThisCode = -1000;

bool isAnswer(const skills::SkillMetadata& skill, BottleneckKind kind) {
    return std::ranges::find(skill.bottlenecks, spelling(kind)) != skill.bottlenecks.end();
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text.empty() ? "no bottleneck" : text;
}

void rankByBottleneck(RankedSkill& ranked, const skills::SkillMetadata& skill,
                      const Bottleneck& bottleneck) {
    if (isAnswer(skill, bottleneck.kind)) {
        ranked.score += answersLeadingKind;
        ranked.why = fmt::format("Answers {}, which holds the kernel back (rule {}).",
                                 spelling(bottleneck.kind), bottleneck.rule);
        return;
    }
    for (std::size_t place = 0; place < bottleneck.others.size(); ++place) {
        if (!isAnswer(skill, bottleneck.others[place]))
            continue;
        ranked.score += answersFurtherKind - eachFurtherKindLater * static_cast<double>(place);
        ranked.why = fmt::format("Answers {}, which also holds here, behind {}.",
                                 spelling(bottleneck.others[place]), spelling(bottleneck.kind));
        return;
    }
    ranked.score += fitsOnly;
    ranked.why = fmt::format("Fits the code, but answers {} where the kernel is {}.",
                             joined(skill.bottlenecks), spelling(bottleneck.kind));
}

void rankByNumerics(RankedSkill& ranked, skills::Numerics numerics) {
    if (numerics == skills::Numerics::Exact)
        ranked.score += keepsEveryBit;
    else if (numerics == skills::Numerics::Reassociates)
        ranked.score += reorders;
}

/// The gain that the code promises is said first, and decides between equals.
void rankByGain(RankedSkill& ranked) {
    if (!ranked.offer.gain)
        return;
    const skills::ExpectedGain& gain = *ranked.offer.gain;
    ranked.score += std::clamp(std::log2(gain.factor), 0.0, maxGainScore);
    ranked.expected = describe(Gain{{1, gain.factor}, gain.basis}) + ". " + ranked.expected;
}

void rankByRecord(RankedSkill& ranked, const std::vector<SkillRecord>& records) {
    const auto record = std::ranges::find(records, ranked.offer.skillId, &SkillRecord::skill);
    if (record == records.end())
        return;
    const RecordBound bound = boundOf(*record, records);
    ranked.score -= recordWeight * (1 - bound.bound);
    ranked.why += " " + describe(*record, bound);
}

/// An accepted verdict after the failure means that its cause is gone, e.g. by a later version of
/// the skill.
bool isSuperseded(const std::vector<MemoryEntry>& memory, const MemoryEntry& failure) {
    return std::any_of(memory.begin() + (&failure - memory.data()), memory.end(),
                       [&](const MemoryEntry& later) {
                           return later.kind == EntryKind::Verdict && !later.status.empty() &&
                                  later.status != spelling(VerdictStatus::Incorrect) &&
                                  later.status != spelling(VerdictStatus::Invalid) &&
                                  later.kernelHash == failure.kernelHash &&
                                  later.skill == failure.skill && later.option == failure.option;
                       });
}

void rankByMemory(RankedSkill& ranked, const PlannerInput& input) {
    const MemoryEntry* failure = lastFailure(input.memory, input.kernel.normalisedHash,
                                             ranked.offer.skillId, ranked.offer.option);
    if (failure == nullptr || isSuperseded(input.memory, *failure))
        return;
    ranked.failedBefore = true;
    ranked.score += failedOnThisCode;
    ranked.why =
        fmt::format("Failed on this very code before ({}{}{}): {}. {}", failure->time,
                    failure->status.empty() ? "" : ", ", failure->status,
                    failure->detail.empty() ? "no detail was kept" : failure->detail, ranked.why);
}

RankedSkill rank(skills::Offer offer, const skills::SkillMetadata& document,
                 const PlannerInput& input) {
    RankedSkill ranked;
    ranked.offer = std::move(offer);
    ranked.expected = document.expectedGain;
    rankByBottleneck(ranked, document, input.bottleneck);
    if (!ranked.offer.why.empty()) { // A clause, such as "the loop on line 10 ...".
        ranked.why.back() = ':';
        ranked.why += " " + ranked.offer.why + ".";
    }
    rankByGain(ranked);
    rankByNumerics(ranked, ranked.offer.numerics.value_or(document.numerics));
    rankByRecord(ranked, input.records);
    rankByMemory(ranked, input);
    return ranked;
}

} // namespace

Planner::Planner(const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
                 const std::vector<skills::SkillMetadata>& documents)
    : catalogue_(catalogue), documents_(documents) {}

Plan Planner::plan(const PlannerInput& input) const {
    Plan plan;
    skills::SkillContext context{input.file, input.kernel, input.features, input.range,
                                 input.compiled};
    for (const auto& skill : catalogue_) {
        std::string id(skill->id());
        auto document = std::ranges::find(documents_, id, &skills::SkillMetadata::id);
        if (document == documents_.end()) {
            plan.ruledOut.push_back({id, "its SKILL.md is missing or cannot be read"});
            continue;
        }
        auto offer = skill->prepare(context);
        if (!offer) {
            plan.ruledOut.push_back(
                {id, fmt::format("{}: {}", offer.error().gate, offer.error().reason)});
        } else {
            plan.ranked.push_back(rank(std::move(*offer), *document, input));
        }
        if (!input.wantsAlternatives)
            continue;
        double later = 0;
        for (skills::Offer& alternative : skill->alternatives(context)) {
            plan.ranked.push_back(rank(std::move(alternative), *document, input));
            plan.ranked.back().score -= ++later * eachAlternativeLater;
        }
    }
    std::ranges::stable_sort(plan.ranked, std::ranges::greater{}, &RankedSkill::score);
    return plan;
}

} // namespace kernelskill::engine
