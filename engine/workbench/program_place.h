/// Compares and times kernels inside a program of the user, which is held at a launch.
#pragma once

#include "engine/review/measuring_place.h"
#include "engine/workbench/program_trials.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// All memory of the program is compared, on its own data. A candidate that faults ends the
/// program's context, and the program is started again.
class ProgramPlace final : public MeasuringPlace {
public:
    /// As KernelInProgram.
    ProgramPlace(const Machines& machines, ProgramPause& pause, KernelRef original)
        : kernel_(machines, pause, original), original_(original) {}

    [[nodiscard]] const KernelInProgram& kernel() const { return kernel_; }

    /// Checks that the original, compiled from its file, computes what the program's own kernel
    /// computes. Failed, with the difference, if it does not: trials would show nothing then.
    [[nodiscard]] Result<void> reproducesOriginal(const std::stop_token& stop) const;

    [[nodiscard]] bool hasOwnLaunch() const override { return true; }
    [[nodiscard]] std::map<std::string, std::int64_t> passed() const override;
    /// Also compares each candidate's results once, and refuses wrong ones. The code is that of
    /// CodeFor::Glance.
    [[nodiscard]] std::vector<Result<Screening>> screen(KernelRef original,
                                                        std::span<const KernelRef> candidates,
                                                        std::uint64_t seed,
                                                        const std::stop_token& stop) override;
    void prepare(KernelRef candidate, const std::stop_token& stop) override;
    /// An edit that has passed other checks is not refused for a difference that may be rounding,
    /// or that the original's own runs show, too.
    [[nodiscard]] Result<GpuMeasurement> measure(const MeasuredEdit& edit,
                                                 const std::stop_token& stop) override;

private:
    [[nodiscard]] CheckResult agreementOf(const ReplayedTrial& trial, const LaunchSpec& launch,
                                          bool isChecked) const;
    /// Times the original and the candidate again, in more rounds. nullopt where a run takes too
    /// long for that, or nothing was timed.
    [[nodiscard]] std::optional<TimingVerdict>
    longerTiming(const std::vector<ReplayCandidate>& both, const std::stop_token& stop) const;
    [[nodiscard]] Result<Screening> screeningOf(const ReplayedTrial& original,
                                                const ReplayedTrial& candidate,
                                                const LaunchSpec& launch) const;

    KernelInProgram kernel_;
    KernelRef original_;
};

} // namespace kernelskill::engine
