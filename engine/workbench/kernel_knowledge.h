/// Answers questions about kernels from the text and from caches, without running anything.
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

/// Every function is cheap, because it runs on each cursor move: none runs a kernel or a compiler.
/// Thread-safe.
class KernelKnowledge {
public:
    /// `machines` outlive this object.
    KernelKnowledge(const Machines& machines, const std::filesystem::path& cacheDirectory);

    /// Computes for every kernel what the other functions cache. Called after a parse, away from
    /// the typing path. Ends early once `isOvertaken` returns true.
    void prepare(const ProgramSource& program, const std::function<bool()>& isOvertaken);

    [[nodiscard]] std::shared_ptr<const analysis::Features> features(KernelRef kernel);
    /// Diagnoses from a measured profile if there is one, else from an emulated one, else from the
    /// text alone.
    [[nodiscard]] std::shared_ptr<const Bottleneck> diagnosis(KernelRef kernel);
    /// The launches that a profile tries, best first; or the reason why there is none.
    [[nodiscard]] std::shared_ptr<const KernelInsights::Launches> launches(KernelRef kernel);
    /// The first of launches(); nullopt if there is none.
    [[nodiscard]] std::optional<LaunchSpec> launch(KernelRef kernel);
    /// A hash of everything that a run of the kernel depends on: the text of the kernel and of the
    /// functions it calls, launches, headers and flags. Comments and line breaks do not count.
    [[nodiscard]] std::uint64_t runHash(KernelRef kernel);
    /// The cached profile of exactly this kernel text and launch. A profile measured on a GPU, also
    /// by another process, is preferred to one of the emulator.
    [[nodiscard]] std::optional<KernelReport> cachedReport(KernelRef kernel);
    /// The profile of cachedReport(), without what a report derives from it; null if there is none.
    [[nodiscard]] std::shared_ptr<const Profile> cachedProfile(KernelRef kernel);
    /// The compiled kernel as skills see it: cached facts of the GPU's compiler, and the launch of
    /// the profile. nullopt if the kernel was not compiled yet.
    [[nodiscard]] std::optional<skills::CompiledKernel> compiled(KernelRef kernel);

    /// Why no run can check an edit of the kernel, as far as is known without one: it cannot be
    /// launched, or a run of exactly this text failed otherwise than by taking too long. nullopt if
    /// nothing stands against it.
    [[nodiscard]] std::optional<Error> checkObstacle(KernelRef kernel);

    /// The functions below are for classes that run and compile kernels.
    /// Remembers the answer of checkObstacle() until the text changes or a profile succeeds.
    void noteCheckObstacle(KernelRef kernel, Error why);
    [[nodiscard]] KernelReport report(KernelRef kernel, KernelFindings findings);
    [[nodiscard]] KernelFindings cachedFindings(KernelRef kernel);
    /// The GPU that the findings are about: the one that measured them, else the one of estimates.
    [[nodiscard]] const Gpu& gpuOf(const KernelFindings& findings) const;
    [[nodiscard]] KernelInsights& insights() { return insights_; }
    [[nodiscard]] ProfileCache& profiles() { return profiles_; }
    [[nodiscard]] MeasuredProfiles& measuredProfiles() { return measuredProfiles_; }
    [[nodiscard]] PendingCompilerFacts& pendingFacts() { return pendingFacts_; }
    /// The cached facts of the compiler, with a profile if there is one.
    [[nodiscard]] KernelFindings cachedFacts(KernelRef kernel);

private:
    const Machines& machines_;
    KernelInsights insights_;
    MeasuredProfiles measuredProfiles_;
    ProfileCache profiles_;
    PendingCompilerFacts pendingFacts_; ///< Declared last: its compilers use the members above.
};

} // namespace kernelskill::engine
