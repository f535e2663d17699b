// The cheapest way down a grid of costs, row by row: one block, whose threads keep a column each.
#include <cuda_runtime.h>

__global__ void descend(const int* cost, int* result, int rows) {
    __shared__ int now[256];
    __shared__ int next[256];
    int t = threadIdx.x;
    int left = t > 0 ? t - 1 : 0;
    int right = t < 255 ? t + 1 : 255;
    now[t] = cost[t];
    __syncthreads();
    int* current = now;
    int* following = next;
    for (int row = 1; row < rows; ++row) {
        following[t] = cost[row * 256 + t] + min(current[t], min(current[left], current[right]));
        __syncthreads(); // all have read
        // All threads have read: the arrays may change roles.
        int* done = current;
        current = following;
        following = done;
    }
    result[t] = current[t];
}

void launchDescend(const int* cost, int* result) {
    descend<<<1, 256>>>(cost, result, 100);
}
