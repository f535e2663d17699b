#include "engine/execution/gpu/runner/synchronise.h"

#include "engine/execution/gpu/runner/kernel_fault.h"

namespace kernelskill::engine::gpu {
Result<void> synchronise(const CudaDriver& driver, bool& isFatal) {
    const auto status = driver.cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        return {};
    isFatal = isFatal || isSticky(status);
    auto error = driver.failure(explanationOf(status), status);
    error.remedy = "profile it on the emulator, which names thread and line";
    return std::unexpected(std::move(error));
}

} // namespace kernelskill::engine::gpu
