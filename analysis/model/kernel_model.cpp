#include "analysis/model/kernel_model.h"

#include <algorithm>

namespace kernelskill::analysis {

const SourceText* sourceOf(const FileModel& model, const LaunchSite& launch) {
    return launch.host < model.hostFunctions.size()
               ? sourceOf(model, model.hostFunctions[launch.host])
               : nullptr;
}

const SourceText* sourceOf(const FileModel& model, const HostFunction& function) {
    if (function.file == model.file)
        return model.source.get();
    const auto found = model.otherSources.find(function.file);
    return found != model.otherSources.end() ? found->second.get() : nullptr;
}

bool isInMainFile(const FileModel& model, const LaunchSite& launch) {
    return launch.host < model.hostFunctions.size() &&
           model.hostFunctions[launch.host].file == model.file;
}

const KernelModel* kernelAt(const FileModel& model, std::uint32_t offset) {
    const auto found = std::ranges::find_if(model.kernels, [&](const KernelModel& kernel) {
        return kernel.file == model.file && kernel.span.contains(offset);
    });
    return found != model.kernels.end() ? &*found : nullptr;
}

const KernelModel* kernelNamed(const FileModel& model, std::string_view name) {
    auto found = std::ranges::find(model.kernels, name, &KernelModel::qualifiedName);
    if (found == model.kernels.end())
        found = std::ranges::find(model.kernels, name, &KernelModel::name);
    return found != model.kernels.end() ? &*found : nullptr;
}

const KernelModel* loopFunctionAt(const FileModel& model, std::uint32_t offset) {
    const auto found = std::ranges::find_if(model.loopFunctions, [&](const KernelModel& function) {
        return function.span.contains(offset);
    });
    return found != model.loopFunctions.end() ? &*found : nullptr;
}

} // namespace kernelskill::analysis
