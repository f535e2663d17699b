/// Reviews of launches that the emulator would take long for: at smaller sizes first.
#include "engine/execution/work_estimate.h"
#include "engine/inputs/fewer_rounds.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/smaller_constants.h"
#include "engine/review/edited_program.h"
#include "engine/review/proof_step.h"
#include "engine/review/review.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The work of a run that takes some tenths of a second.
constexpr double comfortableWork = 3e7;
/// That of a run that takes a second or two.
constexpr double bearableWork = 2e8;
/// Fewer threads show little of what differs among blocks.
constexpr double minThreads = 1 << 9;

/// The work of a loop in each thread shrinks with the square of the sizes, at least.
double shrinkBy(double excess) {
    constexpr double atLeast = 4;
    return std::clamp(std::sqrt(excess), atLeast, 1e3);
}

} // namespace

std::optional<double> Review::workOfTrial(const Trial& trial) const {
    const auto original = workOf(executor_, **images_.original, trial.original, stop_);
    if (!original || !images_.candidate)
        return original;
    // An edit that gives a row to a warp launches 32 times the threads, which wait for each other.
    const auto edited = workOf(executor_, **images_.candidate, trial.candidate, stop_);
    return edited && std::isfinite(*edited) ? std::max(*original, *edited) : original;
}

bool Review::fitSize() {
    if (isSmallerProgram_)
        return true;
    const auto work = workOfTrial(plan_.trials.front());
    if (stop_.stop_requested() || !work || *work <= comfortableWork)
        return !stop_.stop_requested();
    const double factor = shrinkBy(*work / comfortableWork);
    auto fewer = planWithFewerThreads(factor);
    if (fewer && !fewer->trials.front().isCorner) {
        // The time of threads that wait shrinks with their number, not with the other sizes.
        const double left = workOfTrial(fewer->trials.front()).value_or(0) / comfortableWork;
        if (left > 1 && std::isfinite(left))
            if (auto least = planWithFewerThreads(factor * std::sqrt(left));
                least && !least->trials.front().isCorner)
                fewer = std::move(least);
        usePlan(std::move(*fewer));
        std::ignore = shortenLoops();
        return true;
    }
    const auto whole = workOf(executor_, **images_.original, plan_.statedOriginal, stop_);
    if (!reviewSmallerProgram(shrinkBy(whole.value_or(*work) / comfortableWork)))
        return false;
    if (smaller_.empty()) {
        if (fewer)
            usePlan(std::move(*fewer));
        std::ignore = shortenLoops();
        return true;
    }
    plan_.notes.clear(); // They are about the sizes that were tried there.
    const bool runsOnGpu = measures_ && (place_ != nullptr || (gpu_ && gpu_(stop_, {})));
    if (runsOnGpu || *work > bearableWork) {
        if (!runsOnGpu)
            plan_.notes.push_back(plan_.trials.front().label + " is too large");
        plan_.trials.clear();
        return true;
    }
    keepOneRun(plan_);
    return true;
}

bool Review::shortenLoops() {
    const LaunchSpec& first = plan_.trials.front().original;
    const auto uses = scalarUses(original_.kernel);
    const auto isBearable = [&](const LaunchSpec& launch) {
        return workOf(executor_, **images_.original, launch, stop_).value_or(0) <= bearableWork;
    };
    if (!withFewerRounds(first, uses) || isBearable(first))
        return false;
    for (const std::int64_t divisor : {16, 256}) {
        const auto shorter = withFewerRounds(first, uses, divisor);
        if (stop_.stop_requested() || !shorter || !isBearable(*shorter))
            continue;
        plan_.notes.push_back(shorter->notes.back());
        const auto shorten = [&](LaunchSpec& original, LaunchSpec& candidate) {
            if (auto changed = withFewerRounds(original, uses, divisor)) {
                original = *std::move(changed);
                candidate = withArgumentsOf(std::move(candidate), original);
            }
        };
        shorten(plan_.statedOriginal, plan_.statedCandidate);
        for (Trial& trial : plan_.trials) {
            shorten(trial.original, trial.candidate);
            trial.label = labelOf(trial.original);
        }
        return true;
    }
    return false;
}

void Review::usePlan(TrialPlan plan) {
    plan_ = std::move(plan);
    if (isProved())
        keepOneRun(plan_);
    runsPlanned_ = 0;
    for (const Trial& trial : plan_.trials)
        runsPlanned_ += static_cast<std::size_t>(trial.seeds);
}

/// nullopt if that gives no launch with fewer threads.
std::optional<TrialPlan> Review::planWithFewerThreads(double factor) const {
    const double present = threadsOf(plan_.trials.front().original);
    const double wanted = std::max(present / factor, minThreads);
    auto plan =
        planTrials({original_.file(), original_.kernel}, {*candidate_.model, *candidateKernel_},
                   *capturesOf(original_.program.captures), {wanted, wanted});
    if (!plan || plan->trials.empty() || threadsOf(plan->trials.front().original) >= present)
        return std::nullopt;
    return std::move(*plan);
}

/// False if the edit is wrong in the program of smaller constants, or if the review was cancelled.
/// Leaves `smaller_` empty if there is no such program that makes sense.
bool Review::reviewSmallerProgram(double factor) {
    const auto constants = smallerConstants(original_.file(), factor);
    auto program = constants ? withEdits(original_.program, constants->edits)
                             : Result<ProgramSource>(std::unexpected(Error{}));
    if (!program)
        return true;
    auto model = analysis::analyzeFile(program->file, program->text, program->command, toolchain_,
                                       program->unsaved);
    if (!model || firstNewError(original_.file(), *model))
        return true;
    program->model = std::make_shared<const analysis::FileModel>(std::move(*model));
    program->captures = nullptr; // They were made at the file's own sizes.
    const auto* kernel = analysis::kernelNamed(*program->model, original_.kernel.qualifiedName);
    if (kernel == nullptr)
        return true;
    const GpuSource none;
    Review inner(executor_, toolchain_, {*program, *kernel}, accuracy_, none,
                 {.measure = false, .probeLargeLaunches = probesLargeLaunches_, .seed = seeds_()},
                 stop_, progress_);
    inner.isSmallerProgram_ = true;
    auto verdict = inner.run(edits_);
    if (!verdict)
        return !stop_.stop_requested();
    if (verdict->status == VerdictStatus::Incorrect && verdict->isAboutEdit) {
        const Check& failed = verdict->checks.back();
        return take(incorrect(fmt::format("{}, with {}", failed.name, constants->label),
                              failed.detail,
                              verdict->failure ? *verdict->failure : ReviewFailure{}));
    }
    if (verdict->status != VerdictStatus::Unmeasured)
        return true;
    smaller_ = constants->label;
    for (Check& check : verdict->checks) {
        check.name += ", with " + smaller_;
        verdict_.checks.push_back(std::move(check));
    }
    smallerSummary_ = std::move(verdict->summary);
    verdict_.before = std::move(verdict->before);
    verdict_.after = std::move(verdict->after);
    if (!isProved())
        verdict_.confidence = verdict->confidence;
    return true;
}

} // namespace kernelskill::engine
