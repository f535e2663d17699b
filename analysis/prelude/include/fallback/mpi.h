/// Stands in for MPI's header where no MPI is installed, so that a file parses without it.
#pragma once

extern "C" {
typedef struct ks_mpi_comm* MPI_Comm;
typedef struct ks_mpi_datatype* MPI_Datatype;
typedef struct ks_mpi_op* MPI_Op;
typedef struct ks_mpi_request* MPI_Request;
typedef struct ks_mpi_info* MPI_Info;
typedef struct ks_mpi_win* MPI_Win;
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;
extern MPI_Comm MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_SELF;
extern MPI_Datatype MPI_CHAR, MPI_BYTE, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_LONG_INT;
extern MPI_Op MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD;
extern MPI_Info MPI_INFO_NULL;
extern MPI_Request MPI_REQUEST_NULL;
#define MPI_SUCCESS 0
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_COMM_TYPE_SHARED 0
#define MPI_MAX_ERROR_STRING 256
#define MPI_MAX_PROCESSOR_NAME 256
int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* out);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* out);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Get_processor_name(char* name, int* length);
int MPI_Error_string(int code, char* text, int* length);
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Sendrecv(const void* send, int sendCount, MPI_Datatype sendType, int to, int sendTag, void* receive,
                 int receiveCount, MPI_Datatype receiveType, int from, int receiveTag, MPI_Comm comm,
                 MPI_Status* status);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void* send, int sendCount, MPI_Datatype sendType, void* receive, int receiveCount,
               MPI_Datatype receiveType, int root, MPI_Comm comm);
int MPI_Allgather(const void* send, int sendCount, MPI_Datatype sendType, void* receive, int receiveCount,
                  MPI_Datatype receiveType, MPI_Comm comm);
int MPI_Scatter(const void* send, int sendCount, MPI_Datatype sendType, void* receive, int receiveCount,
                MPI_Datatype receiveType, int root, MPI_Comm comm);
double MPI_Wtime(void);
}
