/// Tries changed kernels inside of a program of the user.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/static_facts/device_code.h"
#include "engine/verification/kernel_changes.h"
#include "engine/verification/program_trial.h"
#include "engine/workbench/machines.h"
#include "engine/workbench/program_pause.h"

#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// A version of a kernel that is ready to be tried in a program.
struct VersionInProgram {
    StaticFacts facts;
    LaunchSpec launch; ///< Its grid, block and shared bytes, and the numbers that are passed.
    ReplayCandidate candidate;
};

/// The purpose that a version is compiled for. A verdict takes nvcc's code, where there is nvcc. A
/// glance at several versions takes NVRTC's code for all of them, which comes in a tenth of the
/// time, and nvcc's for a version that NVRTC cannot compile.
enum class CodeFor : std::uint8_t { Verdict, Glance };

/// A kernel at the launch that a program is held at. Thread-safe.
class KernelInProgram {
public:
    /// `original` is the kernel as the program was built with it, perhaps under another name. All
    /// arguments outlive the object.
    KernelInProgram(const Machines& machines, ProgramPause& pause, KernelRef original);

    [[nodiscard]] ProgramPause& pause() const { return pause_; }
    [[nodiscard]] const analysis::KernelModel& original() const { return original_.kernel; }

    /// Compiles a version as for a run on the GPU; where it changes the launch, grid, block and
    /// shared bytes follow from its text and the held arguments. Errors: Unsupported if the
    /// program's arguments do not fit the version, or do not tell its launch; those of the
    /// compiler.
    [[nodiscard]] Result<VersionInProgram> versionOf(KernelRef version, const std::stop_token& stop,
                                                     CodeFor purpose = CodeFor::Verdict) const;

    /// Tries the versions in one go, see ProgramPause::tryAll(). Nothing else of this process runs
    /// on the GPU meanwhile.
    [[nodiscard]] Result<std::vector<ReplayedTrial>> tryAll(std::vector<ReplayCandidate> candidates,
                                                            const TrialEffort& effort,
                                                            const std::stop_token& stop) const;

    /// The launch that the program is held at. Errors: those of capturedNumbers().
    [[nodiscard]] const Result<LaunchSpec>& heldLaunch() const { return heldLaunch_; }

private:
    [[nodiscard]] Result<LaunchSpec> launchOf(KernelRef version) const;
    [[nodiscard]] Result<DeviceCode> codeOf(KernelRef version, const LaunchSpec& launch,
                                            CodeFor purpose, const std::stop_token& stop) const;

    const Machines& machines_;
    ProgramPause& pause_;
    KernelRef original_;
    Result<LaunchSpec> heldLaunch_;
};

/// Holds the program at the first launch of the changed kernel, tries both versions there, and lets
/// the program go on. `before` has the kernel under its new name. A change that cannot be tried is
/// not judged, and the trial says why; if the change alone shows it, the program is not started.
/// Cancelled on `stop`.
[[nodiscard]] Result<ProgramTrial>
tryInProgram(const Machines& machines, const ProgramSource& before, const ProgramSource& after,
             const KernelChange& change, const ProgramTrialOptions& options,
             const std::stop_token& stop);

} // namespace kernelskill::engine
