/// A launch that the program waits in, and trials of other kernels in its place.
#pragma once

#include "engine/capture/recorder/launch_call.h"
#include "engine/replay/recorder/held_memory.h"
#include "engine/replay/recorder/kernel_run.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kernelskill::engine::replay {

/// Of a kernel that uses the variables of the program's module themselves.
inline const VariablePlaces noVariables;

/// Belongs to the thread that launches. The launch itself is made by the driver afterwards.
class HeldLaunch {
public:
    /// Both arguments outlive the object.
    HeldLaunch(const DriverFunctions& driver, const ReplayTarget& target)
        : driver_(driver), target_(target) {}

    /// Waits for earlier work, saves the memory and runs the kernel twice. Comes first, once.
    /// Unsupported, with the reason, if the launch cannot be tried. After an error only restore()
    /// and isLost() may be called.
    [[nodiscard]] Result<void> prepare(const capture::LaunchCall& call,
                                       const ProgramMemory& memory);

    [[nodiscard]] const HeldDescription& description() const { return description_; }
    /// Afterwards the memory may be anything that restore() can mend.
    [[nodiscard]] ReplayAnswer answer(const TryRequest& request);
    /// Makes the memory what it was when the launch was held. Failed if the context is lost, or if
    /// the driver refuses.
    [[nodiscard]] Result<void> restore();
    /// Whether the context is lost, or a kernel does not end. Then the object must not be
    /// destroyed: the driver would wait for ever.
    [[nodiscard]] bool isLost() const { return work_ && work_->isLost(); }

private:
    /// The original's results with other contents in memory that it only writes.
    struct Poisoned {
        std::vector<std::uint64_t> addresses; ///< The addresses that the request named.
        std::vector<std::pair<std::size_t, std::uint64_t>> places; ///< Parts with addresses.
        OtherResults results;
        std::string note; ///< The reason why there are no places; empty if there are.
    };
    using Candidates = std::vector<std::unique_ptr<LoadedCandidate>>; ///< Null: refused.

    [[nodiscard]] std::chrono::milliseconds originalLimit() const {
        return std::chrono::milliseconds(target_.originalMilliseconds);
    }
    /// Finds the kernel's function and the symbols of its module.
    [[nodiscard]] Result<void> findCode(const capture::LaunchCall& call,
                                        const ProgramMemory& memory);
    [[nodiscard]] Result<void> readLaunch(const capture::LaunchCall& call);
    [[nodiscard]] Result<void> saveAndRun(const ProgramMemory& memory);
    void describe(const capture::LaunchCall& call);

    [[nodiscard]] Result<void> runOnce(const KernelRun& run, const VariablePlaces& variables,
                                       const Poisoned* poisoned, std::chrono::milliseconds limit);
    /// Runs it as often as asked until it differs.
    [[nodiscard]] Result<void> check(const LoadedCandidate& candidate, const TryRequest& request,
                                     CandidateResult& result);
    /// Runs the original again and lists how it differs from its first result.
    [[nodiscard]] Result<std::vector<MemoryDifference>> variation(const TryRequest& request);
    [[nodiscard]] Result<void> poison(const TryRequest& request);
    [[nodiscard]] Result<void> choosePoisoned();
    [[nodiscard]] Result<void> time(const Candidates& candidates, const TryRequest& request,
                                    TryAnswer& answer);
    /// Starts the clock, launches, stops the clock and waits.
    [[nodiscard]] Result<void> launchTimed(const KernelRun& run, std::chrono::milliseconds limit);
    [[nodiscard]] Result<double> timeOnce(const KernelRun& run, const VariablePlaces& variables,
                                          std::chrono::milliseconds limit);

    const DriverFunctions& driver_;
    const ReplayTarget& target_;
    std::unique_ptr<DeviceWork> work_;
    std::unique_ptr<HeldMemory> memory_;
    std::shared_ptr<const CubinSymbols> symbols_;
    CUfunction held_ = nullptr; ///< The launched function, also if the launch takes a CUkernel.
    KernelRun original_;
    HeldDescription description_;
    std::optional<Poisoned> poisoned_;
    std::optional<std::uint32_t> running_; ///< The candidate whose run is under way.
};

} // namespace kernelskill::engine::replay
