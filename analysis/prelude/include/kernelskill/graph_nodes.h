/// Graphs node by node: what a node is told when it is added, read back or changed.
#pragma once

#include "kernelskill/interop.h"

enum cudaGraphMemAttributeType {
    cudaGraphMemAttrUsedMemCurrent = 0,
    cudaGraphMemAttrUsedMemHigh = 1,
    cudaGraphMemAttrReservedMemCurrent = 2,
    cudaGraphMemAttrReservedMemHigh = 3
};
enum cudaGraphConditionalHandleFlags { cudaGraphCondAssignDefault = 1 };
enum cudaGraphConditionalNodeType {
    cudaGraphCondTypeIf = 0,
    cudaGraphCondTypeWhile = 1,
    cudaGraphCondTypeSwitch = 2
};
enum cudaGraphChildGraphNodeOwnership {
    cudaGraphChildGraphOwnershipClone = 0,
    cudaGraphChildGraphOwnershipMove = 1
};
typedef enum cudaGraphInstantiateResult {
    cudaGraphInstantiateSuccess = 0,
    cudaGraphInstantiateError = 1,
    cudaGraphInstantiateInvalidStructure = 2,
    cudaGraphInstantiateNodeOperationNotSupported = 3,
    cudaGraphInstantiateMultipleDevicesNotSupported = 4,
    cudaGraphInstantiateConditionalHandleUnused = 5
} cudaGraphInstantiateResult;
enum cudaGraphDebugDotFlags {
    cudaGraphDebugDotFlagsVerbose = 1 << 0,
    cudaGraphDebugDotFlagsKernelNodeParams = 1 << 2,
    cudaGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
    cudaGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
    cudaGraphDebugDotFlagsHostNodeParams = 1 << 5,
    cudaGraphDebugDotFlagsEventNodeParams = 1 << 6,
    cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 1 << 7,
    cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 1 << 8,
    cudaGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
    cudaGraphDebugDotFlagsHandles = 1 << 10,
    cudaGraphDebugDotFlagsConditionalNodeParams = 1 << 15
};
enum cudaGraphInstantiateFlags {
    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
    cudaGraphInstantiateFlagUpload = 2,
    cudaGraphInstantiateFlagDeviceLaunch = 4,
    cudaGraphInstantiateFlagUseNodePriority = 8
};
enum cudaStreamUpdateCaptureDependenciesFlags {
    cudaStreamAddCaptureDependencies = 0,
    cudaStreamSetCaptureDependencies = 1
};
typedef enum cudaGraphDependencyType_enum {
    cudaGraphDependencyTypeDefault = 0,
    cudaGraphDependencyTypeProgrammatic = 1
} cudaGraphDependencyType;
enum cudaUserObjectFlags { cudaUserObjectNoDestructorSync = 1 };
enum cudaUserObjectRetainFlags { cudaGraphUserObjectMove = 1 };
#define cudaGraphKernelNodePortDefault 0
#define cudaGraphKernelNodePortProgrammatic 1
#define cudaGraphKernelNodePortLaunchCompletion 2
#define cudaEventRecordExternal 0x01
#define cudaEventWaitExternal 0x01

struct cudaMemAllocNodeParams {
    struct cudaMemPoolProps poolProps;
    const struct cudaMemAccessDesc* accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    void* dptr;
};
struct cudaMemFreeNodeParams {
    void* dptr;
};
struct cudaMemcpyNodeParams {
    int flags;
    int reserved[3];
    struct cudaMemcpy3DParms copyParams;
};
struct cudaChildGraphNodeParams {
    cudaGraph_t graph;
    enum cudaGraphChildGraphNodeOwnership ownership;
};
struct cudaEventRecordNodeParams {
    cudaEvent_t event;
};
struct cudaEventWaitNodeParams {
    cudaEvent_t event;
};
struct cudaConditionalNodeParams {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned int size;
    cudaGraph_t* phGraph_out;
};
// The V2 structures differ from the first ones in layout alone.
typedef struct cudaMemAllocNodeParams cudaMemAllocNodeParamsV2;
typedef struct cudaKernelNodeParams cudaKernelNodeParamsV2;
typedef struct cudaMemsetParams cudaMemsetParamsV2;
typedef struct cudaHostNodeParams cudaHostNodeParamsV2;
struct cudaGraphNodeParams {
    enum cudaGraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        struct cudaKernelNodeParams kernel;
        struct cudaMemcpyNodeParams memcpy;
        struct cudaMemsetParams memset;
        struct cudaHostNodeParams host;
        struct cudaChildGraphNodeParams graph;
        struct cudaEventWaitNodeParams eventWait;
        struct cudaEventRecordNodeParams eventRecord;
        struct cudaExternalSemaphoreSignalNodeParams extSemSignal;
        struct cudaExternalSemaphoreWaitNodeParams extSemWait;
        struct cudaMemAllocNodeParams alloc;
        struct cudaMemFreeNodeParams free;
        struct cudaConditionalNodeParams conditional;
    };
    long long reserved2;
};
typedef struct cudaGraphInstantiateParams_st {
    unsigned long long flags;
    cudaStream_t uploadStream;
    cudaGraphNode_t errNode_out;
    cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;

#ifdef __cplusplus
extern "C" {
#endif

/// A node of a kind is read by Get, changed in the graph by Set and in its executable by ExecSet.
#define KS_NODE_PARAMETERS(kind, parameters)                                                       \
    KS_API cudaError_t cudaGraph##kind##GetParams(cudaGraphNode_t node, parameters* read);         \
    KS_API cudaError_t cudaGraph##kind##SetParams(cudaGraphNode_t node, const parameters* set);    \
    KS_API cudaError_t cudaGraphExec##kind##SetParams(cudaGraphExec_t exec, cudaGraphNode_t node,  \
                                                      const parameters* set);
#define KS_ADD_NODE(kind, ...)                                                                     \
    KS_API cudaError_t cudaGraphAdd##kind(cudaGraphNode_t* node, cudaGraph_t graph,                \
                                          const cudaGraphNode_t* dependencies, size_t count,       \
                                          __VA_ARGS__);
#define KS_NODE_EVENT(kind)                                                                        \
    KS_ADD_NODE(kind##Node, cudaEvent_t event)                                                     \
    KS_API cudaError_t cudaGraph##kind##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event);    \
    KS_API cudaError_t cudaGraph##kind##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);     \
    KS_API cudaError_t cudaGraphExec##kind##NodeSetEvent(                                          \
        cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event);

KS_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams* read);
KS_NODE_PARAMETERS(MemcpyNode, struct cudaMemcpy3DParms)
KS_NODE_PARAMETERS(MemsetNode, struct cudaMemsetParams)
KS_NODE_PARAMETERS(HostNode, struct cudaHostNodeParams)
KS_NODE_PARAMETERS(ExternalSemaphoresSignalNode, struct cudaExternalSemaphoreSignalNodeParams)
KS_NODE_PARAMETERS(ExternalSemaphoresWaitNode, struct cudaExternalSemaphoreWaitNodeParams)
KS_NODE_EVENT(EventRecord)
KS_NODE_EVENT(EventWait)
KS_ADD_NODE(ExternalSemaphoresSignalNode, const struct cudaExternalSemaphoreSignalNodeParams* parameters)
KS_ADD_NODE(ExternalSemaphoresWaitNode, const struct cudaExternalSemaphoreWaitNodeParams* parameters)
KS_ADD_NODE(MemAllocNode, struct cudaMemAllocNodeParams* parameters)
KS_ADD_NODE(MemFreeNode, void* pointer)
KS_ADD_NODE(MemcpyNodeToSymbol, const void* symbol, const void* from, size_t bytes, size_t offset,
            enum cudaMemcpyKind kind)
KS_ADD_NODE(MemcpyNodeFromSymbol, void* to, const void* symbol, size_t bytes, size_t offset,
            enum cudaMemcpyKind kind)
#undef KS_NODE_PARAMETERS
#undef KS_ADD_NODE
#undef KS_NODE_EVENT

KS_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    const cudaGraphEdgeData* edges, size_t count,
                                    struct cudaGraphNodeParams* parameters);
KS_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams* parameters);
KS_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              struct cudaGraphNodeParams* parameters);
KS_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                                    unsigned int value KS_DEFAULT(0),
                                                    unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from);
KS_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                                   cudaKernelNodeAttrValue* value);
KS_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                                   const cudaKernelNodeAttrValue* value);
KS_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                                  enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                        size_t bytes, size_t offset, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                                          size_t bytes, size_t offset, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                      const void* from, size_t bytes, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                            const void* symbol, const void* from, size_t bytes,
                                                            size_t offset, enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                              const void* symbol, size_t bytes, size_t offset,
                                                              enum cudaMemcpyKind kind);
KS_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph);
KS_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child);
KS_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams* read);
KS_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* read);
KS_API cudaError_t cudaDeviceGraphMemTrim(int device);
KS_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void* value);
KS_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void* value);
KS_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone);
KS_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* roots, size_t* count);
KS_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                     cudaGraphEdgeData* edges, size_t* count);
KS_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                                cudaGraphEdgeData* edges, size_t* count);
KS_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                                  cudaGraphEdgeData* edges, size_t* count);
KS_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                               size_t count);
KS_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
KS_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled);
KS_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled);
KS_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams* parameters);
KS_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags);
KS_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                        unsigned int references, unsigned int flags);
KS_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count KS_DEFAULT(1));
KS_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count KS_DEFAULT(1));
KS_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                             unsigned int count KS_DEFAULT(1), unsigned int flags KS_DEFAULT(0));
KS_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                              unsigned int count KS_DEFAULT(1));
KS_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                                                 size_t count, enum cudaStreamCaptureMode mode);
KS_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                            unsigned long long* id KS_DEFAULT(0), cudaGraph_t* graph KS_DEFAULT(0),
                                            const cudaGraphNode_t** dependencies KS_DEFAULT(0),
                                            const cudaGraphEdgeData** edges KS_DEFAULT(0),
                                            size_t* count KS_DEFAULT(0));
KS_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                       const cudaGraphEdgeData* edges, size_t count,
                                                       unsigned int flags KS_DEFAULT(0));

#ifndef KERNELSKILL_EMULATION
// The operations of a kernel of a graph on that graph.
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
__device__ cudaGraphExec_t cudaGetCurrentGraphExec(void);
#endif

#ifdef __cplusplus
}
#endif
