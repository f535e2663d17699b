/// Which plans a round tries, and their texts.
#include "engine/search/attempted_draft.h"
#include "engine/search/search_run.h"

#include <algorithm>
#include <iterator>

namespace kernelskill::engine {
namespace {

/// Plans that a round looks at for each that it reviews, if looking is quick.
constexpr int screenedForEach = 4;

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

/// Runs a stepping stone that was only looked at, since the plans for it depend on what holds it
/// back.
bool SearchRun::canLeadOn(SearchVersion& step) {
    const SearchVersion& base = versions_[step.base];
    if (step.isDropped || base.isDropped)
        return false;
    if (step.isAssessed)
        return true;
    say("assessing a step on the way");
    const std::stop_token stop = deadline_.token();
    auto standing = steps_.assess(step.text, stop, {});
    if (stop.stop_requested())
        return false;
    step.isAssessed = true;
    step.isDropped = !standing || (step.needsCounts && !movesLess(base.standing, *standing));
    if (!step.isDropped)
        step.standing = std::move(*standing);
    return !step.isDropped;
}

/// The plans of this round, the best version's first.
std::vector<SearchCandidate> SearchRun::choose() {
    std::vector<SearchCandidate> chosen;
    const int width = std::max(1, options_.beam) * (options_.measure ? screenedForEach : 1);
    for (const std::size_t index : versionsByRank()) {
        if (std::ssize(chosen) >= width)
            return chosen;
        if (versions_[index].isStep() && !canLeadOn(versions_[index]))
            continue;
        const SearchVersion& version = versions_[index];
        Plan plan = steps_.plan(version.text, version.standing);
        std::vector<RankedSkill> open;
        for (RankedSkill& ranked : plan.ranked) {
            const bool isKnown =
                options_.usesShortTermMemory &&
                (ranked.failedBefore ||
                 version.tried.contains({ranked.offer.skillId, ranked.offer.option}));
            if (isKnown)
                plan.ruledOut.push_back(
                    {ranked.offer.skillId,
                     ranked.failedBefore ? ranked.why : "tried on this version already"});
            else
                open.push_back(std::move(ranked));
        }
        if (index == bestVersion())
            result_.ruledOut = plan.ruledOut;
        for (RankedSkill& ranked : open) {
            if (std::ssize(chosen) >= width)
                return chosen;
            SearchCandidate candidate;
            candidate.version = index;
            candidate.attempt.from = version.number;
            candidate.attempt.bottleneck = version.standing.bottleneck;
            candidate.attempt.before = version.standing;
            candidate.attempt.ruledOut = plan.ruledOut;
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

/// Makes the candidate's text, and settles candidates that need no run.
void SearchRun::prepare(SearchCandidate& candidate, std::set<std::uint64_t>& codes) {
    SearchVersion& version = versions_[candidate.version];
    Attempt& attempt = candidate.attempt;
    const skills::Offer& offer = attempt.plan.offer;
    version.tried.insert({offer.skillId, offer.option});
    const std::stop_token stop = deadline_.token();
    auto draft = draftAttempt(steps_, version.text, attempt, stop);
    candidate.isCutOff = stop.stop_requested();
    if (candidate.isCutOff) {
        candidate.isSettled = true;
        return;
    }
    if (!draft) {
        candidate.isSettled = true;
        return;
    }
    candidate.draft = std::move(*draft);
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
