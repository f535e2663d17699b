// Products with a matrix and with its transpose in one kernel.
#include <cuda_runtime.h>

__global__ void bothProducts(const float* a, const float* x, float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j;
    if (i < n) {
        float row = 0.0f;
        for (j = 0; j < n; ++j)
            row += a[i * n + j] * x[j]; // lanes are a row apart
        y[i] = row;
        float column = 0.0f;
        for (j = 0; j < n; ++j)
            column += a[j * n + i] * x[j];
        z[i] = column;
    }
}

void launchBoth(const float* a, const float* x, float* y, float* z, int n) {
    bothProducts<<<(n + 255) / 256, 256>>>(a, x, y, z, n);
}
