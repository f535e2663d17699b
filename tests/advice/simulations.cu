// Simulations and solvers, as programs of scientists have them.
#include <cuda_runtime.h>

typedef float real;
#define IDX2(i, j, ld) ((j) * (ld) + (i))

struct Grid {
    int nx, ny, nz;
    real spacing;
};

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void divergenceOf(Grid g, const real* __restrict__ u, const real* __restrict__ v, real* __restrict__ div) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i > 0 && i < g.nx - 1 && j > 0 && j < g.ny - 1)
        div[IDX2(i, j, g.nx)] = 0.5f * (u[IDX2(i + 1, j, g.nx)] - u[IDX2(i - 1, j, g.nx)] + v[IDX2(i, j + 1, g.nx)] -
                                        v[IDX2(i, j - 1, g.nx)]) / g.spacing;
}

// expert: memory-latency|memory-bandwidth|uncoalesced-access; texture-memory; none
__global__ void advect(const float2* velocity, const float* from, float* to, int w, int h, float dt) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float2 v = velocity[y * w + x];
    int px = min(max(int(x - dt * v.x), 0), w - 1);
    int py = min(max(int(y - dt * v.y), 0), h - 1);
    to[y * w + x] = from[py * w + px];
}

struct Cell {
    double density, momentum, energy, pressure, speed;
};

// expert: uncoalesced-access; structure-of-arrays; aos-staging
__global__ void equationOfState(Cell* cells, double gamma, int count) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < count) {
        double velocity = cells[c].momentum / cells[c].density;
        cells[c].pressure = (gamma - 1.0) * (cells[c].energy - 0.5 * cells[c].density * velocity * velocity);
        cells[c].speed = sqrt(gamma * cells[c].pressure / cells[c].density);
    }
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void kineticEnergy(const float* vx, const float* vy, const float* vz, const float* mass, float* energy, int n) {
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid >= n)
        return;
    float e = 0.5f * mass[tid] * (vx[tid] * vx[tid] + vy[tid] * vy[tid] + vz[tid] * vz[tid]);
    atomicAdd(&energy[0], e);
}

// expert: compute|memory-bandwidth; shared-memory-tiling; fast-math-intrinsics
__global__ void gravity(const float* x, const float* y, const float* m, float* ax, float* ay, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float fx = 0, fy = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i];
            float inv = rsqrtf(dx * dx + dy * dy + 1e-3f);
            float w = m[j] * inv * inv * inv;
            fx += w * dx;
            fy += w * dy;
        }
        ax[i] = fx;
        ay[i] = fy;
    }
}

// expert: memory-bandwidth; vectorized-access; kernel-fusion
__global__ void leapfrog(float* x, float* v, const float* a, float dt, int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float vel = v[i] + dt * a[i];
    v[i] = vel;
    x[i] += dt * vel;
}

// expert: memory-bandwidth|occupancy|memory-latency; split-reduction; memory-level-parallelism
__global__ void meanOfColumns(const double* data, double* mean, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        mean[j] = 0.0;
        for (int i = 0; i < rows; i++)
            mean[j] += data[i * cols + j];
        mean[j] /= rows;
    }
}

// expert: tensor-core-eligible|memory-bandwidth|uncoalesced-access; shared-memory-tiling; register-tiling
__global__ void covariance(const double* data, double* cov, int rows, int cols) {
    int j1 = blockIdx.y * blockDim.y + threadIdx.y;
    int j2 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 < cols && j2 < cols) {
        double s = 0.0;
        for (int i = 0; i < rows; i++)
            s += data[i * cols + j1] * data[i * cols + j2];
        cov[j1 * cols + j2] = s / (rows - 1);
    }
}

// expert: divergence|compute; work-sorting; persistent-kernel
__global__ void firstPassage(const float* barrier, int* when, unsigned seed, int paths, int limit) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths)
        return;
    unsigned s = seed ^ (p * 0x9e3779b9u);
    float level = 0.f;
    int t = 0;
    while (t < limit) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        level += (s & 0xffff) * (1.f / 65536.f) - 0.5f;
        if (level > 10.f)
            break;
        t++;
    }
    when[p] = t;
}

// expert: uncoalesced-access; coalesced-access; row-per-warp
__global__ void forwardSubstitution(const float* lower, float* rhs, int n, int batches) {
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batches)
        return;
    float* x = rhs + b * n;
    for (int i = 0; i < n; ++i) {
        float s = x[i];
        for (int k = 0; k < i; ++k)
            s -= lower[i * n + k] * x[k];
        x[i] = s / lower[i * n + i];
    }
}

// expert: launch-overhead|memory-bandwidth; persistent-kernel; cuda-graph-replay
__global__ void gaussSeidelColour(float* u, const float* f, int n, int colour) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i < n - 1 && j < n - 1 && (i + j) % 2 == colour)
        u[j * n + i] = 0.25f * (u[j * n + i - 1] + u[j * n + i + 1] + u[(j - 1) * n + i] + u[(j + 1) * n + i] - f[j * n + i]);
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void acoustic8(const float* __restrict__ p, float* __restrict__ q, const float* __restrict__ speed, int nx, int ny, int nz) {
    const size_t x = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 4 || y < 4 || x >= nx - 4 || y >= ny - 4)
        return;
    const size_t plane = (size_t)nx * ny;
    for (int z = 4; z < nz - 4; ++z) {
        const size_t at = z * plane + y * nx + x;
        float sum = -2.5f * p[at];
#pragma unroll
        for (int r = 1; r <= 4; ++r)
            sum += (p[at - r] + p[at + r] + p[at - r * nx] + p[at + r * nx] + p[at - r * plane] + p[at + r * plane]) / (r * r);
        q[at] = 2.f * p[at] - q[at] + speed[at] * sum;
    }
}

// expert: synchronization; atomics-privatization; segmented-reduction
__global__ void depositCharge(const float* position, float* charge, float scale, int particles, int cells) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < particles) {
        float where = position[p] * scale;
        int cell = (int)where;
        float part = where - cell;
        atomicAdd(&charge[cell % cells], 1.f - part);
        atomicAdd(&charge[(cell + 1) % cells], part);
    }
}

// expert: compute; fast-math-intrinsics; none
__global__ void lennardJonesTable(float* table, float sigma, float epsilon, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float r = 0.5f + i * 0.001f;
        float s = 0.f;
        for (int image = 1; image <= 32; ++image)
            s += 4.f * epsilon * (powf(sigma / (r * image), 12.f) - powf(sigma / (r * image), 6.f));
        table[i] = s;
    }
}

void simulate(Grid g, float* a, float* b, float* c, float* d, float2* w, Cell* cells, double* u, double* v, int* k, int n, int m) {
    const dim3 block(32, 8), grid((g.nx + 31) / 32, (g.ny + 7) / 8);
    divergenceOf<<<grid, block>>>(g, a, b, c);
    advect<<<grid, block>>>(w, a, b, g.nx, g.ny, 0.1f);
    equationOfState<<<(n + 127) / 128, 128>>>(cells, 1.4, n);
    kineticEnergy<<<(n + 127) / 128, 128>>>(a, b, c, d, a, n);
    gravity<<<264, 256>>>(a, b, c, d, a, n);
    leapfrog<<<(n + 255) / 256, 256>>>(a, b, c, 0.1f, n);
    meanOfColumns<<<(m + 255) / 256, 256>>>(u, v, n, m);
    covariance<<<dim3((m + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(u, v, n, m);
    firstPassage<<<(n + 255) / 256, 256>>>(a, k, 3u, n, 10000);
    forwardSubstitution<<<(m + 63) / 64, 64>>>(a, b, n, m);
    for (int sweep = 0; sweep < 1000; ++sweep)
        gaussSeidelColour<<<dim3(8, 8), dim3(16, 16)>>>(a, b, 128, sweep % 2);
    acoustic8<<<grid, block>>>(a, b, c, g.nx, g.ny, g.nz);
    depositCharge<<<(n + 255) / 256, 256>>>(a, b, 64.f, n, 64);
    lennardJonesTable<<<(n + 255) / 256, 256>>>(a, 1.f, 1.f, n);
}
