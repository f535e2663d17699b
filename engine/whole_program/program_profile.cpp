#include "engine/whole_program/program_profile.h"

#include <limits>

namespace kernelskill::engine {

double KernelShare::gainAtMost() const {
    return share < 1 ? 1 / (1 - share) : std::numeric_limits<double>::infinity();
}

ProgramProfile programProfile(const TimelineSummary& summary, const KernelPlaces& places,
                              const std::filesystem::path& folder) {
    ProgramProfile profile{summary.devices, {}};
    const auto whole = static_cast<double>(summary.gpuTime());
    for (const KernelTimes& kernel : summary.kernels)
        profile.kernels.push_back({kernel,
                                   whole > 0 ? static_cast<double>(kernel.total) / whole : 0,
                                   places.of(kernel.symbol, folder)});
    return profile;
}

} // namespace kernelskill::engine
