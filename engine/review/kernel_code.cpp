#include "engine/review/kernel_code.h"

#include <algorithm>

namespace kernelskill::engine {

std::vector<const analysis::KernelModel*> codeOf(const analysis::FileModel& file,
                                                 const analysis::KernelModel& kernel) {
    std::vector<const analysis::KernelModel*> code{&kernel};
    for (const analysis::KernelModel& function : file.deviceFunctions) {
        if (function.file == kernel.file &&
            std::ranges::find(kernel.calls, function.qualifiedName) != kernel.calls.end())
            code.push_back(&function);
    }
    return code;
}

} // namespace kernelskill::engine
