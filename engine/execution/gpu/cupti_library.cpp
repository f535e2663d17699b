#include "engine/execution/gpu/cupti_library.h"

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

} // namespace kernelskill::engine::gpu
