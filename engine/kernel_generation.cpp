#include "engine/kernel_generation.h"

#include <utility>

namespace kernelskill::engine {

std::vector<KernelOffer> kernelOffers(const analysis::FileModel& file, analysis::Span range) {
    std::vector<KernelOffer> offers;
    for (const analysis::KernelModel& function : file.loopFunctions) {
        const bool touches = function.span.begin <= range.end && range.begin <= function.span.end;
        if (!touches)
            continue;
        if (auto offer = offerKernel(file, function))
            offers.push_back(std::move(*offer));
    }
    return offers;
}

Result<GeneratedKernel> generateKernel(const Workbench& workbench, const ProgramSource& program,
                                       const analysis::KernelModel& function, std::stop_token stop,
                                       const ProgressSink& progress) {
    const auto executor = workbench.executor();
    if (!executor)
        return std::unexpected(executor.error());
    const Reviewer reviewer(*executor, workbench.toolchain());
    const HostFunctionReference reference(*program.model, function);
    return Generator(reviewer, workbench.toolchain())
        .generate(program, reference, std::move(stop), progress);
}

} // namespace kernelskill::engine
