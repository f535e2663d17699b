#include "engine/execution/gpu/runner/cupti.h"

#include "engine/process/shared_library.h"

#include <chrono>
#include <thread>

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

CUptiResult Cupti::whenFree(const std::function<CUptiResult()>& function) {
    constexpr std::chrono::seconds patience(20); // A profile takes one or two.
    constexpr std::chrono::milliseconds pause(20);
    const auto end = std::chrono::steady_clock::now() + patience;
    CUptiResult status = function();
    while (status == CUPTI_ERROR_HARDWARE_BUSY && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(pause);
        status = function();
    }
    return status;
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
    if (status == CUPTI_ERROR_HARDWARE_BUSY)
        return {ErrorKind::Missing,
                what + ": another process keeps the GPU's counters",
                {},
                "wait until Nsight Compute, DCGM or another profiler is done"};
    return {ErrorKind::Failed, what, {}, {}};
}

} // namespace kernelskill::engine::gpu
