#include "engine/optimization/candidate_decision.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace kernelskill::engine {
namespace {

std::string modelled(const Standing& before, const Standing& after) {
    return fmt::format("ranked {:.2f} times the original on {}, which is no measurement",
                       modelledGain(*before.cost, *after.cost), after.cost->onGpu);
}

CandidateDecision byModel(const Standing& before, const Standing& after) {
    if (!before.cost || !after.cost)
        return {false, "correct, but nothing was measured and the counts do not say whether it is "
                       "faster"};
    if (before.launch && after.launch && !isSameProblem(*before.launch, *after.launch))
        return {false,
                "correct, but its launch is guessed and differs from the original's, so that "
                "the counts cannot be compared: pin one with // kernelskill: launch"};
    if (isImprovement(*before.cost, *after.cost))
        return {true, "correct, and faster by the model: " + modelled(before, after)};
    return {false, "correct, but not faster by the model: " + modelled(before, after)};
}

} // namespace

bool isSameProblem(const LaunchSpec& before, const LaunchSpec& after) {
    const auto sizes = [](const LaunchSpec& launch) {
        std::map<std::string, std::int64_t> known;
        for (const ArgumentSpec& argument : launch.arguments) {
            const auto* scalar = std::get_if<ScalarSpec>(&argument);
            if (scalar != nullptr && scalar->integer)
                known[scalar->name] = *scalar->integer;
        }
        return known;
    };
    const auto own = sizes(before);
    // A number that only one of them passes follows from the others.
    const bool areSame = std::ranges::all_of(sizes(after), [&](const auto& size) {
        const auto same = own.find(size.first);
        return same == own.end() || same->second == size.second;
    });
    const bool isShapeGuessed = before.isShapeGuessed || after.isShapeGuessed;
    return areSame &&
           (!isShapeGuessed || (before.grid == after.grid && before.block == after.block));
}

CandidateDecision decideCandidate(const Verdict& verdict, const Standing& before,
                                  const Standing& after) {
    if (!verdict.isAboutEdit)
        return {false, "it could not be judged: " + firstFailedCheck(verdict)};
    switch (verdict.status) {
    case VerdictStatus::Incorrect:
    case VerdictStatus::Invalid:
        return {false, fmt::format("{}: {}", spelling(verdict.status), firstFailedCheck(verdict))};
    case VerdictStatus::Slower:
    case VerdictStatus::Inconclusive:
        return {false,
                fmt::format("{}{}{}",
                            // Without a check it was only timed.
                            verdict.checks.empty() ? "not reviewed, because at a glance it is "
                                                   : "correct, but ",
                            spelling(verdict.status),
                            verdict.speedup ? fmt::format(": measured {:.3f}x", *verdict.speedup)
                                            : std::string())};
    case VerdictStatus::Faster:
        return {true, fmt::format("correct, and measured {:.3f}x", verdict.speedup.value_or(1))};
    case VerdictStatus::Unmeasured:
        break;
    }
    if (!after.compilerRefusal.empty() && before.compilerRefusal.empty())
        return {false, "the GPU's compiler refuses it: " + after.compilerRefusal};
    return byModel(before, after);
}

bool isNoLoss(const Verdict& verdict, const Standing& before, const Standing& after) {
    if (!verdict.isAboutEdit || !after.compilerRefusal.empty())
        return false;
    if (verdict.status == VerdictStatus::Inconclusive)
        return true;
    return verdict.status == VerdictStatus::Unmeasured &&
           !(before.cost && after.cost && isImprovement(*after.cost, *before.cost));
}

std::string firstFailedCheck(const Verdict& verdict) {
    const auto failed = std::ranges::find(verdict.checks, false, &Check::passed);
    return failed == verdict.checks.end() ? verdict.summary : failed->name + ": " + failed->detail;
}

} // namespace kernelskill::engine
