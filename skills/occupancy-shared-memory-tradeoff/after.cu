// Sorts each row of 32 values; a thread has a row, and shared memory makes its accesses coalesced.
#include <cuda_runtime.h>

__global__ void sortRows(const float* __restrict__ in, float* __restrict__ out, int rows) {
    __shared__ float loaded[128][33];
    float (&sorted)[128][33] = reinterpret_cast<float (&)[128][33]>(loaded); // a column of padding
    const int first = blockIdx.x * 128;
    for (int k = threadIdx.x; k < 128 * 32; k += 128)
        loaded[k / 32][k % 32] = first + k / 32 < rows ? in[first * 32 + k] : 0.0f;
    __syncthreads();
    float row[32];
    for (int k = 0; k < 32; ++k)
        row[k] = loaded[threadIdx.x][k];
    #pragma unroll
    for (int pass = 0; pass < 32; ++pass)
        #pragma unroll
        for (int k = pass & 1; k + 1 < 32; k += 2) {
            const float low = fminf(row[k], row[k + 1]);
            row[k + 1] = fmaxf(row[k], row[k + 1]);
            row[k] = low;
        }
    __syncthreads(); // The values of loaded are not needed any more.
    for (int k = 0; k < 32; ++k)
        sorted[threadIdx.x][k] = row[k];
    __syncthreads();
    for (int k = threadIdx.x; k < 128 * 32; k += 128)
        if (first + k / 32 < rows)
            out[first * 32 + k] = sorted[k / 32][k % 32];
}

void launchSortRows(const float* in, float* out, int rows) {
    sortRows<<<(rows + 127) / 128, 128>>>(in, out, rows);
}
