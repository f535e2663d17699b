// Points and their neighbours on grids.
#include <cuda_runtime.h>

// expert: memory-bandwidth; shared-memory-tiling; thread-coarsening
__global__ void average3(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.f;
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void jacobi5(const float* __restrict__ in, float* __restrict__ out, int nx, int ny) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    out[y * nx + x] = 0.25f * (in[y * nx + x - 1] + in[y * nx + x + 1] + in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
}

#define AT(a, i, j) a[(i) * width + (j)]

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void nineWeights(const double* a, double* b, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < height - 1 && j > 0 && j < width - 1)
        AT(b, i, j) = 0.2 * AT(a, i - 1, j - 1) + 0.5 * AT(a, i - 1, j) - 0.8 * AT(a, i - 1, j + 1) - 0.3 * AT(a, i, j - 1) +
                      0.6 * AT(a, i, j) - 0.9 * AT(a, i, j + 1) + 0.4 * AT(a, i + 1, j - 1) + 0.7 * AT(a, i + 1, j) +
                      0.1 * AT(a, i + 1, j + 1);
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void heat7(const float* now, float* next, int nx, int ny, int nz, float c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x <= 0 || y <= 0 || z <= 0 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    const int at = (z * ny + y) * nx + x;
    next[at] = now[at] + c * (now[at - 1] + now[at + 1] + now[at - nx] + now[at + nx] + now[at - nx * ny] + now[at + nx * ny] -
                              6.f * now[at]);
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void heatMarch(const float* __restrict__ now, float* __restrict__ next, int nx, int ny, int nz, float c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i > nx - 2 || j < 1 || j > ny - 2)
        return;
    for (int k = 1; k < nz - 1; ++k) {
        int p = i + nx * (j + ny * k);
        next[p] = now[p] + c * (now[p - 1] + now[p + 1] + now[p - nx] + now[p + nx] + now[p - nx * ny] + now[p + nx * ny] -
                                6.f * now[p]);
    }
}

// expert: memory-bandwidth; thread-coarsening; none
__global__ void jacobiShared(const float* in, float* out, int n) {
    __shared__ float tile[18][18];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n) {
        tile[ty][tx] = in[y * n + x];
        if (threadIdx.x == 0 && x > 0)
            tile[ty][0] = in[y * n + x - 1];
        if (threadIdx.x == 15 && x < n - 1)
            tile[ty][17] = in[y * n + x + 1];
        if (threadIdx.y == 0 && y > 0)
            tile[0][tx] = in[(y - 1) * n + x];
        if (threadIdx.y == 15 && y < n - 1)
            tile[17][tx] = in[(y + 1) * n + x];
    }
    __syncthreads();
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

__constant__ float taps[64];

// expert: memory-bandwidth|compute; stencil-tiling; thread-coarsening
__global__ void convolve2d(const float* in, float* out, int width, int height, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0.f;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            const int sx = min(max(x + dx, 0), width - 1);
            const int sy = min(max(y + dy, 0), height - 1);
            sum += in[sy * width + sx] * taps[(dy + radius) * (2 * radius + 1) + dx + radius];
        }
    out[y * width + x] = sum;
}

#define RADIUS 8

// expert: memory-bandwidth; shared-memory-tiling; thread-coarsening
__global__ void convolveRow(const float* __restrict__ in, float* __restrict__ out, const float* __restrict__ filter, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < RADIUS || i >= n - RADIUS)
        return;
    float sum = 0.f;
    for (int k = -RADIUS; k <= RADIUS; ++k)
        sum += filter[k + RADIUS] * in[i + k];
    out[i] = sum;
}

// expert: memory-bandwidth; stencil-tiling; vectorized-access
__global__ void life(const unsigned char* now, unsigned char* next, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int left = (x + width - 1) % width, right = (x + 1) % width;
    const int up = ((y + height - 1) % height) * width, down = ((y + 1) % height) * width, here = y * width;
    const int alive = now[up + left] + now[up + x] + now[up + right] + now[here + left] + now[here + right] + now[down + left] +
                      now[down + x] + now[down + right];
    next[here + x] = alive == 3 || (alive == 2 && now[here + x]);
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        int gx = in[(y - 1) * w + x + 1] + 2 * in[y * w + x + 1] + in[(y + 1) * w + x + 1] - in[(y - 1) * w + x - 1] -
                 2 * in[y * w + x - 1] - in[(y + 1) * w + x - 1];
        int gy = in[(y + 1) * w + x - 1] + 2 * in[(y + 1) * w + x] + in[(y + 1) * w + x + 1] - in[(y - 1) * w + x - 1] -
                 2 * in[(y - 1) * w + x] - in[(y - 1) * w + x + 1];
        out[y * w + x] = (unsigned char)min(255, abs(gx) + abs(gy));
    }
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void waveStep(const float* __restrict__ before, const float* __restrict__ now, float* __restrict__ after, int pitch, int rows,
                         float courant) {
    const int c = threadIdx.x + blockDim.x * blockIdx.x;
    const int r = threadIdx.y + blockDim.y * blockIdx.y;
    if (c == 0 || r == 0 || c >= pitch - 1 || r >= rows - 1)
        return;
    const size_t at = (size_t)r * pitch + c;
    const float laplacian = now[at + 1] + now[at - 1] + now[at + pitch] + now[at - pitch] - 4.f * now[at];
    after[at] = 2.f * now[at] - before[at] + courant * laplacian;
}

// expert: uncoalesced-access; coalesced-access; stencil-tiling
__global__ void jacobiSwapped(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i < n - 1 && j < n - 1)
        out[i * n + j] = 0.2f * (in[i * n + j] + in[i * n + j - 1] + in[i * n + j + 1] + in[(i - 1) * n + j] + in[(i + 1) * n + j]);
}

// expert: memory-bandwidth; vectorized-access; shared-memory-tiling
__global__ void fluxDifference(const double* flux, double* density, double factor, int cells) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < cells)
        density[cell] -= factor * (flux[cell + 1] - flux[cell]);
}

void stencils(float* a, float* b, float* c, double* u, double* v, unsigned char* p, unsigned char* q, int nx, int ny, int nz) {
    const dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
    const int n = nx * ny, blocks = (n + 255) / 256;
    average3<<<blocks, 256>>>(a, b, n);
    jacobi5<<<grid, block>>>(a, b, nx, ny);
    nineWeights<<<grid, block>>>(u, v, ny, nx);
    heat7<<<dim3((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2), dim3(32, 4, 2)>>>(a, b, nx, ny, nz, 0.1f);
    heatMarch<<<grid, block>>>(a, b, nx, ny, nz, 0.1f);
    jacobiShared<<<grid, block>>>(a, b, nx);
    convolve2d<<<grid, block>>>(a, b, nx, ny, 3);
    convolveRow<<<blocks, 256>>>(a, b, c, n);
    life<<<grid, block>>>(p, q, nx, ny);
    sobel<<<grid, block>>>(p, q, nx, ny);
    waveStep<<<grid, block>>>(a, b, c, nx, ny, 0.2f);
    jacobiSwapped<<<grid, block>>>(a, b, nx);
    fluxDifference<<<blocks, 256>>>(u, v, 0.5, n);
}
