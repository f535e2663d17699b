/// What is known about kernels without running them now: answers from the text and from caches.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/findings/kernel_insights.h"
#include "engine/findings/measured_profiles.h"
#include "engine/findings/pending_compiler_facts.h"
#include "engine/findings/profile_cache.h"
#include "engine/workbench/kernel_report.h"
#include "engine/workbench/machines.h"
#include "skills/base/compiled_kernel.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace kernelskill::engine {

/// Every function is cheap, since it runs on each cursor move: it runs no kernel and no compiler.
/// Thread-safe.
class KernelKnowledge {
public:
    /// `machines` outlive it.
    KernelKnowledge(const Machines& machines, const std::filesystem::path& cacheDirectory);

    /// Computes for every kernel what the other functions cache: after a parse, away from the
    /// typing path. Ends early once `isOvertaken` returns true.
    void prepare(const ProgramSource& program, const std::function<bool()>& isOvertaken);

    [[nodiscard]] std::shared_ptr<const analysis::Features> features(KernelRef kernel);
    /// From a measured profile if there is one, else from the emulator's, else from the text alone.
    [[nodiscard]] std::shared_ptr<const Bottleneck> diagnosis(KernelRef kernel);
    /// The launches that a profile tries, best first, or why there is none.
    [[nodiscard]] std::shared_ptr<const KernelInsights::Launches> launches(KernelRef kernel);
    /// The first of launches(); nullopt if there is none.
    [[nodiscard]] std::optional<LaunchSpec> launch(KernelRef kernel);
    /// Hash of everything that a run of the kernel depends on, comments and line breaks apart: the
    /// text of the kernel and of what it calls, launches, headers, flags.
    [[nodiscard]] std::uint64_t runHash(KernelRef kernel);
    /// The cached profile of exactly this kernel text and launch: one measured on a GPU, also by
    /// another process, else one counted by the emulator.
    [[nodiscard]] std::optional<KernelReport> cachedReport(KernelRef kernel);
    /// What skills are told about the compiled kernel: cached facts of the GPU's compiler, with the
    /// launch that a profile has or would have. nullopt: it was not compiled yet.
    [[nodiscard]] std::optional<skills::CompiledKernel> compiled(KernelRef kernel);

    /// The rest is for those who run and compile kernels.
    [[nodiscard]] KernelReport report(KernelRef kernel, KernelFindings findings);
    [[nodiscard]] KernelFindings cachedFindings(KernelRef kernel);
    /// The GPU that findings are about: the one they were measured on, else that of estimates.
    [[nodiscard]] const Gpu& gpuOf(const KernelFindings& findings) const;
    [[nodiscard]] KernelInsights& insights() { return insights_; }
    [[nodiscard]] ProfileCache& profiles() { return profiles_; }
    [[nodiscard]] MeasuredProfiles& measuredProfiles() { return measuredProfiles_; }
    [[nodiscard]] LateFacts& pendingFacts() { return pendingFacts_; }
    /// Whether the compiler's facts are cached, with or without a profile.
    [[nodiscard]] KernelFindings cachedFacts(KernelRef kernel);

private:
    const Machines& machines_;
    KernelInsights insights_;
    MeasuredProfiles measuredProfiles_;
    ProfileCache profiles_;
    LateFacts pendingFacts_; ///< Declared last: its compilers use what is above.
};

} // namespace kernelskill::engine
