// Shared memory: transposes, tiled products, stencils.
#include "run.h"

constexpr int tileSize = 32;

__global__ void transposeNaive(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

__global__ void transposeTiled(const float* in, float* out, int width, int height) {
    __shared__ float tile[tileSize][tileSize];
    int x = blockIdx.x * tileSize + threadIdx.x;
    int y = blockIdx.y * tileSize + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * tileSize + threadIdx.x;
    y = blockIdx.x * tileSize + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transposePadded(const float* in, float* out, int width, int height) {
    __shared__ float tile[tileSize][tileSize + 1];
    int x = blockIdx.x * tileSize + threadIdx.x;
    int y = blockIdx.y * tileSize + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * tileSize + threadIdx.x;
    y = blockIdx.x * tileSize + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void matmulNaive(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <int T> __global__ void matmulTiled(const float* a, const float* b, float* c, int n) {
    __shared__ float tileA[T][T];
    __shared__ float tileB[T][T];
    int row = blockIdx.y * T + threadIdx.y;
    int column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / T; ++t) {
        tileA[threadIdx.y][threadIdx.x] = a[row * n + t * T + threadIdx.x];
        tileB[threadIdx.y][threadIdx.x] = b[(t * T + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < T; ++k)
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void stencilFivePoint(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    out[y * width + x] = 0.2f * (in[y * width + x] + in[y * width + x - 1] + in[y * width + x + 1] +
                                 in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}

__global__ void stencilTiled(const float* in, float* out, int width, int height) {
    __shared__ float tile[18][34];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    for (int dy = threadIdx.y; dy < 18; dy += 16) {
        for (int dx = threadIdx.x; dx < 34; dx += 32) {
            int sx = min(max(int(blockIdx.x) * 32 + dx - 1, 0), width - 1);
            int sy = min(max(int(blockIdx.y) * 16 + dy - 1, 0), height - 1);
            tile[dy][dx] = in[sy * width + sx];
        }
    }
    __syncthreads();
    if (x < width && y < height) {
        int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
        out[y * width + x] = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                                      tile[ty + 1][tx]);
    }
}

__global__ void stencilSevenPoint3d(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    int i = (z * ny + y) * nx + x;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
                             in[i + nx * ny] - 6 * in[i]);
}

int main() {
    float* a = filled<float>(512 * 512);
    float* b = filled<float>(512 * 512);
    float* c = filled<float>(512 * 512);
    dim3 square(32, 32), flat(32, 8), tile16(16, 16);
    transposeNaive<<<dim3(512 / 32, 512 / 8), flat>>>(a, b, 512, 512);
    transposeTiled<<<dim3(16, 16), square>>>(a, b, 512, 512);
    transposePadded<<<dim3(16, 16), square>>>(a, b, 512, 512);
    matmulNaive<<<dim3(16, 16), tile16>>>(a, b, c, 256);
    matmulTiled<16><<<dim3(16, 16), tile16>>>(a, b, c, 256);
    matmulTiled<32><<<dim3(8, 8), square>>>(a, b, c, 256);
    stencilFivePoint<<<dim3(16, 64), flat>>>(a, b, 512, 512);
    stencilTiled<<<dim3(16, 32), dim3(32, 16)>>>(a, b, 512, 512);
    stencilSevenPoint3d<<<dim3(2, 16, 16), dim3(32, 4, 4)>>>(a, b, 64, 64, 64);
    return finish();
}
