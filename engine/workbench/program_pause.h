/// A program of the user that is held at a launch of a kernel, for any number of trials.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/replay/replay_session.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace kernelskill::engine {

struct ProgramTrialOptions {
    ReplayProgram program;
    std::string cupti;    ///< Path of CUPTI; if empty, the loader searches it.
    bool isExact = false; ///< Results have to agree byte for byte.
    /// The time that a trial has to its end when its stop is requested.
    std::chrono::milliseconds patience{5'000};
};

/// What a trial consists of.
struct TrialEffort {
    std::uint32_t checks = 3;  ///< Runs of each candidate that are compared.
    std::uint32_t rounds = 20; ///< Timed rounds; 0: nothing is timed.
    /// The time limit of one run, see limitOf().
    std::chrono::milliseconds limit{10'000};
};

/// A whole search runs on one pause: a trial takes some tens of milliseconds, and the program is
/// started again only if a kernel has broken it or if it was killed. Thread-safe; trials are made
/// one after the other.
class ProgramPause {
public:
    /// Holds the program at the first launch of `kernel`, a qualified name or a symbol. Errors as
    /// those of HeldProgram::start(). `stop` also ends the trials of this object, and the program
    /// with them.
    [[nodiscard]] static Result<std::unique_ptr<ProgramPause>>
    open(ProgramTrialOptions options, const std::string& kernel, std::stop_token stop);

    /// The launch as it was held first.
    [[nodiscard]] const HeldDescription& held() const { return held_; }
    /// "sm_90"
    [[nodiscard]] std::string architecture() const;
    /// "./program 1024"
    [[nodiscard]] std::string program() const;
    /// "./program 1024, launch 1"
    [[nodiscard]] std::string place() const;
    /// The process group of the program; -1 if it is not held any more.
    [[nodiscard]] pid_t process() const;
    /// Why the program was started again, each time.
    [[nodiscard]] std::vector<std::string> restarts() const;

    /// Tries all candidates in one go, see ReplaySession::tryAll(). `kernel` is the one that the
    /// program launches: it tells the types behind pointers, and which memory it only writes.
    /// `stop` prevents trials from beginning; a trial that has begun is finished, so that the end
    /// of a search's time does not end the pause. If it is not finished in the options' patience,
    /// it is Cancelled, and the program is started again for the next one.
    [[nodiscard]] Result<std::vector<ReplayedTrial>> tryAll(std::vector<ReplayCandidate> candidates,
                                                            const analysis::KernelModel& kernel,
                                                            const TrialEffort& effort,
                                                            const std::stop_token& stop);

    /// Lets the program go on to its end, for at most the program's restLimit. Returns a
    /// description of an unusual end; empty if it ended as usual. Cancelled if `stop` is requested.
    [[nodiscard]] Result<std::string> resume(const std::stop_token& stop);

private:
    ProgramPause(ProgramTrialOptions options, std::stop_token stop)
        : options_(std::move(options)), stop_(std::move(stop)) {}

    ProgramTrialOptions options_;
    std::stop_token stop_;
    HeldDescription held_;
    mutable std::timed_mutex mutex_; ///< Guards the session.
    std::unique_ptr<ReplaySession> session_;
};

} // namespace kernelskill::engine
