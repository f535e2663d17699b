/// How a round looks at its plans, reviews them and keeps what gains.
#include "engine/comparison/program_difference.h"
#include "engine/optimization/candidate_decision.h"
#include "engine/review/timing_verdict.h"
#include "engine/search/at_once.h"
#include "engine/search/joint_stop.h"
#include "engine/search/search_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <thread>

namespace kernelskill::engine {
namespace {

/// A review keeps several cores busy.
constexpr unsigned coresOfASlot = 4;
/// A plan that is so much faster than the best version, and than all others at a glance, is worth
/// building on at once: steps on top of it gain more than the rest of the round.
constexpr double largeGain = 1.5;
/// A plan whose promise is this many times below the best version's gain is not reviewed: its edit
/// is tried on the best version, too.
constexpr double farBehind = 1.25;
/// A plan that promises so much more than what was found is still reviewed.
constexpr double worthWaiting = 1.25;
/// A plan with a lower speedup than this at a glance is not tried again on steps of its version
/// that leave the bottleneck as it is.
constexpr double clearlySlower = 0.9;
/// Max number of stepping stones that are kept of those that lead on from a version that gains.
constexpr std::ptrdiff_t stepsOfAVersion = 4;
/// Max number of stepping stones in a row.
constexpr int stepsInARow = 2;

/// Ranks options of a skill on one version behind all other plans, but for its fastest.
void rankOtherOptionsLast(std::vector<SearchCandidate*>& ranked) {
    std::set<std::pair<std::size_t, std::string>> skills; // The number is the version's.
    std::ranges::stable_partition(ranked, [&](const SearchCandidate* candidate) {
        return candidate->isTuned() ||
               skills.insert({candidate->version, candidate->attempt.plan.offer.skillId}).second;
    });
}

/// Gives the last place of several to the first plan that could not be timed at a glance, unless
/// one has a place: plans that can would keep it waiting in each round.
void keepOneUnseen(std::vector<SearchCandidate*>& ranked, std::size_t places) {
    if (places < 2 || ranked.size() <= places)
        return;
    const auto isUnseen = [](const SearchCandidate* candidate) { return !candidate->screening; };
    const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(places) - 1;
    const auto unseen = std::ranges::find_if(ranked, isUnseen);
    if (unseen != ranked.end() && unseen > last)
        std::rotate(last, unseen, unseen + 1);
}

} // namespace

/// The candidates that are not settled, the fastest at a glance first.
std::vector<SearchCandidate*>
SearchRun::openByPromise(std::vector<SearchCandidate>& candidates) const {
    std::vector<SearchCandidate*> open;
    for (SearchCandidate& candidate : candidates)
        if (!candidate.isSettled)
            open.push_back(&candidate);
    // Plans that cannot be timed at a glance keep the planner's order behind those that gain.
    std::ranges::stable_sort(open, std::ranges::greater{}, [&](const SearchCandidate* candidate) {
        return promiseOf(*candidate);
    });
    return open;
}

/// The gain over the original that the first look at a candidate promises.
double SearchRun::promiseOf(const SearchCandidate& candidate) const {
    return baseOf(candidate).gain * (candidate.screening ? candidate.screening->speedup : 1);
}

/// Drops what is not faster at a glance, and leaves as many as the round reviews.
void SearchRun::screenAll(std::vector<SearchCandidate>& candidates) {
    if (!options_.measure)
        return;
    std::map<std::size_t, std::vector<SearchCandidate*>> byBase;
    for (SearchCandidate& candidate : candidates)
        if (!candidate.isSettled && !candidate.attempt.verdict)
            byBase[versions_[candidate.version].base].push_back(&candidate);
    for (const auto& [base, drafted] : byBase)
        screen(versions_[base], drafted);
    dropThoseBehind(candidates);
    postpone(candidates);
}

/// Looks at those that were not looked at before.
void SearchRun::screen(const SearchVersion& base, const std::vector<SearchCandidate*>& candidates) {
    say(fmt::format("a first look at {} plans", candidates.size()));
    std::vector<SearchCandidate*> unseen;
    std::vector<const Draft*> drafts;
    for (SearchCandidate* candidate : candidates)
        if (!candidate->isScreened) {
            unseen.push_back(candidate);
            drafts.push_back(&*candidate->draft);
        }
    const std::stop_token stop = deadline_.token();
    std::vector<Result<Screening>> seen;
    if (!drafts.empty())
        seen = steps_.screen(base.text, drafts, stop);
    for (std::size_t i = 0; i < unseen.size(); ++i) {
        unseen[i]->isScreened = true;
        unseen[i]->screening = std::move(seen[i]);
    }
    for (SearchCandidate* each : candidates) {
        SearchCandidate& candidate = *each;
        candidate.isCutOff = stop.stop_requested();
        candidate.isSettled = candidate.isCutOff;
        if (candidate.isCutOff || !candidate.screening || !candidate.screening->refusal)
            continue;
        candidate.isSettled = true;
        candidate.attempt.verdict = std::move(candidate.screening->refusal);
        decide(candidate, {}, stop);
    }
}

/// Whether the first look has shown that the candidate leads to nothing better than the best
/// version: it is far slower, or as fast by an edit that the best version has.
bool SearchRun::isBehind(const SearchCandidate& candidate) const {
    const SearchVersion& best = versions_[bestVersion()];
    if (!candidate.screening || candidate.isTuned() || &versions_[candidate.version] == &best)
        return false;
    const double promise = promiseOf(candidate);
    const bool isEditOfBest =
        std::ranges::find(best.skills, candidate.attempt.plan.offer.skillId) != best.skills.end();
    return farBehind * promise < best.gain ||
           (isEditOfBest && promise <= best.gain * (1 + minEffect));
}

void SearchRun::dropThoseBehind(std::vector<SearchCandidate>& candidates) const {
    for (SearchCandidate& candidate : candidates) {
        if (candidate.isSettled || candidate.attempt.verdict || !isBehind(candidate))
            continue;
        candidate.isSettled = true;
        candidate.attempt.decision =
            fmt::format("not reviewed: {:.3f}x of the original at a glance, where the best version "
                        "is {:.3f}x",
                        promiseOf(candidate), versions_[bestVersion()].gain);
    }
}

/// Leaves the slower ones for later, where more are faster at a glance than a round reviews.
void SearchRun::postpone(std::vector<SearchCandidate>& candidates) {
    std::vector<SearchCandidate*> faster = openByPromise(candidates);
    if (!faster.empty() && faster.front()->screening)
        faster.front()->isPromising = true;
    const auto places = static_cast<std::size_t>(std::max(1, options_.beam));
    rankOtherOptionsLast(faster);
    keepOneUnseen(faster, places);
    for (std::size_t place = places; place < faster.size(); ++place) {
        SearchCandidate& candidate = *faster[place];
        leaveForLater(candidate,
                      candidate.screening
                          ? fmt::format("{:.3f}x at a glance; others gain more, so it is left "
                                        "for later",
                                        candidate.screening->speedup)
                          : "others are known to gain, so it is left for later; it was not timed "
                            "at a glance: " +
                                candidate.screening.error().what);
    }
}

/// A later round on the same version may take the plan again, with the text that was made.
void SearchRun::leaveForLater(SearchCandidate& candidate, std::string why) {
    SearchVersion& version = versions_[candidate.version];
    const skills::Offer& offer = candidate.attempt.plan.offer;
    if (!candidate.isTuned()) {
        version.tried.erase({offer.skillId, offer.option});
        version.prepared.insert_or_assign(
            {offer.skillId, offer.option},
            PreparedPlan{*candidate.draft, candidate.isScreened, candidate.screening});
    }
    candidate.isSettled = true;
    candidate.isCutOff = false;
    candidate.attempt.verdict.reset();
    candidate.attempt.isRemembered = false;
    candidate.attempt.isPostponed = true;
    candidate.attempt.decision = std::move(why);
}

std::size_t SearchRun::slots() const {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    return options_.slots > 0 ? static_cast<std::size_t>(options_.slots)
                              : std::max(1U, cores / coresOfASlot);
}

/// Whether one plan is far ahead of the best version and of all others of the round at a glance.
bool SearchRun::hasClearLeader(const std::vector<SearchCandidate*>& open) const {
    const auto isSeen = [](const SearchCandidate* candidate) {
        return candidate->screening.has_value() && !candidate->isTuned();
    };
    if (open.size() < 2 || !std::ranges::all_of(open, isSeen))
        return false;
    const double others = std::max(versions_[bestVersion()].gain, promiseOf(*open[1]));
    return promiseOf(*open.front()) >= largeGain * others;
}

/// Whether the candidate was kept with a large gain over the best version of before the round, as
/// the first look has shown it.
bool SearchRun::isWorthBuildingOn(const SearchCandidate& candidate) const {
    const auto& verdict = candidate.attempt.verdict;
    return candidate.screening && candidate.attempt.isKept && !candidate.isTuned() &&
           verdict->speedup &&
           baseOf(candidate).gain * *verdict->speedup >= largeGain * versions_[bestVersion()].gain;
}

/// The most promising first, several at once; a clear leader alone. A large gain ends the round:
/// what is known to promise no more is left for later.
void SearchRun::judgeAll(std::vector<SearchCandidate>& candidates) {
    const std::vector<SearchCandidate*> open = openByPromise(candidates);
    workAheadOnMostPromising(open);
    std::stop_source roundsEnd;
    std::mutex ending;
    std::set<const SearchCandidate*> decided; // Guarded by `ending`.
    const auto judgeAt = [&](std::size_t at) {
        if (roundsEnd.stop_requested()) {
            open[at]->isCutOff = true;
            return;
        }
        SearchCandidate& candidate = *open[at];
        judge(candidate, roundsEnd.get_token());
        const std::scoped_lock lock(ending);
        decided.insert(&candidate);
        if (candidate.isCutOff || !isWorthBuildingOn(candidate))
            return;
        const double gain = baseOf(candidate).gain * *candidate.attempt.verdict->speedup;
        const bool isBest = std::ranges::all_of(open, [&](const SearchCandidate* other) {
            return decided.contains(other) ||
                   (other->screening && promiseOf(*other) <= worthWaiting * gain);
        });
        if (isBest)
            roundsEnd.request_stop();
    };
    const std::size_t alone = hasClearLeader(open) ? 1 : 0;
    if (alone > 0)
        judgeAt(0);
    atOnce(slots(), open.size() - alone, [&](std::size_t at) { judgeAt(at + alone); });
    for (SearchCandidate* candidate : open)
        if (candidate->isCutOff && roundsEnd.stop_requested() && !deadline_.hasPassed())
            leaveForLater(*candidate, "another gains much, so it is left for later");
    const SearchCandidate* first = open.empty() ? nullptr : open.front();
    if (first != nullptr && first->attempt.verdict && !first->attempt.isKept && !first->step)
        ahead_.drop(first->draft->text);
}

/// Returns the accuracy of the candidate's version compared with the original.
skills::Accuracy SearchRun::accuracyOf(const SearchCandidate& candidate) const {
    return candidate.isTuned()
               ? candidate.draft->accuracy
               : skills::combined(versions_[candidate.version].accuracy, candidate.draft->accuracy);
}

/// Begins to review the fastest at a glance against the original, which it needs if it is kept.
void SearchRun::reviewSumAhead(SearchCandidate& candidate) {
    if (!candidate.isPromising || versions_[candidate.version].base == 0 || slots() < 2 ||
        promiseOf(candidate) <= versions_[bestVersion()].gain)
        return;
    candidate.sumAhead = std::make_shared<SumAhead>(
        [this, original = versions_.front().text, text = candidate.draft->text,
         accuracy = accuracyOf(candidate)](const std::stop_token& over) -> Result<Verdict> {
            const JointStop stop(stop_, over);
            const auto edits = editsBetween(original.program, text.program);
            if (!edits)
                return std::unexpected(edits.error());
            return steps_.reviewSum(original, *edits, accuracy, stop.token());
        });
}

/// Called by several threads at once.
void SearchRun::judge(SearchCandidate& candidate, const std::stop_token& roundsEnd) {
    const SearchVersion& version = versions_[candidate.version];
    const SearchVersion& base = baseOf(candidate);
    Attempt& attempt = candidate.attempt;
    const auto report = [&](std::string_view what, double) {
        say(fmt::format("{}: {}", attempt.plan.offer.skillId, what));
    };
    const bool mayBeLate = candidate.isPromising && bestVersion() == 0;
    const JointStop ends((mayBeLate ? lateDeadline_ : deadline_).token(), roundsEnd);
    const std::stop_token stop = ends.token();
    if (!attempt.verdict) {
        reviewSumAhead(candidate);
        const auto edits = version.isStep()
                               ? editsBetween(base.text.program, candidate.draft->text.program)
                               : Result<analysis::EditSet>(candidate.draft->edits);
        auto verdict = edits
                           ? steps_.review(base.text, *edits,
                                           skills::combined(candidate.isTuned() ? version.accuracy
                                                                                : version.sinceBase,
                                                            candidate.draft->accuracy),
                                           stop, report)
                           : Result<Verdict>(std::unexpected(edits.error()));
        candidate.isReviewed = true;
        candidate.isCutOff = stop.stop_requested();
        if (candidate.isCutOff)
            return;
        if (!verdict) {
            attempt.decision = "it could not be reviewed: " + verdict.error().describe();
            return;
        }
        attempt.verdict = std::move(*verdict);
    }
    Standing after;
    // A measured candidate needs no counts to be kept: it is run when plans are made for it.
    if (attempt.verdict->status == VerdictStatus::Unmeasured) {
        auto standing = steps_.assess(candidate.draft->text, stop, report);
        candidate.isCutOff = stop.stop_requested();
        if (candidate.isCutOff)
            return;
        if (standing)
            attempt.after = after = std::move(*standing);
    }
    decide(candidate, after, stop);
    if (!attempt.isKept)
        candidate.sumAhead.reset();
}

/// Decides by the verdict. What may be a stepping stone is concluded with the round.
void SearchRun::decide(SearchCandidate& candidate, const Standing& after,
                       const std::stop_token& stop) {
    const SearchVersion& version = versions_[candidate.version];
    const Standing& before = baseOf(candidate).standing;
    Attempt& attempt = candidate.attempt;
    auto decision = decideCandidate(*attempt.verdict, before, after);
    attempt.isKept = decision.isKept;
    attempt.decision = std::move(decision.sentence);
    if (!attempt.isKept && version.steps < stepsInARow && !candidate.isTuned()) {
        const bool isHygiene = attempt.plan.role == skills::SkillRole::Hygiene;
        candidate.step = steppingStoneOf(
            attempt, before, after,
            isHygiene ? openedBy(candidate, stop) : std::vector<std::string>{}, options_.measure);
    }
    if (!candidate.step)
        conclude(candidate, stop);
}

/// Says why a candidate was dropped, and remembers the decision.
void SearchRun::conclude(SearchCandidate& candidate, const std::stop_token& stop) {
    const SearchVersion& base = baseOf(candidate);
    Attempt& attempt = candidate.attempt;
    if (!attempt.isKept && !attempt.isRemembered)
        attempt.diagnosis = steps_.diagnose({base.text, candidate.draft->text, *attempt.verdict,
                                             candidate.draft->accuracy.numerics, base.standing,
                                             attempt.after ? &*attempt.after : nullptr},
                                            stop);
    if (attempt.isRemembered)
        attempt.decision += "; the verdict is remembered";
    else if (!candidate.isTuned())
        steps_.remember(OptimizationSteps::Moment::Decided, versions_[candidate.version].text,
                        attempt, &*candidate.draft);
}

/// Keeps the most promising stepping stones of the round, of each skill on a version one.
void SearchRun::limitSteps(std::vector<SearchCandidate>& candidates) {
    std::vector<SearchCandidate*> steps;
    for (SearchCandidate& candidate : candidates)
        if (candidate.step && !candidate.isCutOff)
            steps.push_back(&candidate);
    std::ranges::stable_sort(steps, {}, [](const SearchCandidate* candidate) {
        return std::pair(candidate->step->reason, -candidate->step->speedup);
    });
    std::map<std::size_t, std::ptrdiff_t> kept; ///< The key is the base.
    for (const SearchVersion& version : versions_)
        kept[version.base] += version.isStep() ? 1 : 0;
    std::set<std::pair<std::size_t, std::string>> skills; ///< The number is the version's.
    for (SearchCandidate* candidate : steps) {
        std::ptrdiff_t& count = kept[versions_[candidate->version].base];
        Attempt& attempt = candidate->attempt;
        attempt.isKept = count < stepsOfAVersion &&
                         skills.insert({candidate->version, attempt.plan.offer.skillId}).second;
        if (attempt.isKept) {
            ++count;
            attempt.decision += "; " + candidate->step->why;
        }
        conclude(*candidate, deadline_.token());
    }
}

/// Names the answers to a bottleneck that fit the candidate's text and not the version it edits.
std::vector<std::string> SearchRun::openedBy(const SearchCandidate& candidate,
                                             const std::stop_token& stop) const {
    const SearchVersion& version = versions_[candidate.version];
    const auto answersIn = [&](const KernelVersion& text) {
        std::vector<std::string> answers;
        for (const RankedSkill& ranked : steps_.plan(text, version.standing, stop).ranked)
            if (ranked.answers != AnswersTo::Nothing && !ranked.failedBefore &&
                std::ranges::find(answers, ranked.offer.skillId) == answers.end())
                answers.push_back(ranked.offer.skillId);
        return answers;
    };
    const std::vector<std::string> before = answersIn(version.text);
    std::vector<std::string> opened = answersIn(candidate.draft->text);
    std::erase_if(opened, [&](const std::string& skill) {
        return std::ranges::find(before, skill) != before.end();
    });
    return opened;
}

/// The version that a kept candidate makes. Takes the candidate's text and path.
SearchVersion SearchRun::versionOf(SearchCandidate& candidate) const {
    const Attempt& attempt = candidate.attempt;
    const SearchVersion& from = versions_[candidate.version];
    const SearchVersion& base = baseOf(candidate);
    SearchVersion made;
    made.number = static_cast<int>(versions_.size());
    made.text = std::move(candidate.draft->text);
    made.codeHash = candidate.draft->codeHash;
    made.isAssessed = attempt.after.has_value();
    if (attempt.after)
        made.standing = *attempt.after;
    const bool isModelled = base.standing.cost && made.standing.cost;
    made.gain = base.gain * (candidate.step             ? std::min(1.0, candidate.step->speedup)
                             : attempt.verdict->speedup ? *attempt.verdict->speedup
                             : isModelled ? modelledGain(*base.standing.cost, *made.standing.cost)
                                          : 1);
    made.skills = from.skills;
    made.accuracy = accuracyOf(candidate);
    made.sumAhead = std::move(candidate.sumAhead);
    if (candidate.isTuned()) {
        made.path = std::move(candidate.tunedPath);
        made.isTuned = true;
    } else {
        made.skills.push_back(attempt.plan.offer.skillId);
        made.path = from.path;
        made.path.push_back(
            {from.text, from.standing, attempt.plan.offer, candidate.draft->accuracy});
    }
    made.attempt = result_.attempts.size();
    if (candidate.step) {
        made.base = from.base;
        made.steps = from.steps + 1;
        made.sinceBase = skills::combined(from.sinceBase, candidate.draft->accuracy);
        made.needsCounts = candidate.step->needsCounts;
        made.leavesBottleneck = candidate.step->reason != StepReason::Answers &&
                                candidate.step->reason != StepReason::MovesLess;
    } else {
        made.base = versions_.size();
        // Compared with the original, the whole is what was reviewed.
        made.isVerified = from.base == 0 && !attempt.isRemembered;
    }
    if (made.isVerified)
        made.sum = attempt.verdict;
    return made;
}

void SearchRun::settle(SearchCandidate candidate) {
    Attempt& attempt = candidate.attempt;
    attempt.round = result_.rounds;
    attempt.number = static_cast<int>(result_.attempts.size()) + 1;
    if (candidate.draft && !attempt.isPostponed)
        decidedCodes_.insert(candidate.draft->codeHash);
    const skills::Offer& offer = attempt.plan.offer;
    if (!candidate.isTuned() && candidate.screening && candidate.screening->speedup < clearlySlower)
        versions_[candidate.version].slower.insert({offer.skillId, offer.option});
    if (attempt.isKept) {
        SearchVersion made = versionOf(candidate);
        attempt.version = made.number;
        versions_.push_back(std::move(made));
    }
    result_.attempts.push_back(std::move(attempt));
}

} // namespace kernelskill::engine
