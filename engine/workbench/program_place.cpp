#include "engine/workbench/program_place.h"

#include "engine/review/host/host_order.h"
#include "engine/storage/size_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

namespace kernelskill::engine {
namespace {

/// The time for all rounds of a screening; long launches get fewer rounds.
constexpr std::chrono::milliseconds glanceTime{2'000};
constexpr std::chrono::milliseconds::rep fewestRounds = 3;
/// The max time of a run in a screening, unless four times the original's time is longer.
constexpr std::chrono::milliseconds glanceLimit{2'000};

/// The rounds, and the time for them, where the usual number does not decide. On a GPU that others
/// use as well, the usual number seldom shows a gain of some percent.
constexpr std::chrono::milliseconds::rep longRounds = 100;
constexpr std::chrono::milliseconds longTime{3'000};

TrialEffort glanceAt(std::size_t kernels, const HeldDescription& held) {
    const auto round = std::max<std::chrono::milliseconds::rep>(held.originalTime.count(), 1) *
                       static_cast<std::chrono::milliseconds::rep>(kernels + 1);
    const auto rounds = std::clamp(glanceTime.count() / round, fewestRounds,
                                   static_cast<std::chrono::milliseconds::rep>(minRounds));
    return {.checks = 1, .rounds = static_cast<std::uint32_t>(rounds), .limit = glanceLimit};
}

} // namespace

Result<void> ProgramPlace::reproducesOriginal(const std::stop_token& stop) const {
    auto version = kernel_.versionOf(original_, stop);
    if (!version)
        return std::unexpected(version.error());
    const auto trials =
        kernel_.tryAll({std::move(version->candidate)}, {.checks = 1, .rounds = 0}, stop);
    if (!trials)
        return std::unexpected(trials.error());
    const ReplayedTrial& trial = trials->front();
    if (agrees(trial.outcome) || trial.outcome == TrialOutcome::NotJudged)
        return {};
    if (trial.outcome == TrialOutcome::NotLoaded)
        return std::unexpected(
            Error{ErrorKind::Failed,
                  "the kernel of the file cannot be tried in the program: " + trial.sentence,
                  original_.kernel.file,
                  {}});
    return std::unexpected(
        Error{ErrorKind::Failed,
              "the kernel of the file does not do in the program what the program's own does: " +
                  trial.sentence,
              original_.kernel.file, "give the flags that the program is built with"});
}

std::map<std::string, std::int64_t> ProgramPlace::passed() const {
    std::map<std::string, std::int64_t> integers;
    if (const auto& launch = kernel_.heldLaunch())
        for (const ArgumentSpec& argument : launch->arguments)
            if (const auto* scalar = std::get_if<ScalarSpec>(&argument);
                scalar != nullptr && scalar->integer)
                integers.emplace(scalar->name, *scalar->integer);
    return integers;
}

CheckResult ProgramPlace::agreementOf(const ReplayedTrial& trial, const LaunchSpec& launch,
                                      bool isChecked) const {
    const std::string place = kernel_.pause().place();
    const std::string name = "same memory in " + place;
    const TrialPlace where{place, true, 1, 0, true, launch};
    const auto error = [&] { return Error{ErrorKind::Failed, trial.sentence, {}, {}}; };
    switch (trial.outcome) {
    case TrialOutcome::Same:
    case TrialOutcome::Rounded: {
        const HeldDescription& held = kernel_.pause().held();
        return engine::held(name, fmt::format("{} ({} allocation{}, {})",
                                              trial.outcome == TrialOutcome::Same
                                                  ? "as before"
                                                  : "as before but for rounding",
                                              held.allocations, held.allocations == 1 ? "" : "s",
                                              sizeText(held.allocatedBytes)));
    }
    case TrialOutcome::NotJudged:
        if (isChecked)
            return engine::held(name, "not decided: " + trial.sentence);
        return unusable(name, trial.sentence);
    case TrialOutcome::NotLoaded:
    case TrialOutcome::Failed:
        return invalid("runs in " + place, trial.sentence,
                       {.stage = ReviewStage::Run, .trial = where, .error = error()});
    case TrialOutcome::Different:
        break;
    }
    return incorrect(name, trial.sentence, {.stage = ReviewStage::Outputs, .trial = where});
}

Result<Screening> ProgramPlace::screeningOf(const ReplayedTrial& original,
                                            const ReplayedTrial& candidate,
                                            const LaunchSpec& launch) const {
    if (auto agreement = agreementOf(candidate, launch, true); !agreement) {
        Screening screening;
        refuse(screening.refusal.emplace(), std::move(agreement.error()));
        return screening;
    }
    if (original.candidate.empty() || candidate.candidate.empty())
        return notTimed("the program gave no times of it: " + candidate.sentence);
    return engine::screeningOf(original.candidate, candidate.candidate, kernel_.pause().place());
}

std::vector<Result<Screening>> ProgramPlace::screen(KernelRef original,
                                                    std::span<const KernelRef> candidates,
                                                    std::uint64_t /*seed*/,
                                                    const std::stop_token& stop) {
    std::vector<std::future<Result<VersionInProgram>>> compiling;
    for (const KernelRef candidate : candidates)
        compiling.push_back(std::async(std::launch::async, [&, candidate] {
            if (changesHostOrder(original.file(), candidate.file()))
                return Result<VersionInProgram>(
                    notTimed("it changes the order of the host's work"));
            return kernel_.versionOf(candidate, stop, CodeFor::Glance);
        }));
    auto own = kernel_.versionOf(original, stop, CodeFor::Glance);
    std::vector<ReplayCandidate> tried;
    std::vector<std::pair<std::size_t, LaunchSpec>> launches; // With the index of the candidate.
    std::vector<Result<Screening>> seen;
    if (own)
        tried.push_back(std::move(own->candidate));
    for (std::size_t i = 0; i < compiling.size(); ++i) {
        auto version = compiling[i].get();
        seen.emplace_back(notTimed(!own      ? own.error().what
                                   : version ? "the program gave no answer"
                                             : version.error().what));
        if (version && own) {
            tried.push_back(std::move(version->candidate));
            launches.emplace_back(i, std::move(version->launch));
        }
    }
    if (launches.empty())
        return seen;
    const auto effort = glanceAt(tried.size(), kernel_.pause().held());
    const auto trials = kernel_.tryAll(std::move(tried), effort, stop);
    if (!trials)
        return seen;
    for (std::size_t at = 0; at < launches.size(); ++at) {
        const auto& [candidate, launch] = launches[at];
        seen[candidate] = screeningOf(trials->front(), trials->at(at + 1), launch);
    }
    return seen;
}

std::optional<TimingVerdict> ProgramPlace::longerTiming(const std::vector<ReplayCandidate>& both,
                                                        const std::stop_token& stop) const {
    const auto time =
        std::max<std::chrono::milliseconds::rep>(kernel_.pause().held().originalTime.count(), 1);
    const auto rounds =
        std::min<std::chrono::milliseconds::rep>(longTime.count() / (2 * time), longRounds);
    if (rounds <= TrialEffort{}.rounds)
        return std::nullopt;
    const auto trials =
        kernel_.tryAll(both, {.checks = 1, .rounds = static_cast<std::uint32_t>(rounds)}, stop);
    if (!trials || trials->at(0).candidate.empty() || trials->at(1).candidate.empty())
        return std::nullopt;
    return judgeTimes(trials->at(0).candidate, trials->at(1).candidate, std::nullopt);
}

void ProgramPlace::prepare(KernelRef candidate, const std::stop_token& stop) {
    // The compiled code is cached for measure(), which reports an error.
    std::ignore = kernel_.versionOf(candidate, stop);
}

Result<GpuMeasurement> ProgramPlace::measure(const MeasuredEdit& edit,
                                             const std::stop_token& stop) {
    auto original = kernel_.versionOf(edit.original, stop);
    if (!original)
        return std::unexpected(original.error());
    auto candidate = kernel_.versionOf(edit.candidate, stop);
    if (!candidate && candidate.error().kind == ErrorKind::Failed)
        return GpuMeasurement{invalid("compiles for the GPU", candidate.error().describe(),
                                      {.stage = ReviewStage::Compile, .error = candidate.error()}),
                              {},
                              {}};
    if (!candidate)
        return std::unexpected(candidate.error());
    const std::vector<ReplayCandidate> both{std::move(original->candidate),
                                            std::move(candidate->candidate)};
    const auto trials = kernel_.tryAll(both, {}, stop);
    if (!trials)
        return std::unexpected(trials.error());
    const ReplayedTrial& before = trials->at(0);
    const ReplayedTrial& after = trials->at(1);
    if (before.outcome == TrialOutcome::Different || before.outcome == TrialOutcome::Failed)
        return std::unexpected(
            Error{ErrorKind::Failed,
                  "the version before the edit is not right in the program: " + before.sentence,
                  {},
                  {}});
    GpuMeasurement measured{agreementOf(after, candidate->launch, edit.isChecked), {}, {}};
    if (!measured.agreement)
        return measured;
    for (const std::string& note : after.notes)
        measured.agreement->detail += "; " + note;
    if (!before.candidate.empty() && !after.candidate.empty()) {
        measured.timing = judgeTimes(before.candidate, after.candidate, std::nullopt);
        if (mayBeFaster(*measured.timing))
            if (auto longer = longerTiming(both, stop))
                measured.timing = std::move(longer);
        measured.timing->sentence =
            fmt::format("in {}: {}", kernel_.pause().place(), measured.timing->sentence);
    }
    return measured;
}

} // namespace kernelskill::engine
