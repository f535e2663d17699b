/// Tries changed kernels inside of a program of the user.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/replay/replay_session.h"
#include "engine/verification/kernel_changes.h"
#include "engine/verification/program_trial.h"
#include "engine/workbench/machines.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace kernelskill::engine {

struct ProgramTrialOptions {
    ReplayProgram program;
    std::string cupti;    ///< Path of CUPTI; if empty, the loader searches it.
    bool isExact = false; ///< Results have to agree byte for byte.
};

/// A program that is held at a launch of a kernel, while versions of that kernel are tried there.
/// Tries versions of a kernel one after the other, as a search needs it: a version costs its
/// compilation and a fraction of a second. Not thread-safe.
class KernelInProgram {
public:
    /// Holds the program at the first launch of `launchedAs`, the name that the program knows the
    /// kernel by. `before` has it as `kernel`. The first two arguments outlive the object. Errors
    /// as those of HeldProgram::start(); InvalidInput if `before` has no such kernel.
    [[nodiscard]] static Result<std::unique_ptr<KernelInProgram>>
    open(const Machines& machines, const ProgramSource& before, const std::string& kernel,
         const std::string& launchedAs, ProgramTrialOptions options, const std::stop_token& stop);

    [[nodiscard]] const HeldDescription& held() const { return session_->held(); }

    /// Compiles the old and the new version as for a run on the GPU and tries both at the launch.
    /// Errors: Unsupported if the change is one that the program's arguments do not tell the launch
    /// of; those of the compiler and of ReplaySession::tryAll().
    [[nodiscard]] Result<ProgramTrial>
    tryVersion(const ProgramSource& after, const KernelChange& change, const std::stop_token& stop);

    /// Lets the program go on to its end, for at most the program's restLimit. Returns what is
    /// worth saying of its end; empty if that was as usual. Cancelled.
    [[nodiscard]] Result<std::string> resume(const std::stop_token& stop);

private:
    KernelInProgram(const Machines& machines, KernelRef before, ProgramTrialOptions options)
        : machines_(machines), before_(before), options_(std::move(options)) {}

    [[nodiscard]] Result<ReplayCandidate> candidateOf(KernelRef kernel,
                                                      const std::stop_token& stop) const;
    [[nodiscard]] Result<std::optional<LaunchSpec>> editedLaunch(KernelRef after,
                                                                 const KernelChange& change) const;
    void addMemory(TryRequest& request) const;

    const Machines& machines_;
    KernelRef before_;
    ProgramTrialOptions options_;
    std::unique_ptr<ReplaySession> session_;
    std::optional<ReplayCandidate> old_; ///< The old version, once it is compiled.
};

/// Tries one change so: opens, tries and lets the program go on. `before` has the kernel under its
/// new name. What cannot be done is an outcome that is not judged, with its reason; the program is
/// not started if that follows from the change alone. Cancelled on `stop`.
[[nodiscard]] Result<ProgramTrial>
tryInProgram(const Machines& machines, const ProgramSource& before, const ProgramSource& after,
             const KernelChange& change, const ProgramTrialOptions& options,
             const std::stop_token& stop);

} // namespace kernelskill::engine
