/// Trials inside a program, which is started again if it ends meanwhile.
#pragma once

#include "engine/replay/held_program.h"
#include "engine/replay/replayed_trial.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Keeps a program held, as a search needs it. Not thread-safe.
class ReplaySession {
public:
    /// Starts the program and brings it to the launch. Errors as those of HeldProgram::start().
    [[nodiscard]] static Result<std::unique_ptr<ReplaySession>>
    open(ReplayProgram program, ReplayTarget target, const std::stop_token& stop);

    /// The launch as it is held now: its addresses change when the program is started again.
    [[nodiscard]] const HeldDescription& held() const { return held_; }

    /// Tries all candidates of the request in one go, so that their times are of the same rounds.
    /// If one of them faults or does not end, its trial is Failed, the program is started again and
    /// brought to the same launch, and the others are tried there. If that cannot be done, they are
    /// judged without times by what was found before, or not at all. A program that ends otherwise,
    /// because it was killed, is started again as well, and the trials' notes say so; if it ends
    /// once more, or does not answer in time, each candidate is tried alone and without times, and
    /// fails if that happens again. All answers together take no longer than twice the most that
    /// the trials can. Errors: Failed if the program cannot be held again, or if that time is over;
    /// Cancelled, which ends the program: it is started again for the next trials.
    [[nodiscard]] Result<std::vector<ReplayedTrial>> tryAll(TryRequest request, bool isExact,
                                                            const std::stop_token& stop);

    /// Lets the program go on, see HeldProgram::resume().
    [[nodiscard]] Result<int> resume(std::chrono::milliseconds time, const std::stop_token& stop);

    /// The process group of the program; -1 if it is not held.
    [[nodiscard]] pid_t process() const { return process_ ? process_->process() : -1; }
    /// Why the program was started again, each time.
    [[nodiscard]] const std::vector<std::string>& restarts() const { return restarts_; }

private:
    ReplaySession(ReplayProgram program, ReplayTarget target)
        : program_(std::move(program)), target_(std::move(target)) {}
    /// Leaves a program that is held, or an error.
    [[nodiscard]] Result<void> startProgram(const std::stop_token& stop);
    /// The same, because of `why`, for another go at `request`, whose addresses become those of the
    /// new start.
    [[nodiscard]] Result<void> startAgain(const Error& why, TryRequest& request,
                                          const std::stop_token& stop);

    ReplayProgram program_; ///< A start that follows has no longer than its limit.
    ReplayTarget target_;
    HeldDescription held_;
    std::unique_ptr<HeldProgram> process_; ///< Null if it could not be started again.
    bool isCancelled_ = false;             ///< Null because a trial was cancelled.
    std::vector<std::string> restarts_;
};

} // namespace kernelskill::engine
