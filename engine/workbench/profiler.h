/// Runs and compiles kernels and caches the results.
#pragma once

#include "engine/assembly/kernel_assembly.h"
#include "engine/workbench/kernel_knowledge.h"
#include "engine/workbench/machines.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// Slow unless the answer is cached. Thread-safe.
class Profiler {
public:
    /// Both arguments outlive the profiler.
    Profiler(Machines& machines, KernelKnowledge& knowledge)
        : machines_(machines), knowledge_(knowledge) {}

    /// Whether a profile waits for the GPU's compiler, which takes longer than the emulator. With
    /// Later, a later KernelKnowledge::cachedReport() or diagnosis() has the compiler's facts.
    /// Quick waits for those of NVRTC, or of nvcc if NVRTC cannot compile the text.
    enum class Facts : std::uint8_t { Awaited, Later, Quick };
    /// Counts on the emulator, unless a profile is cached.
    [[nodiscard]] Result<KernelReport> profile(KernelRef kernel, std::stop_token stop,
                                               const ProgressSink& progress,
                                               Facts facts = Facts::Awaited) const;
    /// Measures on the GPU, with the launch configuration of the file. The emulator runs the same
    /// launch and adds hazards and the counts that the hardware was not asked for. Always measures
    /// anew, because times differ from run to run. Other processes find the result, too.
    [[nodiscard]] Result<KernelReport> profileOnGpu(KernelRef kernel, std::stop_token stop,
                                                    const ProgressSink& progress) const;
    /// Returns the last result of profileOnGpu() for exactly this kernel and launch, in this
    /// process and on the opened GPU.
    [[nodiscard]] std::optional<KernelReport> measuredReport(KernelRef kernel) const;

    /// Whether compile() may start the compiler, or only reads the cache on disk.
    enum class Compiler : std::uint8_t { Run, OnlyCached };
    /// Gets the compiler's facts for a kernel that has none in the cache, so that diagnosis and
    /// plan can use them. As slow as staticFacts(), and fails with the same errors.
    [[nodiscard]] Result<void> compile(KernelRef kernel, Compiler compiler,
                                       std::stop_token stop) const;

    /// The compiler's facts for `architecture`, see staticFacts(). Missing if there is no toolkit.
    [[nodiscard]] Result<StaticFacts> facts(KernelRef kernel, const LaunchSpec& launch,
                                            const std::string& architecture,
                                            std::stop_token stop) const;

    /// Returns facts() from the compiler that has compiled the kernel before, else from NVRTC,
    /// which is quicker than nvcc.
    [[nodiscard]] Result<StaticFacts> quickFacts(KernelRef kernel, const LaunchSpec& launch,
                                                 const std::string& architecture,
                                                 std::stop_token stop) const;

    /// The PTX and SASS of the kernel, see kernelAssembly(). If no architecture is given, it is
    /// that of this machine's GPU, which the first call opens, else that of the GPU of estimates.
    [[nodiscard]] Result<KernelAssembly> assembly(KernelRef kernel, AssemblyRequest request,
                                                  std::stop_token stop) const;

private:
    /// Adds a note to the profile of a guessed launch if a guess of another size is held back by
    /// something else.
    void noteOtherDiagnosis(KernelRef kernel, Executor& emulator, Profile& profile,
                            const std::stop_token& stop) const;

    Machines& machines_;
    KernelKnowledge& knowledge_;
};

} // namespace kernelskill::engine
