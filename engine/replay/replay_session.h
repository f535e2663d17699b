/// Trials inside a program, which is started again if one of them ends it.
#pragma once

#include "engine/replay/held_program.h"
#include "engine/replay/replayed_trial.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// Keeps a program held, as a search needs it. Not thread-safe.
class ReplaySession {
public:
    /// Starts the program and brings it to the launch. Errors as those of HeldProgram::start().
    [[nodiscard]] static Result<std::unique_ptr<ReplaySession>>
    open(ReplayProgram program, ReplayTarget target, const std::stop_token& stop);

    /// The launch as it was held first.
    [[nodiscard]] const HeldDescription& held() const { return held_; }

    /// Tries all candidates of the request in one go, so that their times are of the same rounds.
    /// If one of them faults or does not end, its trial is Failed, the program is started again and
    /// brought to the same launch, and the others are tried there. If that cannot be done, they are
    /// judged without times by what was found before, or not at all. Errors: Failed if the program
    /// ended for another reason; Cancelled.
    [[nodiscard]] Result<std::vector<ReplayedTrial>> tryAll(TryRequest request, bool isExact,
                                                            const std::stop_token& stop);

    /// Lets the program go on, see HeldProgram::resume().
    [[nodiscard]] Result<int> resume(std::chrono::milliseconds time, const std::stop_token& stop);

    /// Counts the starts of the program.
    [[nodiscard]] int starts() const { return starts_; }

private:
    ReplaySession(ReplayProgram program, ReplayTarget target)
        : program_(std::move(program)), target_(std::move(target)) {}
    /// Leaves a program that is held, or an error.
    [[nodiscard]] Result<void> startProgram(const std::stop_token& stop);

    ReplayProgram program_;
    ReplayTarget target_;
    HeldDescription held_;
    std::unique_ptr<HeldProgram> process_; ///< Null if it could not be started again.
    int starts_ = 0;
};

} // namespace kernelskill::engine
