/// Which plans a round tries, and their texts.
#include "engine/search/at_once.h"
#include "engine/search/attempted_draft.h"
#include "engine/search/search_run.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

namespace kernelskill::engine {
namespace {

/// Max number of texts that are parsed at once; each takes some 100 MB.
constexpr unsigned parsesAtOnce = 8;
/// Where less time is left, no round follows that needs an assessment, and reviews need the GPU.
constexpr std::chrono::seconds timeOfARound{5};

} // namespace

/// The versions that gain, the best first, then the stepping stones; during a detour these alone.
std::vector<std::size_t> SearchRun::versionsByRank() const {
    std::vector<std::size_t> order;
    for (std::size_t index = 0; index < versions_.size(); ++index) {
        const SearchVersion& version = versions_[index];
        if (!version.isDropped && !(isDetour_ && !version.isStep()))
            order.push_back(index);
    }
    std::ranges::stable_sort(order, [&](std::size_t left, std::size_t right) {
        const SearchVersion& first = versions_[left];
        const SearchVersion& second = versions_[right];
        return std::pair(first.isStep(), -first.gain) < std::pair(second.isStep(), -second.gain);
    });
    return order;
}

/// Whether plans can be made for the version.
bool SearchRun::canLeadOn(const SearchVersion& version) const {
    return version.isAssessed && !version.isDropped && !versions_[version.base].isDropped;
}

/// Returns the plans that were clearly slower on the versions which a stepping stone leads on from,
/// back to the first one that changed the bottleneck; none for other versions.
TriedPlans SearchRun::slowerBefore(const SearchVersion& version) const {
    TriedPlans plans;
    for (const SearchVersion* at = &version; at->leavesBottleneck;) {
        const int from = result_.attempts[at->attempt].from;
        at = &versions_[static_cast<std::size_t>(from)];
        plans.insert(at->slower.begin(), at->slower.end());
    }
    return plans;
}

/// Runs a version that was only timed, since plans for it depend on what holds it back. Drops a
/// stepping stone that cannot be run.
void SearchRun::assess(SearchVersion& version, const std::stop_token& stop) {
    const SearchVersion& base = versions_[version.base];
    if (version.isAssessed || version.isDropped || base.isDropped)
        return;
    say(version.isStep() ? "assessing a step on the way" : "assessing what is faster");
    auto ahead = ahead_.take(version.text, stop);
    auto standing =
        ahead ? Result<Standing>(std::move(*ahead)) : steps_.assess(version.text, stop, {});
    if (stop.stop_requested())
        return;
    version.isAssessed = true;
    if (version.isStep())
        version.isDropped =
            !standing || (version.needsCounts && !movesLess(base.standing, *standing));
    if (standing && !version.isDropped) {
        result_.attempts[version.attempt].after = *standing;
        version.standing = std::move(*standing);
    }
}

/// Runs a text that is likely to be the best version when the round is over, and prepares a round
/// on it: reviews leave the GPU idle most of the time, and not always need all processors.
void SearchRun::workAhead(const KernelVersion& text) {
    if (result_.rounds >= options_.rounds || slots() < 2)
        return ahead_.begin(text);
    std::set<std::uint64_t> known = decidedCodes_;
    for (const SearchVersion& version : versions_)
        known.insert(version.codeHash);
    ahead_.beginRound(text, std::move(known), deadline_.token());
}

/// Works on the fastest at a glance beside the reviews of the round, if it would be the best
/// version then.
void SearchRun::workAheadOnMostPromising(const std::vector<SearchCandidate*>& open) {
    const bool isOfUse = Deadline::Clock::now() + timeOfARound < begin_ + options_.time;
    if (!options_.measure || !isOfUse || open.empty() || !open.front()->screening)
        return;
    if (promiseOf(*open.front()) > versions_[bestVersion()].gain)
        workAhead(open.front()->draft->text);
}

/// The plans of this round, the best version's first. A round that has enough to review does not
/// wait until further versions were run.
std::vector<SearchCandidate> SearchRun::choose() {
    std::vector<SearchCandidate> chosen;
    const std::size_t width = plansOfARound(options_);
    const auto enough = static_cast<std::size_t>(std::max(1, options_.beam));
    for (const std::size_t index : versionsByRank()) {
        if (chosen.size() >= width)
            return chosen;
        if (!versions_[index].isAssessed && chosen.size() >= enough)
            continue;
        assess(versions_[index], deadline_.token());
        if (!canLeadOn(versions_[index]))
            continue;
        const SearchVersion& version = versions_[index];
        Plan plan = steps_.plan(version.text, version.standing, deadline_.token());
        if (deadline_.token().stop_requested())
            return {};
        RoundPlans plans = roundPlans(std::move(plan), version.tried, slowerBefore(version),
                                      options_.usesShortTermMemory);
        if (index == bestVersion())
            result_.ruledOut = plans.ruledOut;
        for (RankedSkill& ranked : plans.open) {
            if (chosen.size() >= width)
                return chosen;
            SearchCandidate candidate;
            candidate.version = index;
            candidate.attempt.from = version.number;
            candidate.attempt.bottleneck = version.standing.bottleneck;
            candidate.attempt.before = version.standing;
            candidate.attempt.ruledOut = plans.ruledOut;
            candidate.attempt.plan = std::move(ranked);
            chosen.push_back(std::move(candidate));
        }
    }
    return chosen;
}

/// The best version with other options for its steps.
std::vector<SearchCandidate> SearchRun::chooseTuned() {
    tunedVersion_ = bestVersion();
    const SearchVersion& version = versions_[tunedVersion_];
    say("making the best version's edits with other options");
    std::set<std::uint64_t> known = decidedCodes_;
    std::vector<SearchCandidate> chosen;
    for (TunedDraft& tuned :
         tunedDrafts(steps_, version.path, version.text, known, deadline_.token())) {
        SearchCandidate& candidate = chosen.emplace_back();
        candidate.version = tunedVersion_;
        candidate.attempt.from = version.number;
        candidate.attempt.bottleneck = version.standing.bottleneck;
        candidate.attempt.before = version.standing;
        candidate.attempt.plan = std::move(tuned.plan);
        candidate.attempt.plan.why = "another option of an edit that led to the best version";
        candidate.attempt.diff = tuned.draft.diff;
        candidate.draft = std::move(tuned.draft);
        candidate.tunedPath = std::move(tuned.path);
    }
    return chosen;
}

/// The candidate's text, if it was made before. Tells the candidate what a look at it showed.
std::optional<Draft> SearchRun::takePrepared(SearchCandidate& candidate) {
    SearchVersion& version = versions_[candidate.version];
    if (!version.isStep())
        version.prepared.merge(ahead_.takePlans(version.text, deadline_.token()));
    const skills::Offer& offer = candidate.attempt.plan.offer;
    const auto prepared = version.prepared.extract({offer.skillId, offer.option});
    if (prepared.empty())
        return std::nullopt;
    candidate.isScreened = prepared.mapped().isScreened;
    candidate.screening = std::move(prepared.mapped().screening);
    return std::move(prepared.mapped().draft);
}

/// Makes the candidates' texts, several at once, and settles candidates that need no run.
void SearchRun::prepareAll(std::vector<SearchCandidate>& candidates) {
    for (SearchCandidate& candidate : candidates) {
        SearchVersion& version = versions_[candidate.version];
        const skills::Offer& offer = candidate.attempt.plan.offer;
        version.tried.insert({offer.skillId, offer.option});
        steps_.remember(OptimizationSteps::Moment::Begins, version.text, candidate.attempt,
                        nullptr);
    }
    const std::stop_token stop = deadline_.token();
    std::vector<std::optional<Result<Draft>>> drafts(candidates.size());
    std::vector<std::size_t> missing;
    for (std::size_t at = 0; at < candidates.size(); ++at)
        if (auto prepared = takePrepared(candidates[at]))
            drafts[at] = std::move(*prepared);
        else
            missing.push_back(at);
    atOnce(std::clamp(std::thread::hardware_concurrency(), 1U, parsesAtOnce), missing.size(),
           [&](std::size_t number) {
               if (stop.stop_requested())
                   return;
               const SearchCandidate& candidate = candidates[missing[number]];
               drafts[missing[number]] = steps_.draft(versions_[candidate.version].text,
                                                      candidate.attempt.plan.offer, stop);
           });
    std::set<std::uint64_t> codes; // A later candidate with the same code is dropped.
    if (options_.usesShortTermMemory) {
        for (const SearchVersion& version : versions_)
            codes.insert(version.codeHash);
    }
    for (std::size_t at = 0; at < candidates.size(); ++at) {
        SearchCandidate& candidate = candidates[at];
        candidate.isCutOff = stop.stop_requested() || !drafts[at];
        candidate.isSettled = candidate.isCutOff || !*drafts[at];
        if (!candidate.isSettled)
            prepare(candidate, std::move(**drafts[at]), codes);
        else if (!candidate.isCutOff)
            noteMissingDraft(steps_, versions_[candidate.version].text, candidate.attempt,
                             drafts[at]->error());
    }
}

/// Settles the candidate if its draft needs no run.
void SearchRun::prepare(SearchCandidate& candidate, Draft draft, std::set<std::uint64_t>& codes) {
    const SearchVersion& version = versions_[candidate.version];
    Attempt& attempt = candidate.attempt;
    const skills::Offer& offer = attempt.plan.offer;
    candidate.draft = std::move(draft);
    attempt.diff = candidate.draft->diff;
    if (options_.usesShortTermMemory && !codes.insert(candidate.draft->codeHash).second) {
        candidate.isSettled = true;
        attempt.decision = "makes code that this search has already seen";
        return;
    }
    auto known = options_.usesShortTermMemory ? steps_.recall(version.text, offer, *candidate.draft)
                                              : std::nullopt;
    if (!known)
        return steps_.remember(OptimizationSteps::Moment::Drafted, version.text, attempt,
                               &*candidate.draft);
    attempt.isRemembered = true;
    attempt.verdict = std::move(known->verdict);
    if (!known->isKept) {
        candidate.isSettled = true;
        attempt.diagnosis = std::move(known->diagnosis);
        attempt.decision =
            "tried on this code before, " + known->time + ": " + attempt.verdict->summary;
    }
}

} // namespace kernelskill::engine
