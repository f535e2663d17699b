#include "analysis/compile/launch_registers.h"

#include <algorithm>
#include <string>

namespace kernelskill::analysis {

namespace {

/// A lower bound of the threads: axes that are not constant count as one. 0 if no axis is known.
std::uint32_t threadsOf(const LaunchSite& launch) {
    if (launch.constantBlock.empty())
        return 0;
    std::int64_t threads = 1;
    for (const std::int64_t extent : launch.constantBlock)
        threads *= std::clamp<std::int64_t>(extent, 1, MultiprocessorLimits::threadsPerBlock + 1);
    return threads > MultiprocessorLimits::threadsPerBlock ? 0
                                                           : static_cast<std::uint32_t>(threads);
}

bool isOneInstance(const KernelModel& kernel) {
    return std::ranges::all_of(kernel.launches, [&](const LaunchSite& launch) {
        return launch.templateArguments == kernel.launches.front().templateArguments;
    });
}

} // namespace

std::optional<std::uint32_t> launchableRegisters(const BlockResources& block,
                                                 const MultiprocessorLimits& limits) {
    if (!block.registersPerThread || occupancyOf(block, limits))
        return std::nullopt;
    BlockResources fewer = block;
    for (std::uint32_t registers = *block.registersPerThread - 1; registers > 0; --registers) {
        fewer.registersPerThread = registers;
        if (occupancyOf(fewer, limits))
            return registers;
    }
    return std::nullopt;
}

std::vector<Diagnostic> launchRegisterFindings(const FileModel& model, const KernelModel& kernel,
                                               std::string_view architecture,
                                               std::uint32_t registers) {
    std::vector<Diagnostic> findings;
    const auto capability = computeCapabilityOf(architecture);
    const auto limits = capability ? limitsOf(*capability) : std::nullopt;
    if (!limits || registers == 0 || !isOneInstance(kernel))
        return findings;
    for (const LaunchSite& launch : kernel.launches) {
        const std::uint32_t threads = threadsOf(launch);
        const auto most =
            threads == 0 ? std::nullopt : launchableRegisters({threads, registers, 0}, *limits);
        if (!most || launch.host >= model.hostFunctions.size())
            continue;
        const std::string inBlock = std::to_string(threads);
        Diagnostic& finding = findings.emplace_back();
        finding.file = model.hostFunctions[launch.host].file;
        finding.span = launch.configurationSpan;
        finding.severity = Severity::Warning;
        finding.origin = DiagnosticOrigin::Device;
        finding.code = "launch-registers";
        finding.message = "too many resources requested for launch: on " +
                          std::string(architecture) + " '" + kernel.name + "' takes " +
                          std::to_string(registers) + " registers for each of " + inBlock +
                          " threads, and such a block may take " + std::to_string(*most) +
                          "; __launch_bounds__(" + inBlock +
                          ") keeps the compiler to that, or launch smaller blocks";
        finding.related.push_back({kernel.file, kernel.nameSpan, "the kernel is here"});
    }
    return findings;
}

} // namespace kernelskill::analysis
