/// The runtime API's C functions.
#pragma once
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"
#include "kernelskill/graph_types.h"
#include "texture_types.h"

#ifdef __cplusplus
extern "C" {
#define KS_DEFAULT(value) = value
#else
#define KS_DEFAULT(value)
#endif

// Weak when emulating: nothing defines them, and nothing that runs calls them.
#ifdef KERNELSKILL_EMULATION
#define KS_API __attribute__((weak))
#else
#define KS_API __host__
#endif
#define KS_API_BOTH KS_API __device__

// Errors, versions and devices.
KS_API_BOTH cudaError_t cudaGetLastError(void);
KS_API_BOTH cudaError_t cudaPeekAtLastError(void);
KS_API_BOTH const char* cudaGetErrorString(cudaError_t error);
KS_API_BOTH const char* cudaGetErrorName(cudaError_t error);
KS_API cudaError_t cudaDriverGetVersion(int* version);
KS_API_BOTH cudaError_t cudaRuntimeGetVersion(int* version);
KS_API_BOTH cudaError_t cudaGetDevice(int* device);
KS_API_BOTH cudaError_t cudaGetDeviceCount(int* count);
KS_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
KS_API_BOTH cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device);
KS_API cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attribute, int source, int target);
KS_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* busId);
KS_API cudaError_t cudaDeviceGetPCIBusId(char* busId, int length, int device);
KS_API cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* properties);
KS_API cudaError_t cudaSetDevice(int device);
KS_API cudaError_t cudaSetValidDevices(int* devices, int count);
KS_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
KS_API cudaError_t cudaGetDeviceFlags(unsigned int* flags);
KS_API cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
KS_API cudaError_t cudaDeviceReset(void);
KS_API_BOTH cudaError_t cudaDeviceSynchronize(void);
KS_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
KS_API_BOTH cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
KS_API_BOTH cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config);
KS_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
KS_API_BOTH cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* config);
KS_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
KS_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
KS_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
KS_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
KS_API cudaError_t cudaDeviceDisablePeerAccess(int peer);
KS_API cudaError_t cudaThreadExit(void);
KS_API cudaError_t cudaThreadSynchronize(void);
KS_API cudaError_t cudaProfilerStart(void);
KS_API cudaError_t cudaProfilerStop(void);
KS_API cudaError_t cudaCtxResetPersistingL2Cache(void);

// Memory.
KS_API_BOTH cudaError_t cudaMalloc(void** pointer, size_t bytes);
KS_API cudaError_t cudaMallocHost(void** pointer, size_t bytes);
KS_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags);
KS_API cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags KS_DEFAULT(cudaMemAttachGlobal));
KS_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
KS_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
KS_API cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
KS_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent);
KS_API cudaError_t cudaMallocArray(cudaArray_t* array, const struct cudaChannelFormatDesc* format, size_t width,
                                   size_t height KS_DEFAULT(0), unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const struct cudaChannelFormatDesc* format,
                                     struct cudaExtent extent, unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const struct cudaChannelFormatDesc* format,
                                            struct cudaExtent extent, unsigned int levels,
                                            unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmapped,
                                              unsigned int level);
KS_API_BOTH cudaError_t cudaFree(void* pointer);
KS_API cudaError_t cudaFreeHost(void* pointer);
KS_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
KS_API cudaError_t cudaFreeArray(cudaArray_t array);
KS_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array);
KS_API cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags);
KS_API cudaError_t cudaHostUnregister(void* pointer);
KS_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
KS_API cudaError_t cudaHostGetFlags(unsigned int* flags, void* host);
KS_API cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
KS_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer);
KS_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind);
KS_API_BOTH cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                                        cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice, size_t bytes);
KS_API cudaError_t cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice, size_t bytes,
                                       cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind);
KS_API_BOTH cudaError_t cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width,
                                          size_t height, enum cudaMemcpyKind kind,
                                          cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t wOffset, size_t hOffset, const void* from, size_t pitch,
                                       size_t width, size_t height, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t wOffset,
                                         size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t wOffset, size_t hOffset, const void* from, size_t bytes,
                                     enum cudaMemcpyKind kind);
KS_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t wOffset, size_t hOffset, size_t bytes,
                                       enum cudaMemcpyKind kind);
KS_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* parameters);
KS_API_BOTH cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* parameters,
                                          cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms* parameters);
KS_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms* parameters,
                                         cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t wOffset, size_t hOffset, const void* from,
                                          size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t wOffset, size_t hOffset,
                                            size_t bytes, enum cudaMemcpyKind kind,
                                            cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t wOffset, size_t hOffset, const void* from,
                                            size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                            cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t wOffset,
                                              size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                              cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t wTo, size_t hTo, cudaArray_const_t from, size_t wFrom,
                                          size_t hFrom, size_t bytes,
                                          enum cudaMemcpyKind kind KS_DEFAULT(cudaMemcpyDeviceToDevice));
KS_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t wTo, size_t hTo, cudaArray_const_t from,
                                            size_t wFrom, size_t hFrom, size_t width, size_t height,
                                            enum cudaMemcpyKind kind KS_DEFAULT(cudaMemcpyDeviceToDevice));
KS_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent,
                                     cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* dataBytes, enum cudaMemRangeAttribute* attributes,
                                             size_t count, const void* pointer, size_t bytes);
KS_API cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
KS_API_BOTH cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
KS_API_BOTH cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                                          cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent);
KS_API cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation location);
KS_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, struct cudaMemLocation location,
                                        unsigned int flags, cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataBytes, enum cudaMemRangeAttribute attribute,
                                            const void* pointer, size_t bytes);
KS_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc* format, struct cudaExtent* extent,
                                    unsigned int* flags, cudaArray_t array);
KS_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc* format, cudaArray_const_t array);
KS_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);
KS_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
KS_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags);
KS_API cudaError_t cudaIpcCloseMemHandle(void* pointer);
KS_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
KS_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

// Memory pools.
KS_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
KS_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
KS_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
KS_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties);
KS_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
KS_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
KS_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value);
KS_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value);
KS_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* access, size_t count);

// Streams and events.
KS_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
KS_API_BOTH cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
KS_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
KS_API_BOTH cudaError_t cudaStreamDestroy(cudaStream_t stream);
KS_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
KS_API cudaError_t cudaStreamQuery(cudaStream_t stream);
KS_API_BOTH cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                         unsigned int flags);
KS_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length KS_DEFAULT(0),
                                            unsigned int flags KS_DEFAULT(cudaMemAttachSingle));
KS_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
KS_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
KS_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
KS_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
KS_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
KS_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                          const cudaStreamAttrValue* value);
KS_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value);
KS_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
KS_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
KS_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status);
KS_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode);
KS_API cudaError_t cudaEventCreate(cudaEvent_t* event);
KS_API_BOTH cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
KS_API_BOTH cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream KS_DEFAULT(0),
                                            unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaEventQuery(cudaEvent_t event);
KS_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
KS_API_BOTH cudaError_t cudaEventDestroy(cudaEvent_t event);
KS_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
KS_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

// Launches and occupancy.
KS_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                                    cudaStream_t stream);
KS_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments);
KS_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                               size_t sharedBytes, cudaStream_t stream);
KS_API_BOTH cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* function);
KS_API cudaError_t cudaFuncSetAttribute(const void* function, enum cudaFuncAttribute attribute, int value);
KS_API cudaError_t cudaFuncSetCacheConfig(const void* function, enum cudaFuncCache config);
KS_API cudaError_t cudaFuncSetSharedMemConfig(const void* function, enum cudaSharedMemConfig config);
KS_API_BOTH cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                                      size_t sharedBytes);
KS_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                          int threads, size_t sharedBytes,
                                                                          unsigned int flags);
KS_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                                             int threads);
KS_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                        const cudaLaunchConfig_t* config);
KS_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                  const cudaLaunchConfig_t* config);
// The calls that clang and nvcc make of `<<<...>>>`.
KS_API cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t sharedBytes KS_DEFAULT(0),
                                     cudaStream_t stream KS_DEFAULT(0));
KS_API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes KS_DEFAULT(0),
                                                struct CUstream_st* stream KS_DEFAULT(0));
KS_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* sharedBytes, void* stream);

#ifndef KERNELSKILL_EMULATION
// The same on the device: dynamic parallelism.
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t bytes);
__device__ cudaError_t cudaLaunchDevice(void* function, void* parameters, dim3 grid, dim3 block,
                                        unsigned int sharedBytes, cudaStream_t stream);
#endif

// Symbols.
KS_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset KS_DEFAULT(0),
                                      enum cudaMemcpyKind kind KS_DEFAULT(cudaMemcpyHostToDevice));
KS_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset KS_DEFAULT(0),
                                        enum cudaMemcpyKind kind KS_DEFAULT(cudaMemcpyDeviceToHost));
KS_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream KS_DEFAULT(0));
KS_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol);
KS_API cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol);

// Textures and surfaces.
KS_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const struct cudaResourceDesc* resource,
                                           const struct cudaTextureDesc* texture,
                                           const struct cudaResourceViewDesc* view);
KS_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
KS_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc* resource, cudaTextureObject_t object);
KS_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc* texture, cudaTextureObject_t object);
KS_API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc* view, cudaTextureObject_t object);
KS_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc* resource, cudaSurfaceObject_t object);
KS_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const struct cudaResourceDesc* resource);
KS_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);

// Graphs.
KS_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
KS_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
KS_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        unsigned long long flags KS_DEFAULT(0));
KS_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                 unsigned long long flags KS_DEFAULT(0));
KS_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
KS_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
KS_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
KS_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result);
KS_API cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
KS_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
KS_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* type);
KS_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, size_t count,
                                          const struct cudaKernelNodeParams* parameters);
KS_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams* parameters);
KS_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaKernelNodeParams* parameters);
KS_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, size_t count,
                                          const struct cudaMemcpy3DParms* parameters);
KS_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies, size_t count, void* to,
                                            const void* from, size_t bytes, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, size_t count,
                                          const struct cudaMemsetParams* parameters);
KS_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, const struct cudaHostNodeParams* parameters);
KS_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count, cudaGraph_t child);
KS_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                         size_t count);
KS_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            const cudaGraphEdgeData* edges, size_t count);
KS_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags);

// Programmatic dependent launch.
KS_DEVICE void cudaTriggerProgrammaticLaunchCompletion(void) KS_BODY({})
KS_DEVICE void cudaGridDependencySynchronize(void) KS_BODY({})

#ifdef __cplusplus
}
#endif

#include "kernelskill/graph_nodes.h"
