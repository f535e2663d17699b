#include "engine/review/other_kernels.h"

#include "engine/review/program_comparison.h"

#include <algorithm>

namespace kernelskill::engine {

std::vector<std::string> otherChangedKernels(KernelRef original, KernelRef candidate,
                                             const std::set<std::string>& fused) {
    std::vector<std::string> changed;
    const analysis::FileModel& file = original.file();
    if (file.kernels.size() == 1)
        return changed;
    ProgramComparison programs(file, candidate.file());
    for (const analysis::KernelModel& kernel : file.kernels) {
        const bool isFused = fused.contains(kernel.qualifiedName);
        if ((kernel.qualifiedName == original.kernel.qualifiedName && !isFused) ||
            std::ranges::find(changed, kernel.qualifiedName) != changed.end())
            continue;
        const auto* edited = analysis::kernelNamed(candidate.file(), kernel.qualifiedName);
        if (edited == nullptr || programs.codeDiffers(kernel.name) ||
            (!isFused && programs.launchesDiffer(kernel, *edited)))
            changed.push_back(kernel.qualifiedName);
    }
    return changed;
}

} // namespace kernelskill::engine
