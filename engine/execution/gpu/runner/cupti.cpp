#include "engine/execution/gpu/runner/cupti.h"

#include "engine/process/shared_library.h"

namespace kernelskill::engine::gpu {

Result<Cupti> Cupti::load(const std::string& path) {
    const auto library =
        SharedLibrary::open({path, "libcupti.so.13", "libcupti.so.12", "libcupti.so"});
    if (!library)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "CUPTI cannot be loaded: " + library.error().what,
                                     {},
                                     "install the CUDA toolkit, or set the CUDA path"});
    Cupti cupti;
    const char* missing = nullptr;
#define KERNELSKILL_FIND(name)                                                                     \
    if (!library->find(cupti.name, #name))                                                         \
        missing = #name;
    KERNELSKILL_CUPTI_FUNCTIONS(KERNELSKILL_FIND)
#undef KERNELSKILL_FIND
    if (missing != nullptr)
        return std::unexpected(Error{ErrorKind::Missing,
                                     std::string("this CUPTI is too old: it has no ") + missing,
                                     {},
                                     "install CUDA 12.6 or newer"});
    return cupti;
}

Error Cupti::failure(const char* step, CUptiResult status) const {
    const char* text = nullptr;
    cuptiGetResultString(status, &text);
    const std::string what = std::string("CUPTI: ") + step + ": " +
                             (text != nullptr ? text : std::to_string(status).c_str());
    if (status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        return {ErrorKind::Missing,
                "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
                {},
                "let an administrator load the driver with "
                "NVreg_RestrictProfilingToAdminUsers=0, or run as one"};
    return {ErrorKind::Failed, what, {}, {}};
}

} // namespace kernelskill::engine::gpu
