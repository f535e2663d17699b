#include "engine/execution/gpu/toolkit_files.h"

#include "analysis/source/program_search.h"

#include <string>
#include <system_error>

namespace kernelskill::engine::gpu {

std::filesystem::path cuptiLibraryOf(const std::optional<analysis::CudaToolkit>& toolkit) {
    if (!toolkit)
        return {};
    for (const char* place : {"lib64/libcupti.so", "extras/CUPTI/lib64/libcupti.so"}) {
        std::error_code ignored;
        if (auto library = toolkit->root / place; std::filesystem::exists(library, ignored))
            return library;
    }
    return {};
}

std::filesystem::path computeSanitizerOf(const std::optional<analysis::CudaToolkit>& toolkit) {
    const std::string name = "compute-sanitizer";
    if (toolkit) {
        for (const char* folder : {"bin", "compute-sanitizer"}) {
            if (auto program = analysis::findProgram((toolkit->root / folder / name).string()))
                return *program;
        }
    }
    return analysis::findProgram(name).value_or(name);
}

} // namespace kernelskill::engine::gpu
