/// Judges a change that somebody made by hand as the Reviewer judges a skill's edit.
#pragma once

#include "engine/review/reviewer.h"
#include "engine/verification/verification.h"
#include "engine/workbench/profiler.h"
#include "engine/workbench/program_trials.h"

#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct VerifyOptions {
    /// The one kernel to judge, by qualified or plain name; empty: all that differ.
    std::string kernel;
    skills::Accuracy accuracy{skills::Numerics::Reassociates};
    /// Each kernel that is right is tried in this program as well; nullopt: none is.
    std::optional<ProgramTrialOptions> program = std::nullopt;
};

/// Thread-safe.
class ChangeVerifier {
public:
    /// The arguments outlive the verifier.
    ChangeVerifier(Machines& machines, const Profiler& profiler);

    /// Judges each kernel that differs between the two versions of one program: a changed one
    /// against the old version, and on a GPU if there is one its time; a new one by a run on the
    /// emulator, which must show no hazard. `before` needs no model. Slow. Errors: InvalidInput if
    /// there is no kernel of that name; Cancelled; those of the parser; `after` is not trusted.
    [[nodiscard]] Result<Verification> verify(const ProgramSource& before,
                                              const ProgramSource& after,
                                              const VerifyOptions& options, std::stop_token stop,
                                              const ProgressSink& progress) const;

private:
    Machines& machines_;
    const Profiler& profiler_;
    Reviewer reviewer_;
};

} // namespace kernelskill::engine
