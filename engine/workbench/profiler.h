/// Runs and compiles kernels, and keeps what that shows.
#pragma once

#include "engine/assembly/kernel_assembly.h"
#include "engine/workbench/kernel_knowledge.h"
#include "engine/workbench/machines.h"

#include <cstdint>
#include <memory>
#include <stop_token>

namespace kernelskill::engine {

/// Slow, but for what is cached. Thread-safe.
class Profiler {
public:
    /// Both outlive it.
    Profiler(Machines& machines, KernelKnowledge& knowledge)
        : machines_(machines), knowledge_(knowledge) {}

    /// Whether a profile waits for the GPU's compiler, which takes longer than counting. Later: its
    /// facts are part of a later KernelKnowledge::cachedReport() or diagnosis().
    enum class Facts : std::uint8_t { Awaited, Later };
    /// Counts on the emulator, or answers from the cache.
    [[nodiscard]] Result<KernelReport> profile(KernelRef kernel, std::stop_token stop,
                                               const ProgressSink& progress,
                                               Facts facts = Facts::Awaited) const;
    /// Measures on the GPU, at the size that the file launches. Hazards, and counts that the
    /// hardware was not asked for, come from the emulator on the same launch. Always measures,
    /// since no two times are the same. What was found is kept for other processes as well.
    [[nodiscard]] Result<KernelReport> profileOnGpu(KernelRef kernel, std::stop_token stop,
                                                    const ProgressSink& progress) const;

    /// Whether compile() may start the compiler, or only looks at what is cached on disk.
    enum class Compiler : std::uint8_t { Run, OnlyCached };
    /// Gets the compiler's facts for a kernel without cached ones, so that diagnosis and plan have
    /// them. As slow as staticFacts(), whose errors these are.
    [[nodiscard]] Result<void> compile(KernelRef kernel, Compiler compiler,
                                       std::stop_token stop) const;

    /// The compiler's facts for `architecture`, see staticFacts(). Missing: there is no toolkit.
    [[nodiscard]] Result<StaticFacts> facts(KernelRef kernel, const LaunchSpec& launch,
                                            const std::string& architecture,
                                            std::stop_token stop) const;

    /// What the kernel compiles to, see kernelAssembly(). An empty architecture means that of this
    /// machine's GPU, which the first call opens, or else of the GPU of estimates.
    [[nodiscard]] Result<KernelAssembly> assembly(KernelRef kernel, AssemblyRequest request,
                                                  std::stop_token stop) const;

private:
    Machines& machines_;
    KernelKnowledge& knowledge_;
};

} // namespace kernelskill::engine
