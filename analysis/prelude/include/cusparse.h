/// cuSPARSE's generic interface.
#pragma once
#define CUSPARSE_H_
#define CUSPARSEAPI

#include "cuda_fp16.h"
#include "kernelskill/host_library.h"

#include <stdint.h>
#include <stdio.h>

typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef const struct cusparseSpMatDescr* cusparseConstSpMatDescr_t;
typedef struct cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef const struct cusparseDnMatDescr* cusparseConstDnMatDescr_t;
typedef struct cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef const struct cusparseDnVecDescr* cusparseConstDnVecDescr_t;
typedef enum {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6,
    CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10
} cusparseStatus_t;
typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
    CUSPARSE_OPERATION_TRANSPOSE = 1,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_MATRIX_TYPE_GENERAL = 0 } cusparseMatrixType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3
} cusparseSpMVAlg_t;
typedef enum { CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_SPMM_CSR_ALG1 = 4 } cusparseSpMMAlg_t;

KS_LIBRARY cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
KS_LIBRARY cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
KS_LIBRARY cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
KS_LIBRARY const char* cusparseGetErrorString(cusparseStatus_t status);
KS_LIBRARY cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor);
KS_LIBRARY cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor);
KS_LIBRARY cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descriptor, cusparseMatrixType_t type);
KS_LIBRARY cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descriptor, cusparseIndexBase_t base);
KS_LIBRARY cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                              void* rowOffsets, void* columns, void* values,
                                              cusparseIndexType_t rowType, cusparseIndexType_t columnType,
                                              cusparseIndexBase_t base, cudaDataType type);
KS_LIBRARY cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t nnz,
                                              void* rowIndices, void* columns, void* values, cusparseIndexType_t type,
                                              cusparseIndexBase_t base, cudaDataType valueType);
KS_LIBRARY cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix);
KS_LIBRARY cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values,
                                                cudaDataType type);
KS_LIBRARY cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector);
KS_LIBRARY cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values);
KS_LIBRARY cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows, int64_t cols, int64_t ld,
                                                void* values, cudaDataType type, cusparseOrder_t order);
KS_LIBRARY cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix);
KS_LIBRARY cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t operation,
                                                    const void* alpha, cusparseConstSpMatDescr_t a,
                                                    cusparseConstDnVecDescr_t x, const void* beta,
                                                    cusparseDnVecDescr_t y, cudaDataType compute,
                                                    cusparseSpMVAlg_t algorithm, size_t* bytes);
KS_LIBRARY cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t operation, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         void* buffer);
KS_LIBRARY cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                                    cusparseOperation_t opB, const void* alpha,
                                                    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                                    const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                                    cusparseSpMMAlg_t algorithm, size_t* bytes);
KS_LIBRARY cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, void* buffer);
