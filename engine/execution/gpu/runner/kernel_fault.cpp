#include "engine/execution/gpu/runner/kernel_fault.h"

namespace kernelskill::engine::gpu {

bool isSticky(CUresult status) {
    switch (status) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return false;
    }
}

const char* explanationOf(CUresult status) {
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

} // namespace kernelskill::engine::gpu
