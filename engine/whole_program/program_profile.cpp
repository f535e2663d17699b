#include "engine/whole_program/program_profile.h"

#include "engine/capture/kernel_symbol.h"

#include <limits>

namespace kernelskill::engine {

double KernelShare::gainAtMost() const {
    return share < 1 ? 1 / (1 - share) : std::numeric_limits<double>::infinity();
}

bool KernelShare::isHot() const {
    return shareOfKernels >= hotShare;
}

bool KernelShare::isInstantiation() const {
    return !kernelSymbol(times.symbol).templateArguments.empty();
}

ProgramProfile programProfile(const TimelineSummary& summary, const KernelPlaces& places,
                              const std::filesystem::path& folder) {
    ProgramProfile profile{summary.devices, {}};
    const auto partOf = [](std::uint64_t time, std::uint64_t whole) {
        return whole > 0 ? static_cast<double>(time) / static_cast<double>(whole) : 0;
    };
    for (const KernelTimes& kernel : summary.kernels)
        profile.kernels.push_back({kernel, partOf(kernel.total, summary.gpuTime()),
                                   partOf(kernel.total, summary.kernelTime()),
                                   places.of(kernel.symbol, folder)});
    return profile;
}

} // namespace kernelskill::engine
