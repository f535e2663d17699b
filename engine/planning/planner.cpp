#include "engine/planning/planner.h"

#include "engine/planning/record_bound.h"
#include "engine/planning/remedy_table.h"

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
/// The skill names the bottleneck, but code of this shape has other remedies.
constexpr double namesLeadingKind = 30;
constexpr double fitsOnly = 10;
/// Where the field has an order of remedies, it decides before how exact an edit is.
constexpr double firstChoice = 40;
constexpr double eachChoiceLater = 8;
/// Later choices are offered, and no longer said to be the answer.
constexpr std::size_t choicesThatAnswer = 2;
/// More is not read.
constexpr std::size_t maxRemedies = 3;
/// Good practice comes behind all that may be an answer, whatever records say.
constexpr double hygieneOnly = -100;
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

/// Whether the skill's own gate shows that it helps, whatever the shape of the code.
bool isCertain(const skills::SkillMetadata& skill) {
    const auto& table = builtinRemedies();
    return table && std::ranges::find(table->certain, skill.id) != table->certain.end();
}

/// Whether the skill answers the bottleneck in code of this shape: by the table where that knows
/// the shape, else by what the skill says of itself. Skills of the user's are not in the table.
bool answersLeading(const skills::SkillMetadata& skill, const Bottleneck& bottleneck,
                    const RemedyAnswer* answer) {
    if (answer != nullptr && answer->placeOf(skill.id))
        return *answer->placeOf(skill.id) < choicesThatAnswer;
    const bool isShapeKnown = answer != nullptr && !answer->shapes.empty();
    return isAnswer(skill, bottleneck.kind) &&
           (!isShapeKnown || skill.origin != skills::SkillOrigin::BuiltIn);
}

void rankByBottleneck(RankedSkill& ranked, const skills::SkillMetadata& skill,
                      const Bottleneck& bottleneck, const RemedyAnswer* answer) {
    if (ranked.role == skills::SkillRole::Hygiene) {
        ranked.score += hygieneOnly;
        ranked.why = fmt::format("Good practice, no answer to {}.", spelling(bottleneck.kind));
        return;
    }
    auto place = answer == nullptr ? std::nullopt : answer->placeOf(skill.id);
    if (!place && isCertain(skill) && isAnswer(skill, bottleneck.kind))
        place = 0; // It is further only where the shape of the code has another answer.
    if (place)
        ranked.score += std::max(firstChoice - eachChoiceLater * static_cast<double>(*place), 0.0);
    if (answersLeading(skill, bottleneck, answer)) {
        ranked.answers = AnswersTo::Leading;
        ranked.score += answersLeadingKind;
        ranked.why = fmt::format("Answers {}, which holds the kernel back (rule {}).",
                                 spelling(bottleneck.kind), bottleneck.rule);
        return;
    }
    if (place) {
        ranked.answers = AnswersTo::Further;
        ranked.score += answersFurtherKind;
        ranked.why = fmt::format("Helps against {} where better choices do not fit (rule {}).",
                                 spelling(bottleneck.kind), bottleneck.rule);
        return;
    }
    for (std::size_t further = 0; further < bottleneck.others.size(); ++further) {
        if (!isAnswer(skill, bottleneck.others[further]))
            continue;
        ranked.answers = AnswersTo::Further;
        ranked.score += answersFurtherKind - eachFurtherKindLater * static_cast<double>(further);
        ranked.why = fmt::format("Answers {}, which also holds here, behind {}.",
                                 spelling(bottleneck.others[further]), spelling(bottleneck.kind));
        return;
    }
    if (isAnswer(skill, bottleneck.kind)) {
        ranked.score += namesLeadingKind;
        ranked.why = fmt::format("Fits the code, but is not what helps code of this shape ({}) "
                                 "against {}.",
                                 joined(answer->shapes), spelling(bottleneck.kind));
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
                 const PlannerInput& input, const RemedyAnswer* answer) {
    RankedSkill ranked;
    ranked.offer = std::move(offer);
    ranked.expected = document.expectedGain;
    ranked.role = ranked.offer.role.value_or(document.role);
    rankByBottleneck(ranked, document, input.bottleneck, answer);
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

/// Adds what skills offer that refuse the text and take its plain form.
void addPlainOffers(Plan& plan, const PlannerInput& input, const RemedyAnswer* answer,
                    const std::vector<skills::SkillMetadata>& documents) {
    const auto add = [&](const skills::Offer& offer, double later) {
        const auto document =
            std::ranges::find(documents, offer.skillId, &skills::SkillMetadata::id);
        if (document == documents.end() ||
            offer.role.value_or(document->role) == skills::SkillRole::Hygiene)
            return;
        std::erase_if(plan.ruledOut,
                      [&](const RuledOut& refused) { return refused.skill == offer.skillId; });
        plan.ranked.push_back(rank(offer, *document, input, answer));
        plan.ranked.back().score -= later;
    };
    for (const skills::Offer& offer : input.plain->offers)
        add(offer, 0);
    if (!input.wantsAlternatives)
        return;
    double later = 0;
    for (const skills::Offer& alternative : input.plain->alternatives)
        add(alternative, later += eachAlternativeLater);
}

/// The methods of the answer that are not among the offers, with the reasons.
std::vector<Remedy> remediesOf(const RemedyTable& table, const RemedyAnswer& answer,
                               const Bottleneck& bottleneck, const Plan& plan,
                               const std::vector<skills::SkillMetadata>& documents) {
    std::vector<Remedy> remedies;
    const bool isAnswered = std::ranges::any_of(plan.ranked, [](const RankedSkill& ranked) {
        return ranked.answers == AnswersTo::Leading && !ranked.failedBefore;
    });
    for (const std::string& id : answer.methods) {
        const bool isOffered = std::ranges::any_of(plan.ranked, [&](const RankedSkill& ranked) {
            return ranked.offer.skillId == id && ranked.role != skills::SkillRole::Hygiene;
        });
        const auto document = std::ranges::find(documents, id, &skills::SkillMetadata::id);
        const bool isLeftOut = (answer.isQuiet && document != documents.end()) ||
                               (id == nothingToDo && (isAnswered || !remedies.empty()));
        if (isOffered || isLeftOut || remedies.size() >= maxRemedies)
            continue;
        const RemedyMethod* method = table.method(id);
        Remedy remedy;
        remedy.method = id;
        remedy.isSkill = document != documents.end();
        if (method != nullptr)
            remedy.text = method->text;
        else if (remedy.isSkill)
            remedy.text = document->title;
        const auto refused = std::ranges::find(plan.ruledOut, id, &RuledOut::skill);
        if (refused != plan.ruledOut.end())
            remedy.why = refused->why;
        else if (id == nothingToDo && bottleneck.headroom != noHeadroom)
            remedy.why =
                fmt::format("no usual method against {} fits its code", spelling(bottleneck.kind));
        else if (method != nullptr)
            remedy.why = method->why;
        remedies.push_back(std::move(remedy));
    }
    return remedies;
}

} // namespace

Planner::Planner(const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
                 const std::vector<skills::SkillMetadata>& documents)
    : catalogue_(catalogue), documents_(documents) {}

Plan Planner::plan(const PlannerInput& input, const std::stop_token& stop) const {
    Plan plan;
    skills::SkillContext context{input.file, input.kernel, input.features, input.range,
                                 input.compiled};
    const auto& table = builtinRemedies();
    const RemedyAnswer* answer = table ? table->answerTo(input.bottleneck) : nullptr;
    for (const auto& skill : catalogue_) {
        if (stop.stop_requested())
            return {};
        std::string id(skill->id());
        auto document = std::ranges::find(documents_, id, &skills::SkillMetadata::id);
        if (document == documents_.end()) {
            plan.ruledOut.push_back({id, "its SKILL.md is missing or cannot be read"});
            continue;
        }
        auto offer = input.prepared != nullptr ? input.prepared->of(*skill, context, input.range)
                                               : skill->prepare(context);
        if (!offer) {
            plan.ruledOut.push_back(
                {id, fmt::format("{}: {}", offer.error().gate, offer.error().reason)});
        } else {
            plan.ranked.push_back(rank(std::move(*offer), *document, input, answer));
        }
        if (!input.wantsAlternatives)
            continue;
        double later = 0;
        for (skills::Offer& alternative : skill->alternatives(context)) {
            plan.ranked.push_back(rank(std::move(alternative), *document, input, answer));
            plan.ranked.back().score -= ++later * eachAlternativeLater;
        }
    }
    if (stop.stop_requested())
        return {};
    if (input.plain != nullptr)
        addPlainOffers(plan, input, answer, documents_);
    std::ranges::stable_sort(plan.ranked, std::ranges::greater{}, &RankedSkill::score);
    std::ranges::stable_partition(plan.ranked, [](const RankedSkill& ranked) {
        return ranked.role != skills::SkillRole::Hygiene;
    });
    if (answer != nullptr)
        plan.remedies = remediesOf(*table, *answer, input.bottleneck, plan, documents_);
    return plan;
}

std::string_view spelling(AnswersTo answers) {
    switch (answers) {
    case AnswersTo::Leading:
        return "leading";
    case AnswersTo::Further:
        return "further";
    case AnswersTo::Nothing:
        break;
    }
    return "nothing";
}

const RankedSkill* bestAnswer(const Plan& plan) {
    const auto best = std::ranges::find_if(plan.ranked, [](const RankedSkill& ranked) {
        return ranked.answers != AnswersTo::Nothing && !ranked.failedBefore;
    });
    return best == plan.ranked.end() ? nullptr : &*best;
}

} // namespace kernelskill::engine
