#include "engine/whole_program/program_profile.h"

#include <limits>

namespace kernelskill::engine {

double KernelShare::gainAtMost() const {
    return share < 1 ? 1 / (1 - share) : std::numeric_limits<double>::infinity();
}

std::uint64_t ProgramProfile::gpuTime() const {
    std::uint64_t time = 0;
    for (const DeviceTimes& device : devices)
        time += device.kernels + device.copies + device.sets;
    return time;
}

ProgramProfile programProfile(const TimelineSummary& summary, const KernelPlaces& places,
                              const std::filesystem::path& folder) {
    ProgramProfile profile{summary.devices, {}};
    const auto whole = static_cast<double>(profile.gpuTime());
    for (const KernelTimes& kernel : summary.kernels)
        profile.kernels.push_back({kernel,
                                   whole > 0 ? static_cast<double>(kernel.total) / whole : 0,
                                   places.of(kernel.symbol, folder)});
    return profile;
}

} // namespace kernelskill::engine
