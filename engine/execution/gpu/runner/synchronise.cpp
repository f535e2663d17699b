#include "engine/execution/gpu/runner/synchronise.h"

namespace kernelskill::engine::gpu {
namespace {

const char* explanation(CUresult status) {
    switch (status) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
        return "the kernel touched memory outside its buffers";
    case CUDA_ERROR_MISALIGNED_ADDRESS:
        return "the kernel accessed an address that is not a multiple of the access's size";
    case CUDA_ERROR_ASSERT:
        return "an assert() of the kernel failed";
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        return "the kernel reached a trap or an instruction that the GPU lacks";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return "the kernel ran longer than the driver allows on this GPU";
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
        return "the kernel's stack overflowed";
    case CUDA_ERROR_LAUNCH_FAILED:
        return "the kernel failed, by a trap or an invalid access to shared or local memory";
    default:
        return "the kernel failed";
    }
}

} // namespace

Result<void> synchronise(const CudaDriver& driver, bool& isFatal) {
    const auto status = driver.cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        return {};
    isFatal = isFatal || isSticky(status);
    auto error = driver.failure(explanation(status), status);
    error.remedy = "profile it on the emulator, which names thread and line";
    return std::unexpected(std::move(error));
}

} // namespace kernelskill::engine::gpu
