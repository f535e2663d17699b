/// The runtime API with its C++ conveniences: typed allocation, kernels and symbols by name.
#pragma once
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#ifdef __cplusplus

#ifdef KERNELSKILL_EMULATION
#define KS_HOST_INLINE static inline __attribute__((unused))
#define KS_HOST_BODY(...) __VA_ARGS__
#else
#define KS_HOST_INLINE __host__
#define KS_HOST_BODY(...) ;
#endif

#define KS_TYPED(signature, call)                                                                  \
    template <class T> KS_HOST_INLINE cudaError_t signature KS_HOST_BODY({ return call; })
KS_TYPED(cudaMalloc(T** p, size_t bytes), cudaMalloc(reinterpret_cast<void**>(p), bytes))
KS_TYPED(cudaMallocHost(T** p, size_t bytes, unsigned int flags = 0),
         cudaHostAlloc(reinterpret_cast<void**>(p), bytes, flags))
KS_TYPED(cudaHostAlloc(T** p, size_t bytes, unsigned int flags),
         cudaHostAlloc(reinterpret_cast<void**>(p), bytes, flags))
KS_TYPED(cudaMallocManaged(T** p, size_t bytes, unsigned int flags = cudaMemAttachGlobal),
         cudaMallocManaged(reinterpret_cast<void**>(p), bytes, flags))
KS_TYPED(cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height),
         cudaMallocPitch(reinterpret_cast<void**>(p), pitch, width, height))
KS_TYPED(cudaMallocAsync(T** p, size_t bytes, cudaStream_t stream),
         cudaMallocAsync(reinterpret_cast<void**>(p), bytes, stream))
KS_TYPED(cudaMallocFromPoolAsync(T** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
         cudaMallocFromPoolAsync(reinterpret_cast<void**>(p), bytes, pool, stream))
KS_TYPED(cudaHostGetDevicePointer(T** device, void* host, unsigned int flags),
         cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags))

KS_TYPED(cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                            enum cudaMemcpyKind kind = cudaMemcpyHostToDevice),
         cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind))
KS_TYPED(cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                              enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost),
         cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind))
KS_TYPED(cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                 enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0),
         cudaMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, bytes, offset, kind, stream))
KS_TYPED(cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                   enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0),
         cudaMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), bytes, offset, kind, stream))
KS_TYPED(cudaGetSymbolAddress(void** pointer, const T& symbol),
         cudaGetSymbolAddress(pointer, static_cast<const void*>(&symbol)))
KS_TYPED(cudaGetSymbolSize(size_t* bytes, const T& symbol),
         cudaGetSymbolSize(bytes, static_cast<const void*>(&symbol)))

KS_TYPED(cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes = 0,
                          cudaStream_t stream = 0),
         cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, sharedBytes, stream))
KS_TYPED(cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes = 0,
                                     cudaStream_t stream = 0),
         cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, sharedBytes,
                                     stream))
KS_TYPED(cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, T* kernel),
         cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel)))
KS_TYPED(cudaFuncSetAttribute(T* kernel, enum cudaFuncAttribute attribute, int value),
         cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value))
KS_TYPED(cudaFuncSetCacheConfig(T* kernel, enum cudaFuncCache config),
         cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config))
KS_TYPED(cudaFuncSetSharedMemConfig(T* kernel, enum cudaSharedMemConfig config),
         cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(kernel), config))
KS_TYPED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int threads, size_t sharedBytes),
         cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), threads,
                                                       sharedBytes))
KS_TYPED(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel, int threads,
                                                                size_t sharedBytes, unsigned int flags),
         cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(kernel),
                                                                threads, sharedBytes, flags))
KS_TYPED(cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T kernel, int blocks, int threads),
         cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void*>(kernel), blocks, threads))
KS_TYPED(cudaOccupancyMaxPotentialClusterSize(int* size, T* kernel, const cudaLaunchConfig_t* config),
         cudaOccupancyMaxPotentialClusterSize(size, reinterpret_cast<const void*>(kernel), config))
KS_TYPED(cudaOccupancyMaxActiveClusters(int* clusters, T* kernel, const cudaLaunchConfig_t* config),
         cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(kernel), config))
#undef KS_TYPED

template <class T>
KS_HOST_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGrid, int* block, T kernel,
                                                              size_t sharedBytes = 0, int blockLimit = 0)
    KS_HOST_BODY({
        *block = blockLimit > 0 && blockLimit < 1024 ? blockLimit : 1024;
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(minGrid, reinterpret_cast<const void*>(kernel), *block,
                                                             sharedBytes);
    })
template <class F, class T>
KS_HOST_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGrid, int* block, T kernel,
                                                                          F bytesOfBlock, int blockLimit = 0)
    KS_HOST_BODY({
        *block = blockLimit > 0 && blockLimit < 1024 ? blockLimit : 1024;
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(minGrid, reinterpret_cast<const void*>(kernel), *block,
                                                             bytesOfBlock(*block));
    })

template <class... Expected, class... Given>
KS_HOST_INLINE cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Expected...),
                                              Given&&... given) KS_HOST_BODY({
    void* arguments[] = {const_cast<void*>(static_cast<const void*>(&given))...};
    return cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), arguments);
})

KS_HOST_INLINE cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags)
    KS_HOST_BODY({ return cudaEventCreateWithFlags(event, flags); })
// The signatures before CUDA 13, which much code still uses.
KS_HOST_INLINE cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice, int device)
    KS_HOST_BODY({ return cudaMemAdvise(pointer, bytes, advice, cudaMemLocation{cudaMemLocationTypeDevice, device}); })
KS_HOST_INLINE cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream = 0)
    KS_HOST_BODY({
        return cudaMemPrefetchAsync(pointer, bytes, cudaMemLocation{cudaMemLocationTypeDevice, device}, 0u, stream);
    })
KS_HOST_INLINE cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                                size_t)
    KS_HOST_BODY({ return cudaGraphInstantiate(exec, graph, 0ull); })
KS_HOST_INLINE cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t*,
                                               enum cudaGraphExecUpdateResult*)
    KS_HOST_BODY({ return cudaGraphExecUpdate(exec, graph, static_cast<cudaGraphExecUpdateResultInfo*>(nullptr)); })
KS_HOST_INLINE cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                    const cudaGraphNode_t* to, size_t count)
    KS_HOST_BODY({ return cudaGraphAddDependencies(graph, from, to, nullptr, count); })

#undef KS_HOST_INLINE
#undef KS_HOST_BODY

/// The channel format of a scalar or of a vector type.
template <class T> struct KsChannels {
    static constexpr cudaChannelFormatKind kind = T(0.5) != T(0)   ? cudaChannelFormatKindFloat
                                                  : T(-1) < T(0) ? cudaChannelFormatKindSigned
                                                                 : cudaChannelFormatKindUnsigned;
    using Scalar = T;
    static constexpr int count = 1;
};
#define KS_CHANNELS(vector, lanes)                                                                 \
    template <> struct KsChannels<vector> : KsChannels<decltype(vector::x)> {                      \
        static constexpr int count = lanes;                                                        \
    };
#define KS_CHANNELS_OF(name) KS_CHANNELS(name##1, 1) KS_CHANNELS(name##2, 2) KS_CHANNELS(name##4, 4)
KS_CHANNELS_OF(char)
KS_CHANNELS_OF(uchar)
KS_CHANNELS_OF(short)
KS_CHANNELS_OF(ushort)
KS_CHANNELS_OF(int)
KS_CHANNELS_OF(uint)
KS_CHANNELS_OF(float)
#undef KS_CHANNELS_OF
#undef KS_CHANNELS
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    constexpr int bits = 8 * sizeof(typename KsChannels<T>::Scalar);
    constexpr int count = KsChannels<T>::count;
    return cudaChannelFormatDesc{bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
                                 KsChannels<T>::kind};
}

inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return cudaExtent{width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return cudaPos{x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
    return cudaPitchedPtr{pointer, pitch, width, height};
}

#endif
