/// The helpers that the programs of this folder share: buffers filled as the emulator fills them,
/// in kind.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

/// Ends the program with the error's name: a kernel that did not run must not count as measured.
inline void require(cudaError_t status) {
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
}

inline unsigned nextRandom() {
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/// `count` values in [0, 1).
template <typename T>
T* filled(size_t count) {
    std::vector<T> values(count);
    for (T& value : values)
        value = static_cast<T>(static_cast<float>(nextRandom() % 10000) / 10000.0f);
    T* device = nullptr;
    require(cudaMalloc(&device, count * sizeof(T)));
    require(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

/// `count` integers in [0, range).
inline int* integers(size_t count, int range) {
    std::vector<int> values(count);
    for (int& value : values)
        value = static_cast<int>(nextRandom() % static_cast<unsigned>(range));
    int* device = nullptr;
    require(cudaMalloc(&device, count * sizeof(int)));
    require(cudaMemcpy(device, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

inline int finish() {
    require(cudaGetLastError());
    require(cudaDeviceSynchronize());
    return 0;
}
