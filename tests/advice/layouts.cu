// Moves of data: transposes, structures, strides, planes.
#include <cuda_runtime.h>

// expert: uncoalesced-access; shared-memory-transpose; shared-memory-tiling
__global__ void transposeNaive(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

// expert: uncoalesced-access; shared-memory-transpose; shared-memory-tiling
__global__ void transposeOtherWay(const double* __restrict__ in, double* __restrict__ out, int rows, int columns) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= columns || j >= rows)
        return;
    out[i * rows + j] = in[j * columns + i];
}

// expert: bank-conflicts; shared-memory-padding; swizzling
__global__ void transposeTile(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// expert: memory-bandwidth; none; vectorized-access
__global__ void transposePadded(const float* __restrict__ in, float* __restrict__ out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

struct Point {
    float x, y, z;
};

// expert: uncoalesced-access; aos-staging; structure-of-arrays
__global__ void normalizePoints(Point* points, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = rsqrtf(points[i].x * points[i].x + points[i].y * points[i].y + points[i].z * points[i].z);
        points[i].x *= s;
        points[i].y *= s;
        points[i].z *= s;
    }
}

struct Particle {
    float position[3];
    float velocity[3];
    float mass;
    int kind;
};

// expert: uncoalesced-access; structure-of-arrays; aos-staging
__global__ void drift(Particle* particles, float dt, int count) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= count)
        return;
    for (int k = 0; k < 3; ++k)
        particles[p].position[k] += dt * particles[p].velocity[k];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void driftPlanes(float* px, float* py, float* pz, const float* vx, const float* vy, const float* vz, float dt, int count) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < count) {
        px[p] += dt * vx[p];
        py[p] += dt * vy[p];
        pz[p] += dt * vz[p];
    }
}

// expert: uncoalesced-access; aos-staging; vectorized-access
__global__ void toGray(const uchar3* pixels, unsigned char* gray, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar3 p = pixels[i];
        gray[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
    }
}

// expert: uncoalesced-access; aos-staging; vectorized-access
__global__ void splitChannels(const unsigned char* rgb, unsigned char* r, unsigned char* g, unsigned char* b, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels) {
        r[i] = rgb[3 * i];
        g[i] = rgb[3 * i + 1];
        b[i] = rgb[3 * i + 2];
    }
}

// expert: uncoalesced-access; vectorized-access; shared-memory-tiling
__global__ void takeEverySecond(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * (in[2 * i] + in[2 * i + 1]);
}

// expert: uncoalesced-access; coalesced-access; launch-tuning
__global__ void copyByColumns(const float* in, float* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        out[row * columns + column] = 2.f * in[row * columns + column];
}

// expert: uncoalesced-access; shared-memory-transpose; shared-memory-tiling
__global__ void channelsLast(const float* __restrict__ in, float* __restrict__ out, int channels, int pixels, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    const int c = i / pixels;
    const int p = i % pixels;
    out[p * channels + c] = in[i];
}

// expert: uncoalesced-access; coalesced-access; row-per-warp
__global__ void scaleRows(float* matrix, const float* factors, size_t rows, size_t columns) {
    const size_t r = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (r < rows)
        for (size_t c = 0; c < columns; ++c)
            matrix[r * columns + c] *= factors[r];
}

// expert: uncoalesced-access; coalesced-access; thread-coarsening
__global__ void chunkPerThread(const float* in, float* out, int n, int chunk) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int begin = t * chunk;
    int end = min(begin + chunk, n);
    for (int i = begin; i < end; ++i)
        out[i] = in[i] * in[i];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void reverseOrder(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}

// expert: uncoalesced-access; shared-memory-transpose; shared-memory-tiling
template <int TILE>
__global__ void transposeBatched(const float* in, float* out, int rows, int cols) {
    const int plane = blockIdx.z * rows * cols;
    const int c = blockIdx.x * TILE + threadIdx.x;
    const int r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols)
        out[plane + c * rows + r] = in[plane + r * cols + c];
}

void layouts(float* a, float* b, float* c, float* d, float* e, float* f, double* u, double* v, Point* points, Particle* particles,
             uchar3* pixels, unsigned char* bytes, unsigned char* red, unsigned char* green, unsigned char* blue, int* from, int* to,
             int n, int rows, int columns) {
    const dim3 block(16, 16), grid((columns + 15) / 16, (rows + 15) / 16), tiles(n / 32, n / 32);
    const int blocks = (n + 255) / 256;
    transposeNaive<<<grid, block>>>(a, b, columns, rows);
    transposeOtherWay<<<grid, block>>>(u, v, rows, columns);
    transposeTile<<<tiles, dim3(32, 8)>>>(a, b, n);
    transposePadded<<<tiles, dim3(32, 8)>>>(a, b, n);
    normalizePoints<<<blocks, 256>>>(points, n);
    drift<<<blocks, 256>>>(particles, 0.01f, n);
    driftPlanes<<<blocks, 256>>>(a, b, c, d, e, f, 0.01f, n);
    toGray<<<blocks, 256>>>(pixels, bytes, n);
    splitChannels<<<blocks, 256>>>(bytes, red, green, blue, n);
    takeEverySecond<<<blocks, 256>>>(a, b, n);
    copyByColumns<<<grid, block>>>(a, b, rows, columns);
    channelsLast<<<blocks, 256>>>(a, b, 64, rows * columns, n);
    scaleRows<<<(rows + 255) / 256, 256>>>(a, b, rows, columns);
    chunkPerThread<<<64, 256>>>(a, b, n, n / 16384);
    reverseOrder<<<blocks, 256>>>(from, to, n);
    transposeBatched<16><<<dim3((columns + 15) / 16, (rows + 15) / 16, 8), block>>>(a, b, rows, columns);
}
