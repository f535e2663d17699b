/// cuFFT.
#pragma once
#define _CUFFT_H_

#include "kernelskill/host_library.h"

typedef enum cufftResult_t {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_UNALIGNED_DATA = 9,
    CUFFT_INVALID_DEVICE = 11,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_NOT_SUPPORTED = 16
} cufftResult;
typedef enum cufftType_t {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69
} cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1

KS_LIBRARY cufftResult cufftCreate(cufftHandle* plan);
KS_LIBRARY cufftResult cufftDestroy(cufftHandle plan);
KS_LIBRARY cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch);
KS_LIBRARY cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type);
KS_LIBRARY cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type);
KS_LIBRARY cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist,
                                     int* onembed, int ostride, int odist, cufftType type, int batch);
KS_LIBRARY cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workBytes);
KS_LIBRARY cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workBytes);
KS_LIBRARY cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workBytes);
KS_LIBRARY cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
KS_LIBRARY cufftResult cufftSetWorkArea(cufftHandle plan, void* work);
KS_LIBRARY cufftResult cufftGetSize(cufftHandle plan, size_t* workBytes);
KS_LIBRARY cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
KS_LIBRARY cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
KS_LIBRARY cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
KS_LIBRARY cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
KS_LIBRARY cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out);
KS_LIBRARY cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out);
