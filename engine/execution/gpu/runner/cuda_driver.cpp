#include "engine/execution/gpu/runner/cuda_driver.h"

#include "engine/process/shared_library.h"

namespace kernelskill::engine::gpu {

#define KERNELSKILL_TEXT_OF(name) #name
#define KERNELSKILL_TEXT(name) KERNELSKILL_TEXT_OF(name)

Result<CudaDriver> CudaDriver::load() {
    const auto library = SharedLibrary::open({"libcuda.so.1"});
    if (!library)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "there is no NVIDIA driver: " + library.error().what,
                                     {},
                                     "install the NVIDIA driver, or run on the emulator"});
    CudaDriver driver;
    const char* missing = nullptr;
#define KERNELSKILL_FIND(name)                                                                     \
    if (!library->find(driver.name, KERNELSKILL_TEXT(name)))                                       \
        missing = KERNELSKILL_TEXT(name);
    KERNELSKILL_DRIVER_FUNCTIONS(KERNELSKILL_FIND)
#undef KERNELSKILL_FIND
    if (missing != nullptr)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  std::string("the NVIDIA driver is too old: it has no ") + missing,
                  {},
                  "install a driver for CUDA 12 or newer"});
    return driver;
}

Error CudaDriver::failure(const char* step, CUresult status) const {
    const char* name = nullptr;
    const char* text = nullptr;
    std::string what = step;
    if (cuGetErrorName(status, &name) == CUDA_SUCCESS && name != nullptr)
        what += std::string(": ") + name;
    if (cuGetErrorString(status, &text) == CUDA_SUCCESS && text != nullptr)
        what += std::string(" (") + text + ")";
    return {ErrorKind::Failed, std::move(what), {}, {}};
}

} // namespace kernelskill::engine::gpu
