#include "engine/workbench/change_verifier.h"

#include "engine/candidate_diagnosis/candidate_diagnoser.h"
#include "engine/comparison/program_difference.h"
#include "engine/review/edited_program.h"
#include "engine/review/host/host_arguments.h"
#include "engine/review/host/host_order.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

Error cancelled() {
    return {ErrorKind::Cancelled, "the verification was cancelled", "", ""};
}

bool isNamed(const KernelChange& change, const std::string& name) {
    return change.name == name || change.name.ends_with("::" + name) || change.oldName == name;
}

/// `after` with its own text of each header that `before` overrides, as editsBetween() needs.
ProgramSource withHeadersOf(ProgramSource after, const ProgramSource& before) {
    for (const auto& [file, text] : before.unsaved) {
        if (after.unsaved.contains(file))
            continue;
        if (auto own = textOf(after, file))
            after.unsaved.emplace(file, std::move(*own));
    }
    return after;
}

/// One verification: what its steps share.
class Verifying {
public:
    Verifying(Machines& machines, const Profiler& profiler, const Reviewer& reviewer,
              const ProgramSource& after, ProgramChange change, const VerifyOptions& options,
              std::stop_token stop, const ProgressSink& progress)
        : machines_(machines), profiler_(profiler), reviewer_(reviewer), after_(after),
          change_(std::move(change)), options_(options), stop_(std::move(stop)),
          progress_(progress) {}

    Result<Verification> run(std::string diff) {
        auto edits = editsBetween(change_.before, after_);
        if (!edits)
            return std::unexpected(edits.error());
        edits_ = std::move(*edits);
        done_.diff = std::move(diff);
        done_.unchanged = change_.unchanged;
        newError_ = firstNewError(*change_.before.model, *after_.model);
        for (std::size_t i = 0; i < change_.kernels.size(); ++i) {
            place_ = {i, change_.kernels.size()};
            const auto begin = Clock::now();
            JudgedKernel judged;
            judged.change = change_.kernels[i];
            if (auto finished = judge(judged); !finished)
                return std::unexpected(finished.error());
            if (auto tried = tryInUsersProgram(judged); !tried)
                return std::unexpected(tried.error());
            judged.seconds = secondsSince(begin);
            done_.kernels.push_back(std::move(judged));
        }
        if (options_.kernel.empty() && !judgeHost())
            return std::unexpected(*trouble_);
        return std::move(done_);
    }

    /// Leaves the one kernel that is to be judged. InvalidInput if the program has none such.
    Result<void> chooseKernel() {
        if (options_.kernel.empty())
            return {};
        std::erase_if(change_.kernels,
                      [&](const KernelChange& each) { return !isNamed(each, options_.kernel); });
        const bool isKnown = !change_.kernels.empty() ||
                             analysis::kernelNamed(*after_.model, options_.kernel) != nullptr;
        if (isKnown)
            return {};
        std::string names;
        for (const analysis::KernelModel& kernel : after_.model->kernels)
            names += (names.empty() ? "it has " : ", ") + kernel.qualifiedName;
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     fmt::format("no kernel '{}'", options_.kernel), after_.file,
                                     names.empty() ? "neither version has a kernel" : names});
    }

private:
    Result<void> judge(JudgedKernel& judged) {
        const KernelChange& change = judged.change;
        switch (change.kind) {
        case KernelChangeKind::Added:
            return judgeNew(judged);
        case KernelChangeKind::Removed:
            judged.note = "it is gone, so there is nothing to compare";
            if (newError_) {
                judged.outcome = ChangeOutcome::Wrong;
                judged.note = "it is gone, and the new version does not compile: " + *newError_;
            }
            return {};
        case KernelChangeKind::Renamed:
            if (!change.isToBeJudged()) {
                judged.note = "only its name is new";
                return {};
            }
            break;
        case KernelChangeKind::Changed:
            break;
        }
        return review(judged, change.name, {.otherKernels = false, .hostCode = false});
    }

    Result<void> review(JudgedKernel& judged, const std::string& name,
                        const ReviewOptions& options) {
        const auto* old = analysis::kernelNamed(*change_.before.model, name);
        auto verdict = reviewer_.review({change_.before, *old}, edits_, options_.accuracy, stop_,
                                        sink(name), options);
        if (!verdict)
            return std::unexpected(verdict.error().kind == ErrorKind::Cancelled ? cancelled()
                                                                                : verdict.error());
        judged.outcome = outcomeOf(*verdict);
        if (judged.outcome == ChangeOutcome::Wrong) {
            const Standing unknown;
            const KernelVersion before{change_.before, name};
            const KernelVersion after{after_, judged.change.name};
            judged.diagnosis =
                diagnoseCandidate({before, after, *verdict, options_.accuracy.numerics, unknown},
                                  machines_.toolchain(), stop_);
        }
        judged.verdict = std::move(*verdict);
        return {};
    }

    /// A kernel that is wrong is not run on the GPU beside the user's data.
    Result<void> tryInUsersProgram(JudgedKernel& judged) {
        if (!options_.program || !judged.verdict || judged.outcome != ChangeOutcome::Right)
            return {};
        if (const auto say = sink(judged.change.name))
            say("trying it in the program", 0.9);
        auto trial = tryInProgram(machines_, change_.before, after_, judged.change,
                                  *options_.program, stop_);
        if (!trial)
            return std::unexpected(cancelled());
        judged.outcome = std::max(judged.outcome, trial->outcome);
        judged.inProgram = std::move(*trial);
        return {};
    }

    Result<void> judgeNew(JudgedKernel& judged) {
        const auto* kernel = analysis::kernelNamed(*after_.model, judged.change.name);
        const auto report = profiler_.profile({after_, *kernel}, stop_, sink(judged.change.name),
                                              Profiler::Facts::Later);
        if (stop_.stop_requested())
            return std::unexpected(cancelled());
        if (!report) {
            judged.outcome = ChangeOutcome::NotJudged;
            judged.note = "it is new, and was not run: " + report.error().describe();
            return {};
        }
        judged.hazards = report->profile->hazards;
        if (judged.hazards.empty()) {
            judged.note = "it is new: it runs without a hazard, and there is no old version to "
                          "compare it with";
            return {};
        }
        judged.outcome = ChangeOutcome::Wrong;
        judged.note = "it is new, and its run has hazards: " + judged.hazards.front().message;
        return {};
    }

    /// Returns false if it failed.
    bool judgeHost() {
        const analysis::FileModel& before = *change_.before.model;
        if (newError_) {
            done_.host =
                JudgedHost{ChangeOutcome::Wrong, "the new version does not compile: " + *newError_};
            return true;
        }
        if (!changesHostCode(before, *after_.model))
            return true;
        const CheckResult same = checkHostArguments(before, *after_.model, stop_);
        if (stop_.stop_requested())
            return isCancelled();
        if (!same) {
            done_.host = hostAtFault(same.error());
            return true;
        }
        if (!changesHostOrder(before, *after_.model))
            return true;
        ReplacedKernels replaced{.fused = fusedKernels(before, *after_.model), .split = {}};
        if (replaced.fused.empty())
            replaced.split = splitKernels(before, *after_.model);
        const CheckResult order = checkHostOrder(before, *after_.model, replaced, stop_);
        if (stop_.stop_requested())
            return isCancelled();
        if (order) {
            done_.host =
                JudgedHost{ChangeOutcome::Right, "the same work is asked of the GPU, in an order "
                                                 "that keeps what depends on each other"};
            return judgeFused(replaced.fused) && judgeSplit(replaced.split);
        }
        done_.host = hostAtFault(order.error());
        return true;
    }

    bool isCancelled() {
        trouble_ = Error{ErrorKind::Cancelled, "the verification was cancelled", "", ""};
        return false;
    }

    /// Other kernels may need other work around them: what that does to the program is unknown.
    [[nodiscard]] JudgedHost hostAtFault(const FailedCheck& failure) const {
        const bool isUnknown = !done_.kernels.empty() || !failure.isAboutEdit;
        return {isUnknown ? ChangeOutcome::NotJudged : ChangeOutcome::Wrong, failure.detail};
    }

    /// Compares each kernel that is launched in the place of two with both.
    bool judgeFused(const std::vector<FusedKernel>& fused) {
        for (const FusedKernel& kernel : fused) {
            const auto judged = std::ranges::find(
                done_.kernels, kernel.name, [](const auto& each) { return each.change.name; });
            if (judged == done_.kernels.end())
                continue;
            judged->note = fmt::format("it is launched in the place of {} and {}", kernel.first,
                                       kernel.second);
            if (const auto finished = review(*judged, kernel.first, {.measure = false});
                !finished) {
                trouble_ = finished.error();
                return false;
            }
        }
        return true;
    }

    /// Compares each two kernels that are launched in the place of one with that one.
    bool judgeSplit(const std::vector<FusedKernel>& split) {
        for (const FusedKernel& kernel : split) {
            const auto named = [&](const std::string& name) {
                return std::ranges::find(done_.kernels, name,
                                         [](const auto& each) { return each.change.name; });
            };
            const auto first = named(kernel.first);
            const auto second = named(kernel.second);
            if (first == done_.kernels.end() || second == done_.kernels.end())
                continue;
            if (const auto finished = review(*first, kernel.name, {.measure = false}); !finished) {
                trouble_ = finished.error();
                return false;
            }
            first->note = second->note =
                fmt::format("{} and {} are launched one after the other in the place of {}",
                            kernel.first, kernel.second, kernel.name);
            second->outcome = std::max(second->outcome, first->outcome);
        }
        return true;
    }

    /// Progress of one kernel among all.
    [[nodiscard]] ProgressSink sink(const std::string& name) const {
        if (!progress_)
            return {};
        return [this, name](std::string_view what, double part) {
            const auto [at, count] = place_;
            progress_(count > 1 ? fmt::format("{}: {}", name, what) : std::string(what),
                      (static_cast<double>(at) + part) / static_cast<double>(count));
        };
    }

    Machines& machines_;
    const Profiler& profiler_;
    const Reviewer& reviewer_;
    const ProgramSource& after_;
    ProgramChange change_;
    const VerifyOptions& options_;
    std::stop_token stop_;
    const ProgressSink& progress_;
    analysis::EditSet edits_;
    std::pair<std::size_t, std::size_t> place_{0, 1}; ///< The number of the kernel, of how many.
    std::optional<std::string> newError_; ///< A compile error that only the new version has.
    std::optional<Error> trouble_;
    Verification done_;
};

} // namespace

ChangeVerifier::ChangeVerifier(Machines& machines, const Profiler& profiler)
    : machines_(machines), profiler_(profiler),
      reviewer_(machines.emulator().value_or(nullptr), machines.toolchain(), machines.gpuSource()) {
}

Result<Verification> ChangeVerifier::verify(const ProgramSource& before, const ProgramSource& after,
                                            const VerifyOptions& options, std::stop_token stop,
                                            const ProgressSink& progress) const {
    const auto begin = Clock::now();
    if (!after.isTrusted && !after.model->kernels.empty()) {
        if (auto trusted = requireTrust({after, after.model->kernels.front()}); !trusted)
            return std::unexpected(trusted.error());
    }
    if (progress)
        progress("comparing the two versions", 0);
    const ProgramSource now = withHeadersOf(after, before);
    auto edits = editsBetween(before, now);
    if (!edits)
        return std::unexpected(edits.error());
    auto change = compareVersions(before, now, machines_.toolchain());
    if (!change)
        return std::unexpected(change.error());
    Verifying verifying(machines_, profiler_, reviewer_, now, std::move(*change), options, stop,
                        progress);
    if (auto chosen = verifying.chooseKernel(); !chosen)
        return std::unexpected(chosen.error());
    auto done = verifying.run(diffOf(before, *edits));
    if (done)
        done->seconds = secondsSince(begin);
    return done;
}

} // namespace kernelskill::engine
