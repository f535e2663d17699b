#include "analysis/model/kernel_facts.h"

namespace kernelskill::analysis {

FunctionKey functionKey(const KernelModel& function) {
    return {function.file, function.qualifiedName, function.span.begin};
}

void collectFacts(FileModel& model, const CalleeTable& callees) {
    const auto complete = [&](KernelModel& function) {
        const auto calls = callees.find(functionKey(function));
        if (calls == callees.end())
            return;
        for (const auto& [call, names] : calls->second)
            function.calls.insert(function.calls.end(), names.begin(), names.end());
    };
    for (KernelModel& function : model.deviceFunctions)
        complete(function);
    for (KernelModel& kernel : model.kernels)
        complete(kernel);
}

} // namespace kernelskill::analysis
