/// The driver API: the functions that samples and launchers use.
#pragma once
#define __cuda_cuda_h__

#include "kernelskill/language.h"

#include <stddef.h>
#include <stdint.h>

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_FILE_NOT_FOUND = 301,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUarray_st* CUarray;
typedef struct CUlinkState_st* CUlinkState;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102
} CUdevice_attribute;
typedef enum CUfunction_attribute_enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
} CUfunction_attribute;
typedef enum CUjit_option_enum {
    CU_JIT_MAX_REGISTERS = 0,
    CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
} CUjit_option;

/// Tensor maps: an opaque operand of the tensor memory accelerator.
typedef struct __attribute__((aligned(64))) CUtensorMap_st {
    uint64_t opaque[16];
} CUtensorMap;
typedef enum CUtensorMapDataType_enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
    CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9
} CUtensorMapDataType;
typedef enum CUtensorMapInterleave_enum { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 } CUtensorMapInterleave;
typedef enum CUtensorMapSwizzle_enum {
    CU_TENSOR_MAP_SWIZZLE_NONE = 0,
    CU_TENSOR_MAP_SWIZZLE_32B = 1,
    CU_TENSOR_MAP_SWIZZLE_64B = 2,
    CU_TENSOR_MAP_SWIZZLE_128B = 3
} CUtensorMapSwizzle;
typedef enum CUtensorMapL2promotion_enum {
    CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3
} CUtensorMapL2promotion;
typedef enum CUtensorMapFloatOOBfill_enum { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 } CUtensorMapFloatOOBfill;

#ifdef KERNELSKILL_EMULATION
#define KS_DRIVER extern "C" __attribute__((weak))
#else
#define KS_DRIVER extern "C" __host__
#endif
KS_DRIVER CUresult cuInit(unsigned int flags);
KS_DRIVER CUresult cuDriverGetVersion(int* version);
KS_DRIVER CUresult cuGetErrorString(CUresult error, const char** text);
KS_DRIVER CUresult cuGetErrorName(CUresult error, const char** text);
KS_DRIVER CUresult cuDeviceGet(CUdevice* device, int ordinal);
KS_DRIVER CUresult cuDeviceGetCount(int* count);
KS_DRIVER CUresult cuDeviceGetName(char* name, int length, CUdevice device);
KS_DRIVER CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);
KS_DRIVER CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device);
KS_DRIVER CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device);
KS_DRIVER CUresult cuCtxDestroy(CUcontext context);
KS_DRIVER CUresult cuCtxSynchronize(void);
KS_DRIVER CUresult cuCtxGetCurrent(CUcontext* context);
KS_DRIVER CUresult cuCtxSetCurrent(CUcontext context);
KS_DRIVER CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
KS_DRIVER CUresult cuModuleLoad(CUmodule* module, const char* path);
KS_DRIVER CUresult cuModuleLoadData(CUmodule* module, const void* image);
KS_DRIVER CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                                      void** values);
KS_DRIVER CUresult cuModuleUnload(CUmodule module);
KS_DRIVER CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
KS_DRIVER CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name);
KS_DRIVER CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function);
KS_DRIVER CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
KS_DRIVER CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                  unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                                  unsigned int sharedBytes, CUstream stream, void** arguments, void** extra);
KS_DRIVER CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes);
KS_DRIVER CUresult cuMemFree(CUdeviceptr pointer);
KS_DRIVER CUresult cuMemGetInfo(size_t* available, size_t* total);
KS_DRIVER CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes);
KS_DRIVER CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes);
KS_DRIVER CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes);
KS_DRIVER CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count);
KS_DRIVER CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count);
KS_DRIVER CUresult cuStreamCreate(CUstream* stream, unsigned int flags);
KS_DRIVER CUresult cuStreamSynchronize(CUstream stream);
KS_DRIVER CUresult cuStreamDestroy(CUstream stream);
KS_DRIVER CUresult cuEventCreate(CUevent* event, unsigned int flags);
KS_DRIVER CUresult cuEventRecord(CUevent event, CUstream stream);
KS_DRIVER CUresult cuEventSynchronize(CUevent event);
KS_DRIVER CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
KS_DRIVER CUresult cuEventDestroy(CUevent event);
KS_DRIVER CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, uint32_t rank, void* address,
                                          const uint64_t* dimensions, const uint64_t* strides, const uint32_t* box,
                                          const uint32_t* elementStrides, CUtensorMapInterleave interleave,
                                          CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                          CUtensorMapFloatOOBfill fill);
#undef KS_DRIVER
