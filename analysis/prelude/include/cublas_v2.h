/// cuBLAS: the functions that real code calls.
#pragma once
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kernelskill/host_library.h"

typedef struct cublasContext* cublasHandle_t;
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

KS_LIBRARY cublasStatus_t cublasCreate(cublasHandle_t* handle);
KS_LIBRARY cublasStatus_t cublasDestroy(cublasHandle_t handle);
KS_LIBRARY cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
KS_LIBRARY cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
KS_LIBRARY cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
KS_LIBRARY cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
KS_LIBRARY cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
KS_LIBRARY cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
KS_LIBRARY cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
KS_LIBRARY cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
KS_LIBRARY cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
KS_LIBRARY cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
KS_LIBRARY cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
KS_LIBRARY const char* cublasGetStatusString(cublasStatus_t status);
KS_LIBRARY const char* cublasGetStatusName(cublasStatus_t status);
KS_LIBRARY cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* y, int incy);
KS_LIBRARY cublasStatus_t cublasGetVector(int n, int size, const void* x, int incx, void* y, int incy);
KS_LIBRARY cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void* a, int lda, void* b, int ldb);
KS_LIBRARY cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void* a, int lda, void* b, int ldb);

// One line per routine and type; the letters are BLAS's.
#define KS_BLAS(letter, T, Real)                                                                   \
    KS_LIBRARY cublasStatus_t cublas##letter##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int incx, T* y, int incy); \
    KS_LIBRARY cublasStatus_t cublas##letter##scal(cublasHandle_t, int n, const T* alpha, T* x, int incx); \
    KS_LIBRARY cublasStatus_t cublas##letter##copy(cublasHandle_t, int n, const T* x, int incx, T* y, int incy); \
    KS_LIBRARY cublasStatus_t cublas##letter##swap(cublasHandle_t, int n, T* x, int incx, T* y, int incy); \
    KS_LIBRARY cublasStatus_t cublasI##letter##amax(cublasHandle_t, int n, const T* x, int incx, int* result); \
    KS_LIBRARY cublasStatus_t cublasI##letter##amin(cublasHandle_t, int n, const T* x, int incx, int* result); \
    KS_LIBRARY cublasStatus_t cublas##letter##gemv(cublasHandle_t, cublasOperation_t trans, int m, int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy); \
    KS_LIBRARY cublasStatus_t cublas##letter##trsv(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int n, const T* a, int lda, T* x, int incx); \
    KS_LIBRARY cublasStatus_t cublas##letter##gemm(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc); \
    KS_LIBRARY cublasStatus_t cublas##letter##gemmBatched(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int batch); \
    KS_LIBRARY cublasStatus_t cublas##letter##gemmStridedBatched(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* a, int lda, long long stridea, const T* b, int ldb, long long strideb, const T* beta, T* c, int ldc, long long stridec, int batch); \
    KS_LIBRARY cublasStatus_t cublas##letter##geam(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n, const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc); \
    KS_LIBRARY cublasStatus_t cublas##letter##trsm(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb); \
    KS_LIBRARY cublasStatus_t cublas##letter##symm(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc); \
    KS_LIBRARY cublasStatus_t cublas##letter##syrk(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int n, int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc); \
    KS_LIBRARY cublasStatus_t cublas##letter##dgmm(cublasHandle_t, cublasSideMode_t, int m, int n, const T* a, int lda, const T* x, int incx, T* c, int ldc); \
    KS_LIBRARY cublasStatus_t cublas##letter##getrfBatched(cublasHandle_t, int n, T* const a[], int lda, int* pivots, int* info, int batch); \
    KS_LIBRARY cublasStatus_t cublas##letter##getriBatched(cublasHandle_t, int n, const T* const a[], int lda, const int* pivots, T* const c[], int ldc, int* info, int batch);
KS_BLAS(S, float, float)
KS_BLAS(D, double, double)
KS_BLAS(C, cuComplex, float)
KS_BLAS(Z, cuDoubleComplex, double)
#undef KS_BLAS
#define KS_BLAS_REAL(letter, T)                                                                    \
    KS_LIBRARY cublasStatus_t cublas##letter##dot(cublasHandle_t, int n, const T* x, int incx, const T* y, int incy, T* result); \
    KS_LIBRARY cublasStatus_t cublas##letter##nrm2(cublasHandle_t, int n, const T* x, int incx, T* result); \
    KS_LIBRARY cublasStatus_t cublas##letter##asum(cublasHandle_t, int n, const T* x, int incx, T* result); \
    KS_LIBRARY cublasStatus_t cublas##letter##rot(cublasHandle_t, int n, T* x, int incx, T* y, int incy, const T* c, const T* s); \
    KS_LIBRARY cublasStatus_t cublas##letter##ger(cublasHandle_t, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a, int lda); \
    KS_LIBRARY cublasStatus_t cublas##letter##symv(cublasHandle_t, cublasFillMode_t, int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy);
KS_BLAS_REAL(S, float)
KS_BLAS_REAL(D, double)
#undef KS_BLAS_REAL

struct __half;
KS_LIBRARY cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                      int k, const __half* alpha, const __half* a, int lda, const __half* b, int ldb,
                                      const __half* beta, __half* c, int ldc);
KS_LIBRARY cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                                    int m, int n, int k, const __half* alpha, const __half* a, int lda,
                                                    long long stridea, const __half* b, int ldb, long long strideb,
                                                    const __half* beta, __half* c, int ldc, long long stridec,
                                                    int batch);
KS_LIBRARY cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                       int k, const void* alpha, const void* a, cudaDataType atype, int lda,
                                       const void* b, cudaDataType btype, int ldb, const void* beta, void* c,
                                       cudaDataType ctype, int ldc, cublasComputeType_t compute,
                                       cublasGemmAlgo_t algorithm);
KS_LIBRARY cublasStatus_t cublasSgemmEx(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, int m,
                                        int n, int k, const float* alpha, const void* a, cudaDataType atype, int lda,
                                        const void* b, cudaDataType btype, int ldb, const float* beta, void* c,
                                        cudaDataType ctype, int ldc);
KS_LIBRARY cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t transa,
                                                     cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                                     const void* a, cudaDataType atype, int lda, long long stridea,
                                                     const void* b, cudaDataType btype, int ldb, long long strideb,
                                                     const void* beta, void* c, cudaDataType ctype, int ldc,
                                                     long long stridec, int batch, cublasComputeType_t compute,
                                                     cublasGemmAlgo_t algorithm);
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* a, cudaDataType atype, int lda,
                                   const void* b, cudaDataType btype, int ldb, const void* beta, void* c,
                                   cudaDataType ctype, int ldc, cudaDataType compute, cublasGemmAlgo_t algorithm) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc,
                        compute == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, algorithm);
}
