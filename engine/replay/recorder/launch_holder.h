/// Decides which launch is held, and serves the server while it is.
#pragma once

#include "engine/capture/recorder/launch_call.h"
#include "engine/replay/recorder/call_gate.h"
#include "engine/replay/recorder/program_memory.h"
#include "engine/replay/replay_target.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace kernelskill::engine::replay {

/// Thread-safe. Throws nothing into the program.
class LaunchHolder {
public:
    /// All arguments outlive the holder.
    LaunchHolder(const ReplayTarget& target, const capture::DriverFunctions& driver,
                 const ProgramMemory& memory, CallGate& gate)
        : target_(target), driver_(driver), memory_(memory), gate_(gate) {}

    /// Called before a launch, inside the gate. If it is the one, returns only when the server lets
    /// the program go on, or when the server is gone. Returns whether the launch counts.
    [[nodiscard]] bool begin(const capture::LaunchCall& call) noexcept;
    /// Called after a launch that counts, if the driver has taken it.
    void countLaunch() noexcept { ++launches_; }

private:
    [[nodiscard]] bool isWanted(const std::string& symbol);
    [[nodiscard]] bool isCaptured(CUstream stream) const;
    void hold(const capture::LaunchCall& call);
    void serve(int socket, const capture::LaunchCall& call);

    const ReplayTarget& target_;
    const capture::DriverFunctions& driver_;
    const ProgramMemory& memory_;
    CallGate& gate_;
    std::atomic<std::uint32_t> launches_ = 0;
    std::atomic<bool> isOver_ = false;
    std::mutex mutex_;                                ///< Guards the member below.
    std::map<std::string, bool, std::less<>> wanted_; ///< Whether a symbol is the target's kernel.
};

} // namespace kernelskill::engine::replay
