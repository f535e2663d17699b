/// cuSOLVER's dense interface.
#pragma once
#define CUSOLVERDN_H_
#define CUSOLVER_COMMON_H_

#include "cublas_v2.h"

typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef enum {
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3,
    CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_INTERNAL_ERROR = 7
} cusolverStatus_t;
typedef enum { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2 = 2, CUSOLVER_EIG_TYPE_3 = 3 } cusolverEigType_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 } cusolverEigMode_t;

KS_LIBRARY cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
KS_LIBRARY cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
KS_LIBRARY cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
#define KS_SOLVER(letter, T)                                                                       \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##potrf_bufferSize(                              \
        cusolverDnHandle_t, cublasFillMode_t, int n, T* a, int lda, int* work);                    \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##potrf(cusolverDnHandle_t, cublasFillMode_t, int n, T* a, \
                                                          int lda, T* work, int count, int* info); \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##potrs(cusolverDnHandle_t, cublasFillMode_t, int n, int nrhs, \
                                                          const T* a, int lda, T* b, int ldb, int* info); \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##getrf_bufferSize(cusolverDnHandle_t, int m, int n, T* a, \
                                                                     int lda, int* work);          \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##getrf(cusolverDnHandle_t, int m, int n, T* a, int lda, T* work, \
                                                          int* pivots, int* info);                 \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##getrs(cusolverDnHandle_t, cublasOperation_t, int n, int nrhs, \
                                                          const T* a, int lda, const int* pivots, T* b, int ldb, \
                                                          int* info);                              \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##geqrf_bufferSize(cusolverDnHandle_t, int m, int n, T* a, \
                                                                     int lda, int* work);          \
    KS_LIBRARY cusolverStatus_t cusolverDn##letter##geqrf(cusolverDnHandle_t, int m, int n, T* a, int lda, T* tau, \
                                                          T* work, int count, int* info);
KS_SOLVER(S, float)
KS_SOLVER(D, double)
KS_SOLVER(C, cuComplex)
KS_SOLVER(Z, cuDoubleComplex)
#undef KS_SOLVER
