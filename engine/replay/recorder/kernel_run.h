/// A kernel that is ready to be launched any number of times in the place of the held launch.
#pragma once

#include "engine/replay/recorder/device_work.h"
#include "engine/replay/recorder/held_memory.h"
#include "engine/replay/replay_wire.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::replay {

struct KernelRun {
    CUfunction function = nullptr;
    std::array<unsigned, 3> grid{1, 1, 1};
    std::array<unsigned, 3> block{1, 1, 1};
    unsigned sharedBytes = 0;
    std::vector<std::vector<std::byte>> values; ///< The bytes of each parameter.
    std::vector<CUlaunchAttribute> attributes;

    /// Each word of the parameters that may be an address.
    [[nodiscard]] std::vector<std::uint64_t> words() const;
    /// Launches in the stream of `work`.
    [[nodiscard]] Result<void> launch(const DeviceWork& work) const;
};

/// A candidate's module, loaded into the program.
class LoadedCandidate {
public:
    /// `original` gives what the candidate does not say, and `held` the function that was launched.
    /// InvalidInput if the driver does not load it, or if its parameters are others; Unsupported if
    /// it calls what a trial cannot undo. `work` runs it, and outlives it.
    [[nodiscard]] static Result<std::unique_ptr<LoadedCandidate>>
    load(const DriverFunctions& driver, const DeviceWork& work, const ReplayCandidate& candidate,
         const KernelRun& original, CUfunction held, const CubinSymbols& module);
    LoadedCandidate(const LoadedCandidate&) = delete;
    LoadedCandidate& operator=(const LoadedCandidate&) = delete;
    /// A kernel that does not end keeps its module: the driver would wait for it.
    ~LoadedCandidate() {
        if (!work_.isLost())
            driver_.cuModuleUnload(module_);
    }

    [[nodiscard]] const KernelRun& run() const { return run_; }
    /// Its own copies of the variables of the held kernel's module.
    [[nodiscard]] const VariablePlaces& variables() const { return variables_; }
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

private:
    LoadedCandidate(const DriverFunctions& driver, const DeviceWork& work)
        : driver_(driver), work_(work) {}
    [[nodiscard]] Result<void> prepare(const ReplayCandidate& candidate, CUfunction held);
    void findVariables(const CubinSymbols& own, const CubinSymbols& module);

    const DriverFunctions& driver_;
    const DeviceWork& work_;
    CUmodule module_ = nullptr;
    KernelRun run_;
    VariablePlaces variables_;
    std::vector<std::string> notes_;
};

/// Unsupported if the kernel of this name calls a function of the driver's own whose effect is not
/// in memory that is saved: printf(), malloc(), launches from the device.
[[nodiscard]] Result<void> checkCalls(const CubinSymbols& symbols, const std::string& kernel);

} // namespace kernelskill::engine::replay
