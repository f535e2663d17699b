/// NCCL.
#pragma once
#define NCCL_H_

#include "kernelskill/host_library.h"

typedef struct ncclComm* ncclComm_t;
#define NCCL_UNIQUE_ID_BYTES 128
#define NCCL_MAJOR 2
#define NCCL_MINOR 27
#define NCCL_PATCH 0
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;
typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7
} ncclResult_t;
typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 } ncclRedOp_t;
typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9
} ncclDataType_t;

KS_LIBRARY ncclResult_t ncclGetVersion(int* version);
KS_LIBRARY ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
KS_LIBRARY ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
KS_LIBRARY ncclResult_t ncclCommInitAll(ncclComm_t* comms, int devices, const int* list);
KS_LIBRARY ncclResult_t ncclCommDestroy(ncclComm_t comm);
KS_LIBRARY ncclResult_t ncclCommAbort(ncclComm_t comm);
KS_LIBRARY ncclResult_t ncclCommCount(ncclComm_t comm, int* count);
KS_LIBRARY ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
KS_LIBRARY ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result);
KS_LIBRARY const char* ncclGetErrorString(ncclResult_t result);
KS_LIBRARY const char* ncclGetLastError(ncclComm_t comm);
KS_LIBRARY ncclResult_t ncclGroupStart(void);
KS_LIBRARY ncclResult_t ncclGroupEnd(void);
KS_LIBRARY ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                                      ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                                   ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                                      ncclComm_t comm, cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                                  cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type,
                                      ncclComm_t comm, cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type,
                                          ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                                 cudaStream_t stream);
KS_LIBRARY ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                                 cudaStream_t stream);
