/// CUB's device-wide algorithms, which the host calls.
#pragma once

#include "cuda_runtime_api.h"

namespace cub {

#ifdef KERNELSKILL_EMULATION
#define KS_DEVICE_WIDE(name)                                                                       \
    template <class... Arguments> static cudaError_t name(void*, size_t&, Arguments&&...) {        \
        return cudaErrorNotSupported;                                                              \
    }
#else
#define KS_DEVICE_WIDE(name)                                                                       \
    template <class... Arguments> static cudaError_t name(void*, size_t&, Arguments&&...);
#endif
struct DeviceReduce {
    KS_DEVICE_WIDE(Reduce)
    KS_DEVICE_WIDE(Sum)
    KS_DEVICE_WIDE(Min)
    KS_DEVICE_WIDE(Max)
    KS_DEVICE_WIDE(ArgMin)
    KS_DEVICE_WIDE(ArgMax)
    KS_DEVICE_WIDE(ReduceByKey)
    KS_DEVICE_WIDE(TransformReduce)
};
struct DeviceScan {
    KS_DEVICE_WIDE(ExclusiveSum)
    KS_DEVICE_WIDE(InclusiveSum)
    KS_DEVICE_WIDE(ExclusiveScan)
    KS_DEVICE_WIDE(InclusiveScan)
};
struct DeviceRadixSort {
    KS_DEVICE_WIDE(SortKeys)
    KS_DEVICE_WIDE(SortPairs)
    KS_DEVICE_WIDE(SortKeysDescending)
    KS_DEVICE_WIDE(SortPairsDescending)
};
struct DeviceSegmentedReduce {
    KS_DEVICE_WIDE(Reduce)
    KS_DEVICE_WIDE(Sum)
    KS_DEVICE_WIDE(Min)
    KS_DEVICE_WIDE(Max)
    KS_DEVICE_WIDE(ArgMax)
};
struct DeviceSegmentedRadixSort {
    KS_DEVICE_WIDE(SortKeys)
    KS_DEVICE_WIDE(SortPairs)
    KS_DEVICE_WIDE(SortPairsDescending)
};
struct DeviceSelect {
    KS_DEVICE_WIDE(If)
    KS_DEVICE_WIDE(Flagged)
    KS_DEVICE_WIDE(Unique)
};
struct DevicePartition {
    KS_DEVICE_WIDE(If)
    KS_DEVICE_WIDE(Flagged)
};
struct DeviceRunLengthEncode {
    KS_DEVICE_WIDE(Encode)
};
struct DeviceHistogram {
    KS_DEVICE_WIDE(HistogramEven)
    KS_DEVICE_WIDE(HistogramRange)
};
struct DeviceMergeSort {
    KS_DEVICE_WIDE(SortKeys)
    KS_DEVICE_WIDE(SortPairs)
};
#undef KS_DEVICE_WIDE

template <class T> struct DoubleBuffer {
    T* d_buffers[2];
    int selector;
    DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0) {}
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate}, selector(0) {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

} // namespace cub
