#include "engine/workbench/kernel_knowledge.h"

#include "engine/findings/compiled_facts.h"

#include <tuple>
#include <utility>

namespace kernelskill::engine {

KernelKnowledge::KernelKnowledge(const Machines& machines,
                                 const std::filesystem::path& cacheDirectory)
    : machines_(machines), measuredProfiles_(cacheDirectory.empty() ? std::filesystem::path{}
                                                                    : cacheDirectory / "measured") {
}

void KernelKnowledge::prepare(const ProgramSource& program,
                              const std::function<bool()>& isOvertaken) {
    for (const analysis::KernelModel& kernel : program.model->kernels) {
        if (isOvertaken())
            return;
        std::ignore = launches({program, kernel});
        std::ignore = diagnosis({program, kernel});
    }
}

std::shared_ptr<const analysis::Features> KernelKnowledge::features(KernelRef kernel) {
    return insights_.features(kernel);
}

std::shared_ptr<const Bottleneck> KernelKnowledge::diagnosis(KernelRef kernel) {
    const auto findings = cachedFindings(kernel);
    return insights_.diagnosis(kernel, findings, gpuOf(findings));
}

std::shared_ptr<const KernelInsights::Launches> KernelKnowledge::launches(KernelRef kernel) {
    return insights_.launches(kernel);
}

std::optional<LaunchSpec> KernelKnowledge::launch(KernelRef kernel) {
    const auto found = launches(kernel);
    if (!*found || (*found)->empty())
        return std::nullopt;
    return (*found)->front();
}

std::uint64_t KernelKnowledge::runHash(KernelRef kernel) {
    return insights_.key(kernel).textHash;
}

std::optional<KernelReport> KernelKnowledge::cachedReport(KernelRef kernel) {
    auto findings = cachedFindings(kernel);
    if (!findings.profile)
        return std::nullopt;
    return report(kernel, std::move(findings));
}

std::shared_ptr<const Profile> KernelKnowledge::cachedProfile(KernelRef kernel) {
    return cachedFindings(kernel).profile;
}

std::optional<skills::CompiledKernel> KernelKnowledge::compiled(KernelRef kernel) {
    const auto findings = cachedFacts(kernel);
    if (!findings.facts || !*findings.facts)
        return std::nullopt;
    if (findings.profile)
        return compiledKernelOf(**findings.facts, findings.profile->launch);
    const auto planned = launch(kernel);
    return planned ? std::optional(compiledKernelOf(**findings.facts, *planned)) : std::nullopt;
}

std::optional<Error> KernelKnowledge::checkObstacle(KernelRef kernel) {
    const auto found = launches(kernel);
    if (!*found)
        return found->error();
    return profiles_.find(insights_.key(kernel)).obstacle;
}

void KernelKnowledge::noteCheckObstacle(KernelRef kernel, Error why) {
    const ProfileKey key = insights_.key(kernel);
    KernelFindings findings = profiles_.find(key);
    findings.obstacle = std::move(why);
    profiles_.insert(key, std::move(findings));
}

KernelFindings KernelKnowledge::cachedFindings(KernelRef kernel) {
    if (const auto key = insights_.measuredKey(kernel)) {
        const GpuExecutor* open = machines_.openedGpu();
        if (auto measured =
                measuredProfiles_.find(*key, open != nullptr ? open->device().uuid : std::string{});
            measured.profile)
            return measured;
    }
    pendingFacts_.settle(profiles_);
    return profiles_.find(insights_.key(kernel));
}

KernelFindings KernelKnowledge::cachedFacts(KernelRef kernel) {
    // A profile that another process measured may come without facts.
    auto findings = cachedFindings(kernel);
    return findings.facts ? findings : profiles_.find(insights_.key(kernel));
}

const Gpu& KernelKnowledge::gpuOf(const KernelFindings& findings) const {
    return findings.measurement ? machines_.gpuNamedByCuda(findings.measurement->gpu)
                                : machines_.estimatedGpu();
}

KernelReport KernelKnowledge::report(KernelRef kernel, KernelFindings findings) {
    const Gpu& gpu = gpuOf(findings);
    KernelReport report;
    report.bottleneck = insights_.diagnosis(kernel, findings, gpu);
    if (findings.facts && *findings.facts) {
        if (auto occupancy = occupancyOf(**findings.facts, findings.profile->launch))
            report.occupancy = std::move(*occupancy);
    }
    const auto known = features(kernel);
    if (const auto counts = rooflineCounts(kernel.kernel, *known, *findings.profile))
        report.roofline = rooflineOf(*counts, gpu);
    if (findings.measurement && findings.measurement->ceilings)
        report.measured = measuredRooflineOf(*findings.profile, *findings.measurement->ceilings);
    report.measurement = std::move(findings.measurement);
    report.profile = std::move(findings.profile);
    report.facts = std::move(findings.facts);
    return report;
}

} // namespace kernelskill::engine
