// memory-latency: a binary search. Where the next probe goes depends on the last comparison, so that a thread's twenty
// loads wait for one another, and each may take memory's whole latency.
// Fix: keep the first probes of all searches in shared memory, or let a thread search for several keys at once.
#include <cuda_runtime.h>

__global__ void lowerBounds(const float* sorted, const float* keys, int* places, int count, int keyCount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= keyCount)
        return;
    float key = keys[i];
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        bool isBelow = sorted[middle] < key;
        low = isBelow ? middle + 1 : low;
        high = isBelow ? high : middle;
    }
    places[i] = low;
}

int main() {
    const int count = 1 << 20, keyCount = 1 << 16;
    float *sorted, *keys;
    int* places;
    cudaMalloc(&sorted, count * sizeof(float));
    cudaMalloc(&keys, keyCount * sizeof(float));
    cudaMalloc(&places, keyCount * sizeof(int));
    lowerBounds<<<keyCount / 256, 256>>>(sorted, keys, places, count, keyCount);
    cudaDeviceSynchronize();
}
