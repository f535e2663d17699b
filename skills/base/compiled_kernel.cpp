#include "skills/base/compiled_kernel.h"

#include "analysis/compile/compute_capability.h"

#include <utility>

namespace kernelskill::skills {

std::optional<analysis::Occupancy>
CompiledKernel::occupancyOf(const analysis::BlockResources& block) const {
    const auto capability = analysis::computeCapabilityOf(architecture);
    const auto limits = capability ? analysis::limitsOf(*capability) : std::nullopt;
    if (!limits)
        return std::nullopt;
    auto found = analysis::occupancyOf(block, *limits);
    return found ? std::optional(std::move(*found)) : std::nullopt;
}

} // namespace kernelskill::skills
