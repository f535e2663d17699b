#include "analysis/device_rules/rules.h"
#include "analysis/queries/launch_constants.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace kernelskill::analysis {
namespace {

constexpr std::array<std::int64_t, 3> maxThreadsPerAxis{1024, 1024, 64};
constexpr std::array<std::int64_t, 3> maxBlocksPerAxis{2'147'483'647, 65'535, 65'535};
constexpr std::string_view axes = "xyz";

bool isOfMainFile(const DeviceRuleInput& input, const KernelModel& kernel) {
    return kernel.file == input.model.file && !kernel.fromMacro;
}

void checkSharedArrays(const DeviceRuleInput& input, const KernelModel& kernel,
                       std::vector<Diagnostic>& findings) {
    const std::uint64_t bytes = staticSharedBytes(kernel);
    if (bytes <= maxStaticSharedBytes)
        return;
    const auto largest = std::ranges::max_element(kernel.sharedArrays, {}, &SharedArray::bytes);
    findings.push_back(input.found(
        kernel.body.variable(largest->variable).span, Severity::Error, "static-shared-size",
        "'" + kernel.name + "' uses too much shared memory: " + std::to_string(bytes) +
            " bytes, and static arrays may take " + std::to_string(maxStaticSharedBytes) +
            "; more takes a dynamic array and cudaFuncSetAttribute"));
}

void checkLaunchBounds(const DeviceRuleInput& input, const KernelModel& kernel,
                       std::vector<Diagnostic>& findings) {
    if (kernel.launchBoundsThreads.value_or(0) > maxThreadsPerBlock)
        findings.push_back(input.found(kernel.nameSpan, Severity::Warning, "launch-bounds-size",
                                       "__launch_bounds__(" +
                                           std::to_string(*kernel.launchBoundsThreads) +
                                           ") is ignored by ptxas: a block has at most " +
                                           std::to_string(maxThreadsPerBlock) + " threads"));
}

void checkParameters(const DeviceRuleInput& input, const KernelModel& kernel,
                     std::vector<Diagnostic>& findings) {
    constexpr int withLargeSpace = 70;
    constexpr std::uint64_t smallSpace = 4096;
    constexpr std::uint64_t largeSpace = 32'764;
    const std::uint64_t most =
        input.architecture.value_or(withLargeSpace) < withLargeSpace ? smallSpace : largeSpace;
    std::uint64_t bytes = 0;
    for (const Parameter& parameter : kernel.parameters)
        bytes += parameter.type.isReference ? 0 : parameter.type.size;
    if (bytes > most)
        findings.push_back(
            input.found(kernel.nameSpan, Severity::Error, "parameter-space",
                        "the parameters of '" + kernel.name + "' take " + std::to_string(bytes) +
                            " bytes, and a kernel's may take " + std::to_string(most) +
                            ": pass a pointer to what is large"));
}

std::string times(const std::vector<std::int64_t>& extents) {
    std::string text;
    for (const std::int64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

/// The axis that exceeds its maximum; nullopt if none does. 0 means not constant.
std::optional<std::size_t> axisBeyond(const std::vector<std::int64_t>& extents,
                                      const std::array<std::int64_t, 3>& most) {
    for (std::size_t axis = 0; axis < std::min(extents.size(), most.size()); ++axis)
        if (extents[axis] > most[axis])
            return axis;
    return std::nullopt;
}

/// A lower bound of the threads: axes that are not constant count as one.
std::int64_t threadsOf(const std::vector<std::int64_t>& block) {
    std::int64_t threads = 1;
    for (const std::int64_t extent : block) {
        const std::int64_t factor = std::max<std::int64_t>(extent, 1);
        if (threads > std::numeric_limits<std::int64_t>::max() / factor)
            return std::numeric_limits<std::int64_t>::max();
        threads *= factor;
    }
    return threads;
}

void checkLaunch(const DeviceRuleInput& input, const KernelModel& kernel, const LaunchSite& site,
                 std::vector<Diagnostic>& findings) {
    const HostFunction& host = input.model.hostFunctions.at(site.host);
    if (site.fromMacro || host.file != input.model.file)
        return;
    const auto warn = [&](ExprId place, const char* code, std::string message) {
        const Span span = place != noId ? host.body.expr(place).span : site.configurationSpan;
        findings.push_back(input.found(span, Severity::Warning, code, std::move(message)));
    };
    const std::vector<std::int64_t>& block = site.constantBlock;
    const std::int64_t threads = threadsOf(block);
    const std::int64_t bound = kernel.launchBoundsThreads.value_or(maxThreadsPerBlock);
    if (const auto axis = axisBeyond(block, maxThreadsPerAxis); axis && threads > 0)
        warn(site.block, "launch-block-size",
             "the launch fails: a block has at most " + std::to_string(maxThreadsPerAxis[*axis]) +
                 " threads along " + axes[*axis] + ", and this one " +
                 std::to_string(block[*axis]));
    else if (threads > maxThreadsPerBlock)
        warn(site.block, "launch-block-size",
             "the launch fails: a block of " + times(block) + " has " + std::to_string(threads) +
                 " threads, and " + std::to_string(maxThreadsPerBlock) + " is the most");
    else if (bound > 0 && threads > bound)
        warn(site.block, "launch-exceeds-bounds",
             "the launch fails: a block of " + std::to_string(threads) + " threads, and '" +
                 kernel.name + "' is compiled for " + std::to_string(bound) +
                 " by its __launch_bounds__");
    const auto grid = constantDimensions(host.body, site.grid);
    if (const auto axis = axisBeyond(grid, maxBlocksPerAxis))
        warn(site.grid, "launch-grid-size",
             "the launch fails: a grid has at most " + std::to_string(maxBlocksPerAxis[*axis]) +
                 " blocks along " + axes[*axis] + ", and this one " + std::to_string(grid[*axis]));
}

} // namespace

std::uint64_t staticSharedBytes(const KernelModel& kernel) {
    std::uint64_t bytes = 0;
    for (const SharedArray& array : kernel.sharedArrays) {
        // The compiler removes arrays that are never read.
        const bool isRead = std::ranges::any_of(kernel.accesses, [&](const MemoryAccess& access) {
            return access.base == array.variable && access.kind != AccessKind::Write;
        });
        if (isRead && !array.isDynamic)
            bytes += array.bytes;
    }
    return bytes;
}

void checkResources(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    for (const KernelModel& kernel : input.model.kernels) {
        if (isOfMainFile(input, kernel)) {
            checkSharedArrays(input, kernel, findings);
            checkLaunchBounds(input, kernel, findings);
            checkParameters(input, kernel, findings);
        }
        for (const LaunchSite& site : kernel.launches)
            checkLaunch(input, kernel, site, findings);
    }
}

} // namespace kernelskill::analysis
