// Fields on grids of two and three axes that march in time.
#include <cuda_runtime.h>

struct Grid3 {
    int nx, ny, nz;
    __host__ __device__ int at(int x, int y, int z) const { return (z * ny + y) * nx + x; }
};

__global__ void updateMagnetic(const float* ez, float* hx, float* hy, int nx, int ny, float c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx - 1 && j < ny - 1) {
        hx[j * nx + i] -= c * (ez[(j + 1) * nx + i] - ez[j * nx + i]);
        hy[j * nx + i] += c * (ez[j * nx + i + 1] - ez[j * nx + i]);
    }
}

__global__ void updateElectric(float* ez, const float* hx, const float* hy, const float* permittivity, int nx, int ny, float c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < nx && j < ny) {
        int k = j * nx + i;
        ez[k] += c / permittivity[k] * ((hy[k] - hy[k - 1]) - (hx[k] - hx[k - nx]));
    }
}

__global__ void absorb(float* ez, int nx, int ny, int border) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;
    int d = min(min(i, nx - 1 - i), min(j, ny - 1 - j));
    if (d < border) {
        float s = (float)d / border;
        ez[j * nx + i] *= 0.9f + 0.1f * s * s;
    }
}

__global__ void wave3d(const float* __restrict__ now, float* __restrict__ next, const float* __restrict__ speed, Grid3 g, float dt2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= g.nx - 1 || y >= g.ny - 1)
        return;
    for (int z = 1; z < g.nz - 1; ++z) {
        float centre = now[g.at(x, y, z)];
        float sum = now[g.at(x - 1, y, z)] + now[g.at(x + 1, y, z)] + now[g.at(x, y - 1, z)] + now[g.at(x, y + 1, z)] +
                    now[g.at(x, y, z - 1)] + now[g.at(x, y, z + 1)];
        next[g.at(x, y, z)] = 2 * centre - next[g.at(x, y, z)] + dt2 * speed[g.at(x, y, z)] * (sum - 6 * centre);
    }
}

// Two species that feed on each other; a tile with a rim of one cell lies in shared memory.
#define TILE 16
__global__ void grayScott(const float* u, const float* v, float* uNew, float* vNew, int size, float feed, float kill) {
    __shared__ float tu[TILE + 2][TILE + 2];
    __shared__ float tv[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int r = threadIdx.y; r < TILE + 2; r += TILE)
        for (int c = threadIdx.x; c < TILE + 2; c += TILE) {
            int gx = min(max((int)blockIdx.x * TILE + c - 1, 0), size - 1);
            int gy = min(max((int)blockIdx.y * TILE + r - 1, 0), size - 1);
            tu[r][c] = u[gy * size + gx];
            tv[r][c] = v[gy * size + gx];
        }
    __syncthreads();
    if (x < size && y < size) {
        int r = threadIdx.y + 1, c = threadIdx.x + 1;
        float cu = tu[r][c], cv = tv[r][c];
        float lu = tu[r - 1][c] + tu[r + 1][c] + tu[r][c - 1] + tu[r][c + 1] - 4 * cu;
        float lv = tv[r - 1][c] + tv[r + 1][c] + tv[r][c - 1] + tv[r][c + 1] - 4 * cv;
        float reaction = cu * cv * cv;
        uNew[y * size + x] = cu + 0.16f * lu - reaction + feed * (1 - cu);
        vNew[y * size + x] = cv + 0.08f * lv + reaction - (feed + kill) * cv;
    }
}

// Rows are padded to a pitch given in bytes.
__global__ void addSource(char* field, size_t pitch, const float* source, int width, int height, float amount) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float* row = (float*)(field + y * pitch);
        row[x] += amount * source[y * width + x];
    }
}

void march(float* a, float* b, float* c, float* d, char* pitched) {
    const int n = 100;
    dim3 block(32, 4), grid((n + 31) / 32, (n + 3) / 4);
    updateMagnetic<<<grid, block>>>(a, b, c, n, n, 0.5f);
    updateElectric<<<grid, block>>>(a, b, c, d, n, n, 0.5f);
    absorb<<<grid, block>>>(a, n, n, 8);
    Grid3 g = {40, 24, 16};
    wave3d<<<dim3(2, 6), dim3(32, 4)>>>(a, b, c, g, 0.1f);
    grayScott<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, b, c, d, n, 0.04f, 0.06f);
    addSource<<<grid, block>>>(pitched, 512, a, n, n, 0.1f);
}
