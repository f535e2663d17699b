#include "engine/search/search_run.h"

#include "engine/comparison/program_difference.h"
#include "engine/optimization/candidate_decision.h"
#include "engine/optimization/remaining_loss.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <chrono>
#include <optional>
#include <tuple>

namespace kernelskill::engine {
namespace {

/// Rounds without a new best after which the search has converged.
constexpr int patience = 2;
/// A measured kernel that reaches this percentage of its GPU's roofline is left alone.
constexpr double rooflinePercent = 95;

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

} // namespace

Result<Optimization> SearchRun::run() {
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
    assess(versions_[bestVersion()], stop_);
    return finished();
}

std::size_t SearchRun::bestVersion() const {
    std::size_t best = 0;
    for (std::size_t index = 1; index < versions_.size(); ++index) {
        const SearchVersion& version = versions_[index];
        if (!version.isDropped && !version.isStep() && version.gain > versions_[best].gain)
            best = index;
    }
    return best;
}

bool SearchRun::stopBecause(StopReason reason, std::string text) {
    result_.stop = reason;
    result_.stopText = std::move(text);
    return true;
}

void SearchRun::say(std::string_view what) const {
    if (!progress_)
        return;
    const auto left = std::chrono::duration<double>(options_.time).count();
    const double byTime =
        left > 0 ? std::chrono::duration<double>(Deadline::Clock::now() - begin_).count() / left
                 : 1;
    const double byRounds =
        static_cast<double>(std::max(0, result_.rounds - 1)) / std::max(1, options_.rounds);
    const std::scoped_lock lock(saying_);
    progress_(result_.rounds == 0
                  ? std::string(what)
                  : fmt::format("round {} of {}: {}", result_.rounds, options_.rounds, what),
              std::clamp(std::max(byTime, byRounds), 0.0, 1.0));
}

bool SearchRun::isOver() {
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

void SearchRun::playRound() {
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

    if (!isTuning)
        prepareAll(candidates);
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
    if (wasFresh_) {
        const SearchVersion& best = versions_[bestVersion()];
        if (options_.measure && !best.isVerified && !best.isAssessed)
            workAhead(best.text);
        verifyBest(deadline_.token());
    }
    if (bestVersion() != before) {
        assess(versions_[bestVersion()], deadline_.token());
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

/// Reviews best versions as a whole until one passes or time is up.
void SearchRun::verifyBest(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        SearchVersion& best = versions_[bestVersion()];
        if (best.isVerified)
            return;
        const SearchVersion& base = versions_.front();
        Attempt& attempt = result_.attempts[best.attempt];
        say("checking all steps together");
        auto verdict =
            best.sumAhead ? best.sumAhead->take(stop) : Result<Verdict>(std::unexpected(Error{}));
        if (!best.sumAhead) {
            const auto edits = editsBetween(base.text.program, best.text.program);
            verdict = edits ? steps_.reviewSum(base.text, *edits, best.accuracy, stop)
                            : Result<Verdict>(std::unexpected(edits.error()));
        }
        if (stop.stop_requested())
            return;
        best.sumAhead.reset();
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

Optimization SearchRun::finished() {
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
    if (standing.bottleneck) { // Else a plan would take a diagnosis first.
        const Plan plan = steps_.plan(versions_[best].text, standing, stop_);
        if (!stop_.stop_requested())
            result_.remaining = remainingLossOf(standing, plan, result_.attempts);
    }
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

} // namespace kernelskill::engine
