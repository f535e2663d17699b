// One product, four layouts of a sparse matrix, and the vector operations around it.
#include <cuda_runtime.h>

template <typename Index, typename Value>
__global__ void ellProduct(int rows, int width, const Index* columns, const Value* values, const Value* x, Value* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        Value dot = 0;
        for (int k = 0; k < width; k++) {
            Index c = columns[row + k * rows];
            if (c >= 0)
                dot += values[row + k * rows] * x[c];
        }
        y[row] = dot;
    }
}

// kernelskill: launch cooProduct<<<20, 256>>>(entries=5000, row=rand[5000, 0..300], column=rand[5000, 0..300], x=rand[300], y=zero[300])
__global__ void cooProduct(int entries, const int* row, const int* column, const float* value, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < entries)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}

__global__ void diagonalProduct(int n, int diagonals, const int* offset, const float* data, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    for (int d = 0; d < diagonals; ++d) {
        int col = row + offset[d];
        if (0 <= col && col < n)
            sum += data[d * n + row] * x[col];
    }
    y[row] = sum;
}

// A warp a row: lanes stride through it and add by shuffles.
__global__ void csrWarpProduct(int rows, const int* start, const int* column, const float* value, const float* x, float* y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

__global__ void jacobiStep(int n, const float* diagonal, const float* rhs, const float* product, float* x, float damping) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += damping * (rhs[i] - product[i]) / diagonal[i];
}

template <unsigned BLOCK>
__global__ void residualNorm(int n, const double* rhs, const double* product, double* partial) {
    __shared__ double sums[BLOCK];
    unsigned t = threadIdx.x;
    double s = 0;
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK) {
        double r = rhs[i] - product[i];
        s += r * r;
    }
    sums[t] = s;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (!t) partial[blockIdx.x] = sums[0];
}

void solve(int* columns, float* values, double* dv, float* x, float* y, double* dx, double* dy, int* offsets) {
    const int n = 3000;
    ellProduct<int, float><<<(n + 127) / 128, 128>>>(n, 8, columns, values, x, y);
    ellProduct<int, double><<<(n + 127) / 128, 128>>>(n, 8, columns, dv, dx, dy);
    diagonalProduct<<<(n + 127) / 128, 128>>>(n, 5, offsets, values, x, y);
    csrWarpProduct<<<(n * 32 + 255) / 256, 256>>>(n, offsets, columns, values, x, y);
    jacobiStep<<<(n + 255) / 256, 256>>>(n, values, y, x, y, 0.66f);
    residualNorm<256><<<8, 256>>>(n, dx, dy, dv);
}
