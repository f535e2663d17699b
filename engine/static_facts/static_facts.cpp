#include "engine/static_facts/static_facts.h"

#include "engine/static_facts/device_code.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

std::string targetArchitecture(const analysis::CompileCommand& command, std::string fallback) {
    for (const auto& architecture : command.architectures) {
        if (analysis::computeCapabilityOf(architecture))
            return architecture;
    }
    return fallback;
}

Result<StaticFacts> staticFacts(KernelRef kernel, const std::vector<std::string>& templateArguments,
                                const std::string& architecture, const StaticFactsOptions& options,
                                std::stop_token stop) {
    auto code = deviceCode(kernel, templateArguments, architecture, options, std::move(stop));
    if (!code)
        return std::unexpected(std::move(code.error()));
    return std::move(code->facts);
}

Result<analysis::Occupancy> occupancyOf(const StaticFacts& facts, const LaunchSpec& launch) {
    const auto capability = analysis::computeCapabilityOf(facts.architecture);
    const auto limits = capability ? analysis::limitsOf(*capability) : std::nullopt;
    if (!limits)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "the limits of " + facts.architecture + " are not known",
                                     {},
                                     {}});
    const auto threads = std::min<std::uint64_t>(launch.block.count(), UINT32_MAX);
    return analysis::occupancyOf({static_cast<std::uint32_t>(threads), facts.registers,
                                  facts.staticSharedBytes + launch.dynamicSharedBytes},
                                 *limits);
}

} // namespace kernelskill::engine
