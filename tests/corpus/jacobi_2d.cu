// Five-point Jacobi sweeps; the largest change by an atomic maximum on the float's bits.
#include <cstdio>
#include <utility>

__global__ void jacobi(float* __restrict__ next, const float* __restrict__ now, int nx, int ny, int* change) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) {
        int i = y * nx + x;
        float v = 0.25f * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx]);
        next[i] = v;
        atomicMax(change, __float_as_int(fabsf(v - now[i])));
    }
}

int main() {
    const int nx = 200, ny = 100;
    float *a, *b;
    int* change;
    cudaMalloc(&a, sizeof(float) * nx * ny);
    cudaMalloc(&b, sizeof(float) * nx * ny);
    cudaMallocManaged(&change, sizeof(int));
    dim3 block(32, 8), grid;
    grid.x = (nx + block.x - 1) / block.x;
    grid.y = (ny + block.y - 1) / block.y;
    for (int iteration = 0; iteration < 100; ++iteration) {
        *change = 0;
        jacobi<<<grid, block>>>(b, a, nx, ny, change);
        cudaDeviceSynchronize();
        std::swap(a, b);
    }
    printf("%d\n", *change);
}
