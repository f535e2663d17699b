#include "analysis/features/features.h"

namespace kernelskill::analysis {

Features extractFeatures(const KernelModel& kernel) {
    Features features;
    features.hasSharedMemory = !kernel.sharedArrays.empty();
    features.hasBarriers = !kernel.barriers.empty();
    features.hasAtomics = !kernel.atomics.empty();
    return features;
}

std::map<std::string, std::string> describeFeatures(const Features& features) {
    const auto yesNo = [](bool value) { return std::string(value ? "true" : "false"); };
    return {{"has_shared_memory", yesNo(features.hasSharedMemory)},
            {"has_barriers", yesNo(features.hasBarriers)},
            {"has_atomics", yesNo(features.hasAtomics)}};
}

} // namespace kernelskill::analysis
