#include "engine/search/rounds_ahead.h"

#include "engine/search/at_once.h"
#include "engine/search/await.h"
#include "engine/search/joint_stop.h"
#include "engine/search/model_steps.h"
#include "engine/search/round_plans.h"

#include <algorithm>
#include <thread>

namespace kernelskill::engine {
namespace {

/// The parses that are made beside reviews, which need the processors more.
constexpr unsigned parsesBesideReviews = 4;

} // namespace

RoundsAhead::Entry* RoundsAhead::find(const KernelVersion& text) {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
        const ProgramSource& program = entry.text.program;
        return !entry.over.stop_requested() && program.text == text.program.text &&
               program.unsaved == text.program.unsaved && entry.text.kernelName == text.kernelName;
    });
    return found == entries_.end() ? nullptr : &*found;
}

RoundsAhead::Entry& RoundsAhead::begun(const KernelVersion& text) {
    if (Entry* entry = find(text))
        return *entry;
    Entry& entry = entries_.emplace_back(text);
    entry.standing = std::async(std::launch::async, [this, text, over = entry.over.get_token()] {
                         const JointStop stop(stop_, over);
                         return steps_.assess(text, stop.token(), {});
                     }).share();
    return entry;
}

void RoundsAhead::begin(const KernelVersion& text) {
    begun(text);
}

void RoundsAhead::beginRound(const KernelVersion& text, std::set<std::uint64_t> known,
                             std::stop_token stop) {
    Entry& entry = begun(text);
    if (entry.plans.valid())
        return;
    entry.plans = std::async(std::launch::async, [this, text, standing = entry.standing,
                                                  known = std::move(known), stop = std::move(stop),
                                                  over = entry.over.get_token()] {
        const JointStop either(stop, over);
        const Result<Standing>& found = standing.get();
        return found ? prepare(text, *found, known, either.token()) : PreparedPlans{};
    });
}

PreparedPlans RoundsAhead::prepare(const KernelVersion& text, const Standing& standing,
                                   const std::set<std::uint64_t>& known,
                                   const std::stop_token& stop) const {
    if (stop.stop_requested())
        return {};
    const RoundPlans plans =
        roundPlans(steps_.plan(text, standing, stop), {}, {}, options_.usesShortTermMemory);
    std::vector<const skills::Offer*> offers;
    for (const RankedSkill& ranked : plans.open)
        if (offers.size() < plansOfARound(options_) && ranked.offer.skillId != languageModelSkill)
            offers.push_back(&ranked.offer);
    std::vector<std::optional<Draft>> drafts(offers.size());
    atOnce(std::clamp(std::thread::hardware_concurrency() / 2, 1U, parsesBesideReviews),
           offers.size(), [&](std::size_t at) {
               if (stop.stop_requested())
                   return;
               if (auto draft = steps_.draft(text, *offers[at], stop))
                   drafts[at] = std::move(*draft);
           });
    PreparedPlans prepared;
    std::vector<PreparedPlan*> unseen;
    std::vector<const Draft*> toScreen;
    std::set<std::uint64_t> codes = known;
    for (std::size_t at = 0; at < offers.size(); ++at) {
        if (!drafts[at])
            continue;
        PreparedPlan& plan = prepared[{offers[at]->skillId, offers[at]->option}];
        plan.draft = std::move(*drafts[at]);
        const bool isKnown =
            options_.usesShortTermMemory && (!codes.insert(plan.draft.codeHash).second ||
                                             steps_.recall(text, *offers[at], plan.draft));
        if (!isKnown)
            unseen.push_back(&plan);
    }
    for (const PreparedPlan* plan : unseen)
        toScreen.push_back(&plan->draft);
    if (!options_.measure || toScreen.empty() || stop.stop_requested())
        return prepared;
    auto seen = steps_.screen(text, toScreen, stop);
    for (std::size_t at = 0; at < unseen.size() && !stop.stop_requested(); ++at) {
        unseen[at]->isScreened = true;
        unseen[at]->screening = std::move(seen[at]);
    }
    return prepared;
}

std::optional<Standing> RoundsAhead::take(const KernelVersion& text, const std::stop_token& stop) {
    const Entry* entry = find(text);
    if (entry == nullptr || !awaitResult(entry->standing, stop))
        return std::nullopt;
    const Result<Standing>& standing = entry->standing.get();
    return standing ? std::optional(*standing) : std::nullopt;
}

PreparedPlans RoundsAhead::takePlans(const KernelVersion& text, const std::stop_token& stop) {
    Entry* entry = find(text);
    if (entry == nullptr || !entry->plans.valid() || !awaitResult(entry->plans, stop))
        return {};
    return entry->plans.get();
}

void RoundsAhead::drop(const KernelVersion& text) {
    if (Entry* entry = find(text))
        entry->over.request_stop();
}

RoundsAhead::~RoundsAhead() {
    for (Entry& entry : entries_)
        entry.over.request_stop();
}

} // namespace kernelskill::engine
