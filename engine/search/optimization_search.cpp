#include "engine/search/optimization_search.h"

#include "engine/comparison/program_difference.h"
#include "engine/optimization/candidate_decision.h"
#include "engine/optimization/remaining_loss.h"
#include "engine/search/attempted_draft.h"
#include "engine/search/deadline.h"
#include "engine/search/search_version.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Rounds without a new best after which the search has converged.
constexpr int patience = 2;
/// A measured kernel that reaches this percentage of its GPU's roofline is left alone.
constexpr double rooflinePercent = 95;
/// A review keeps several cores busy.
constexpr unsigned coresOfASlot = 4;
/// Plans that a round looks at for each that it reviews, if looking is quick.
constexpr int screenedForEach = 4;
/// Stepping stones that are kept of those that lead on from a version that gains.
constexpr std::ptrdiff_t stepsOfAVersion = 4;
/// Stepping stones in a row.
constexpr int stepsInARow = 2;

using Clock = Deadline::Clock;

class Search {
public:
    Search(OptimizationSteps& steps, const OptimizationOptions& options, KernelVersion original,
           std::stop_token stop, const ProgressSink& progress)
        : steps_(steps), options_(options), stop_(std::move(stop)), progress_(progress),
          deadline_(begin_ + options.time, stop_), lateDeadline_(begin_ + 2 * options.time, stop_) {
        result_.kernel = original.kernelName;
        versions_.emplace_back().text = std::move(original);
    }

    Result<Optimization> run() {
        SearchVersion& base = versions_.front();
        say("assessing the original");
        auto standing = steps_.assess(base.text, deadline_.token(), {});
        if (!standing && !deadline_.token().stop_requested())
            return std::unexpected(standing.error());
        if (!standing) {
            std::ignore = isOver(); // It sets the reason.
            return finished();
        }
        base.standing = std::move(*standing);
        base.codeHash = codeHash(base.text);
        base.isVerified = true;
        result_.base = base.standing;
        while (!isOver())
            playRound();
        verifyBest(stop_);
        return finished();
    }

private:
    [[nodiscard]] bool isOver();
    void playRound();
    [[nodiscard]] std::vector<SearchCandidate> choose();
    [[nodiscard]] std::vector<SearchCandidate> chooseTuned();
    void prepare(SearchCandidate& candidate, std::set<std::uint64_t>& codes);
    void screenAll(std::vector<SearchCandidate>& candidates);
    void screen(const SearchVersion& base, const std::vector<SearchCandidate*>& candidates);
    void postpone(std::vector<SearchCandidate>& candidates);
    void judgeAll(std::vector<SearchCandidate>& candidates);
    [[nodiscard]] std::vector<SearchCandidate*>
    openByPromise(std::vector<SearchCandidate>& candidates) const;
    void judge(SearchCandidate& candidate);
    void decide(SearchCandidate& candidate, const Standing& after, const std::stop_token& stop);
    void conclude(SearchCandidate& candidate, const std::stop_token& stop);
    void limitSteps(std::vector<SearchCandidate>& candidates);
    [[nodiscard]] std::vector<std::string> openedBy(const SearchCandidate& candidate) const;
    [[nodiscard]] std::vector<std::size_t> versionsByRank() const;
    [[nodiscard]] bool canLeadOn(SearchVersion& step);
    void settle(SearchCandidate candidate);
    void verifyBest(const std::stop_token& stop);
    [[nodiscard]] Optimization finished();

    [[nodiscard]] std::size_t bestVersion() const {
        std::size_t best = 0;
        for (std::size_t index = 1; index < versions_.size(); ++index) {
            const SearchVersion& version = versions_[index];
            if (!version.isDropped && !version.isStep() && version.gain > versions_[best].gain)
                best = index;
        }
        return best;
    }
    /// The version that the candidate is compared with.
    [[nodiscard]] const SearchVersion& baseOf(const SearchCandidate& candidate) const {
        return versions_[versions_[candidate.version].base];
    }
    /// Whether other options of the best version's steps are still to be tried.
    [[nodiscard]] bool canTune() const { return bestVersion() != tunedVersion_; }
    [[nodiscard]] bool hasSteps() const {
        return std::ranges::any_of(versions_, [](const SearchVersion& version) {
            return version.isStep() && !version.isDropped;
        });
    }
    bool stopBecause(StopReason reason, std::string text) {
        result_.stop = reason;
        result_.stopText = std::move(text);
        return true;
    }
    void say(std::string_view what) const {
        if (!progress_)
            return;
        const auto left = std::chrono::duration<double>(options_.time).count();
        const double byTime =
            left > 0 ? std::chrono::duration<double>(Clock::now() - begin_).count() / left : 1;
        const double byRounds =
            static_cast<double>(std::max(0, result_.rounds - 1)) / std::max(1, options_.rounds);
        const std::scoped_lock lock(saying_);
        progress_(result_.rounds == 0
                      ? std::string(what)
                      : fmt::format("round {} of {}: {}", result_.rounds, options_.rounds, what),
                  std::clamp(std::max(byTime, byRounds), 0.0, 1.0));
    }

    OptimizationSteps& steps_;
    const OptimizationOptions& options_;
    std::stop_token stop_;
    const ProgressSink& progress_;
    mutable std::mutex saying_;
    Clock::time_point begin_ = Clock::now();
    Deadline deadline_;
    Deadline lateDeadline_; ///< Of a promising candidate's review.

    std::vector<SearchVersion> versions_;
    Optimization result_;
    int roundsWithoutGain_ = 0;
    bool wasFresh_ = true; ///< Whether the last round learnt something new to memory.
    bool isExhausted_ = false;
    /// Whether only stepping stones are built on, since rounds on versions that gain found nothing.
    bool isDetour_ = false;
    std::size_t tunedVersion_ = 0; ///< Whose steps were tried with other options last.
    std::set<std::uint64_t> decidedCodes_;
};

/// Says how much the roofline leaves to gain.
std::optional<std::string> rooflineText(const Standing& standing) {
    if (standing.measured && standing.measured->percent() >= rooflinePercent)
        return fmt::format("it reaches {:.0f} % of what the GPU does at best, as measured",
                           standing.measured->percent());
    if (!standing.measured && standing.cost && isAtRoofline(*standing.cost))
        return "even the later end of the model's time is near the roofline: " +
               describe(*standing.cost);
    return std::nullopt;
}

bool Search::isOver() {
    if (stop_.stop_requested())
        return stopBecause(StopReason::Cancelled, "cancelled: what follows is the best so far");
    if (deadline_.hasPassed())
        return stopBecause(StopReason::TimeSpent,
                           fmt::format("the {} s are used up", options_.time.count()));
    const SearchVersion& best = versions_[bestVersion()];
    if (const auto text = rooflineText(best.standing))
        return stopBecause(StopReason::AtRoofline, "at the roofline: " + *text);
    if (isExhausted_ && !isDetour_)
        return stopBecause(StopReason::NoPlanLeft,
                           "no plan is left: every skill that fits a version of the kernel has "
                           "been tried, or was ruled out");
    if (isExhausted_ || (roundsWithoutGain_ >= patience && !canTune()))
        return stopBecause(StopReason::Converged,
                           fmt::format("converged: {} rounds found nothing better", patience));
    if (result_.rounds >= options_.rounds)
        return stopBecause(StopReason::RoundsSpent,
                           options_.rounds == 1
                               ? std::string("the only round is used up")
                               : fmt::format("the {} rounds are used up", options_.rounds));
    return false;
}

void Search::playRound() {
    const bool hasConverged = roundsWithoutGain_ >= patience;
    std::vector<SearchCandidate> candidates =
        hasConverged ? std::vector<SearchCandidate>{} : choose();
    const bool isTuning = candidates.empty() && canTune();
    if (isTuning)
        candidates = chooseTuned();
    if (candidates.empty()) {
        isExhausted_ = !hasConverged;
        return;
    }
    ++result_.rounds;
    std::vector<std::string> names;
    for (const SearchCandidate& candidate : candidates)
        names.push_back(candidate.attempt.plan.offer.skillId);
    say(fmt::format("trying {}{}", isTuning ? "other options of " : "", fmt::join(names, ", ")));

    // If an earlier candidate of the round has the same code, a later one is dropped.
    std::set<std::uint64_t> codes;
    if (options_.usesShortTermMemory) {
        for (const SearchVersion& version : versions_)
            codes.insert(version.codeHash);
    }
    if (!isTuning)
        for (SearchCandidate& candidate : candidates)
            prepare(candidate, codes);
    screenAll(candidates);
    judgeAll(candidates);

    const std::size_t before = bestVersion();
    wasFresh_ = std::ranges::any_of(candidates, [](const SearchCandidate& candidate) {
        return candidate.attempt.verdict && !candidate.attempt.isRemembered;
    });
    const bool wasCheap =
        options_.measure && std::ranges::none_of(candidates, &SearchCandidate::isReviewed);
    limitSteps(candidates);
    for (SearchCandidate& candidate : candidates) {
        if (!candidate.isCutOff)
            settle(std::move(candidate));
    }
    if (wasFresh_)
        verifyBest(deadline_.token());
    if (bestVersion() != before) {
        roundsWithoutGain_ = 0;
        isDetour_ = false;
    } else if (!wasCheap) { // Glances are no reason to give up.
        ++roundsWithoutGain_;
    }
    if (roundsWithoutGain_ >= patience && !isDetour_ && hasSteps()) {
        roundsWithoutGain_ = 0;
        isDetour_ = true;
    }
}

/// The versions that gain, the best first, then the stepping stones; during a detour these alone.
std::vector<std::size_t> Search::versionsByRank() const {
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
bool Search::canLeadOn(SearchVersion& step) {
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
std::vector<SearchCandidate> Search::choose() {
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
std::vector<SearchCandidate> Search::chooseTuned() {
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
void Search::prepare(SearchCandidate& candidate, std::set<std::uint64_t>& codes) {
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

/// The candidates that are not settled, the fastest at a glance first.
std::vector<SearchCandidate*>
Search::openByPromise(std::vector<SearchCandidate>& candidates) const {
    std::vector<SearchCandidate*> open;
    for (SearchCandidate& candidate : candidates)
        if (!candidate.isSettled)
            open.push_back(&candidate);
    std::ranges::stable_sort(open, std::ranges::greater{}, [&](const SearchCandidate* candidate) {
        // Plans that cannot be timed at a glance keep the planner's order behind those that gain.
        return baseOf(*candidate).gain * (candidate->screening ? candidate->screening->speedup : 1);
    });
    return open;
}

/// Drops what is not faster at a glance, and leaves as many as the round reviews.
void Search::screenAll(std::vector<SearchCandidate>& candidates) {
    if (!options_.measure)
        return;
    std::map<std::size_t, std::vector<SearchCandidate*>> byBase;
    for (SearchCandidate& candidate : candidates)
        if (!candidate.isSettled && !candidate.attempt.verdict)
            byBase[versions_[candidate.version].base].push_back(&candidate);
    for (const auto& [base, drafted] : byBase)
        screen(versions_[base], drafted);
    postpone(candidates);
}

void Search::screen(const SearchVersion& base, const std::vector<SearchCandidate*>& candidates) {
    say(fmt::format("a first look at {} plans", candidates.size()));
    std::vector<const Draft*> drafts;
    for (const SearchCandidate* candidate : candidates)
        drafts.push_back(&*candidate->draft);
    const std::stop_token stop = deadline_.token();
    std::vector<std::optional<Screening>> seen = steps_.screen(base.text, drafts, stop);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        SearchCandidate& candidate = *candidates[i];
        candidate.screening = std::move(seen[i]);
        candidate.isCutOff = stop.stop_requested();
        candidate.isSettled = candidate.isCutOff;
        if (candidate.isCutOff || !candidate.screening || !candidate.screening->refusal)
            continue;
        candidate.isSettled = true;
        candidate.attempt.verdict = std::move(candidate.screening->refusal);
        decide(candidate, {}, stop);
    }
}

/// Leaves the slower ones for later, where more are faster at a glance than a round reviews.
void Search::postpone(std::vector<SearchCandidate>& candidates) {
    const std::vector<SearchCandidate*> faster = openByPromise(candidates);
    if (!faster.empty() && faster.front()->screening)
        faster.front()->isPromising = true;
    for (std::size_t place = static_cast<std::size_t>(std::max(1, options_.beam));
         place < faster.size(); ++place) {
        SearchCandidate& candidate = *faster[place];
        const skills::Offer& offer = candidate.attempt.plan.offer;
        if (!candidate.isTuned())
            versions_[candidate.version].tried.erase({offer.skillId, offer.option});
        candidate.isSettled = true;
        candidate.attempt.isPostponed = true;
        candidate.attempt.decision =
            candidate.screening
                ? fmt::format("{:.3f}x at a glance; others gain more, so it is left for later",
                              candidate.screening->speedup)
                : "others are known to gain, so it is left for later";
    }
}

/// The most promising first, several at once.
void Search::judgeAll(std::vector<SearchCandidate>& candidates) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t slots = options_.slots > 0 ? static_cast<std::size_t>(options_.slots)
                                                 : std::max(1U, cores / coresOfASlot);
    const std::vector<SearchCandidate*> open = openByPromise(candidates);
    std::atomic<std::size_t> next = 0;
    const auto workOff = [&] {
        for (std::size_t index = next++; index < open.size(); index = next++)
            judge(*open[index]);
    };
    std::vector<std::jthread> others;
    for (std::size_t slot = 1; slot < std::min(slots, open.size()); ++slot)
        others.emplace_back(workOff);
    workOff();
}

/// Called by several threads at once.
void Search::judge(SearchCandidate& candidate) {
    const SearchVersion& version = versions_[candidate.version];
    const SearchVersion& base = baseOf(candidate);
    Attempt& attempt = candidate.attempt;
    const auto report = [&](std::string_view what, double) {
        say(fmt::format("{}: {}", attempt.plan.offer.skillId, what));
    };
    const bool mayBeLate = candidate.isPromising && bestVersion() == 0;
    const std::stop_token stop = (mayBeLate ? lateDeadline_ : deadline_).token();
    if (!attempt.verdict) {
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
    const VerdictStatus status = attempt.verdict->status;
    if (status == VerdictStatus::Faster || status == VerdictStatus::Unmeasured) {
        auto standing = steps_.assess(candidate.draft->text, stop, report);
        candidate.isCutOff = stop.stop_requested();
        if (candidate.isCutOff)
            return;
        if (standing)
            attempt.after = after = std::move(*standing);
    }
    decide(candidate, after, stop);
}

/// Decides by the verdict. What may be a stepping stone is concluded with the round.
void Search::decide(SearchCandidate& candidate, const Standing& after,
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
            attempt, before, after, isHygiene ? openedBy(candidate) : std::vector<std::string>{},
            options_.measure);
    }
    if (!candidate.step)
        conclude(candidate, stop);
}

/// Says why a candidate was dropped, and remembers the decision.
void Search::conclude(SearchCandidate& candidate, const std::stop_token& stop) {
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
void Search::limitSteps(std::vector<SearchCandidate>& candidates) {
    std::vector<SearchCandidate*> steps;
    for (SearchCandidate& candidate : candidates)
        if (candidate.step && !candidate.isCutOff)
            steps.push_back(&candidate);
    std::ranges::stable_sort(steps, {}, [](const SearchCandidate* candidate) {
        return std::pair(candidate->step->reason, -candidate->step->speedup);
    });
    std::map<std::size_t, std::ptrdiff_t> kept; ///< By base.
    for (const SearchVersion& version : versions_)
        kept[version.base] += version.isStep() ? 1 : 0;
    std::set<std::pair<std::size_t, std::string>> skills; ///< By version.
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
std::vector<std::string> Search::openedBy(const SearchCandidate& candidate) const {
    const SearchVersion& version = versions_[candidate.version];
    const auto answersIn = [&](const KernelVersion& text) {
        std::vector<std::string> answers;
        for (const RankedSkill& ranked : steps_.plan(text, version.standing).ranked)
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

void Search::settle(SearchCandidate candidate) {
    Attempt& attempt = candidate.attempt;
    attempt.round = result_.rounds;
    attempt.number = static_cast<int>(result_.attempts.size()) + 1;
    if (candidate.draft && !attempt.isPostponed)
        decidedCodes_.insert(candidate.draft->codeHash);
    if (attempt.isKept) {
        const SearchVersion& from = versions_[candidate.version];
        const SearchVersion& base = baseOf(candidate);
        SearchVersion made;
        made.number = static_cast<int>(versions_.size());
        made.text = std::move(candidate.draft->text);
        made.codeHash = candidate.draft->codeHash;
        if (attempt.after)
            made.standing = *attempt.after;
        const bool isModelled = base.standing.cost && made.standing.cost;
        made.gain =
            base.gain * (candidate.step             ? std::min(1.0, candidate.step->speedup)
                         : attempt.verdict->speedup ? *attempt.verdict->speedup
                         : isModelled ? modelledGain(*base.standing.cost, *made.standing.cost)
                                      : 1);
        made.skills = from.skills;
        made.accuracy = candidate.draft->accuracy;
        if (candidate.isTuned()) {
            made.path = std::move(candidate.tunedPath);
            made.isTuned = true;
        } else {
            made.accuracy = skills::combined(from.accuracy, made.accuracy);
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
            made.isAssessed = attempt.after.has_value();
            made.needsCounts = candidate.step->needsCounts;
        } else {
            made.base = versions_.size();
            // Compared with the original, the whole is what was reviewed.
            made.isVerified = from.base == 0 && !attempt.isRemembered;
        }
        if (made.isVerified)
            made.sum = attempt.verdict;
        attempt.version = made.number;
        versions_.push_back(std::move(made));
    }
    result_.attempts.push_back(std::move(attempt));
}

/// Reviews best versions as a whole until one passes or time is up.
void Search::verifyBest(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        SearchVersion& best = versions_[bestVersion()];
        if (best.isVerified)
            return;
        const SearchVersion& base = versions_.front();
        Attempt& attempt = result_.attempts[best.attempt];
        say("checking all steps together");
        const auto edits = editsBetween(base.text.program, best.text.program);
        auto verdict = edits ? steps_.review(base.text, *edits, best.accuracy, stop, {})
                             : Result<Verdict>(std::unexpected(edits.error()));
        if (stop.stop_requested())
            return;
        best.isVerified = true;
        if (!verdict) {
            best.isDropped = true;
            attempt.isKept = false;
            attempt.decision +=
                "; all steps together could not be reviewed: " + verdict.error().describe();
            continue;
        }
        const auto decision = decideCandidate(*verdict, base.standing, best.standing);
        attempt.sum = best.sum = std::move(*verdict);
        if (best.sum->speedup)
            best.gain = *best.sum->speedup;
        if (decision.isKept)
            continue;
        best.isDropped = true;
        attempt.isKept = false;
        attempt.decision += "; against the original all steps together are " + decision.sentence;
        attempt.diagnosis = steps_.diagnose({base.text, best.text, *best.sum,
                                             best.accuracy.numerics, base.standing, &best.standing},
                                            stop);
        if (!best.isTuned)
            steps_.remember(OptimizationSteps::Moment::Decided,
                            versions_[static_cast<std::size_t>(attempt.from)].text, attempt,
                            nullptr);
    }
}

Optimization Search::finished() {
    // A version that was not verified as a whole cannot be the result.
    std::size_t best = 0;
    for (std::size_t index = 1; index < versions_.size(); ++index) {
        const SearchVersion& version = versions_[index];
        if (version.isVerified && !version.isDropped && !version.isStep() &&
            version.gain > versions_[best].gain)
            best = index;
    }
    result_.notRemembered = steps_.notRemembered();
    const Standing& standing = versions_[best].standing;
    if (standing.bottleneck) // Else a plan would take a diagnosis first.
        result_.remaining = remainingLossOf(standing, steps_.plan(versions_[best].text, standing),
                                            result_.attempts);
    if (best == 0)
        return std::move(result_);
    const SearchVersion& base = versions_.front();
    SearchVersion& version = versions_[best];
    auto edits = editsBetween(base.text.program, version.text.program);
    if (!edits) // The files were readable a moment ago.
        return std::move(result_);
    result_.edits = std::move(*edits);
    result_.diff = diffOf(base.text.program, result_.edits);
    result_.skills = version.skills;
    result_.verdict = std::move(version.sum);
    result_.best = version.standing;
    if (!result_.verdict->speedup && base.standing.cost && version.standing.cost)
        result_.modelledGain = modelledGain(*base.standing.cost, *version.standing.cost);
    return std::move(result_);
}

} // namespace

Result<Optimization> OptimizationSearch::run(const KernelVersion& original, std::stop_token stop,
                                             const ProgressSink& progress) {
    return Search(steps_, options_, original, std::move(stop), progress).run();
}

} // namespace kernelskill::engine
