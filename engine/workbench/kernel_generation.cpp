#include "engine/workbench/kernel_generation.h"

#include <utility>

namespace kernelskill::engine {

std::vector<KernelOffer> kernelOffers(const analysis::FileModel& file, analysis::Span range) {
    std::vector<KernelOffer> offers;
    for (const analysis::KernelModel& function : file.loopFunctions) {
        if (!function.span.touches(range))
            continue;
        if (auto offer = offerKernel(file, function))
            offers.push_back(std::move(*offer));
    }
    return offers;
}

Result<GeneratedKernel> generateKernel(const Machines& machines, KernelRef function,
                                       std::stop_token stop, const ProgressSink& progress) {
    const auto executor = machines.emulator();
    if (!executor)
        return std::unexpected(executor.error());
    const Reviewer reviewer(*executor, machines.toolchain());
    const HostFunctionReference reference(function.file(), function.kernel);
    return Generator(reviewer, machines.toolchain())
        .generate(function.program, reference, std::move(stop), progress);
}

} // namespace kernelskill::engine
