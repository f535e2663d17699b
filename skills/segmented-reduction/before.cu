// y += A x, with one thread for each entry of a sparse matrix whose entries are sorted by rows.
#include <cuda_runtime.h>

__global__ void addProducts(const int* row, const int* column, const float* value, const float* x,
                            float* y, int entries) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < entries)
        atomicAdd(&y[row[e]], value[e] * x[column[e]]);
}

void launchAddProducts(const int* row, const int* column, const float* value, const float* x,
                       float* y, int entries) {
    addProducts<<<(entries + 255) / 256, 256>>>(row, column, value, x, y, entries);
}
