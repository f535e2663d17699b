// Arithmetic: bodies, options, random numbers, series.
#include <cuda_runtime.h>

// expert: compute; fast-math-intrinsics; shared-memory-tiling
__global__ void forces(const float4* bodies, float4* acceleration, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 me = bodies[i];
    float ax = 0.f, ay = 0.f, az = 0.f;
    for (int j = 0; j < n; ++j) {
        const float4 other = bodies[j];
        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        const float inverse = 1.f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
        const float s = other.w * inverse * inverse * inverse;
        ax += s * dx;
        ay += s * dy;
        az += s * dz;
    }
    acceleration[i] = make_float4(ax, ay, az, 0.f);
}

// expert: compute; fast-math-intrinsics; thread-coarsening
__global__ void forcesTiled(const float4* bodies, float3* acceleration, int n) {
    __shared__ float4 tile[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = bodies[i];
    float3 a = make_float3(0.f, 0.f, 0.f);
    for (int t = 0; t < n; t += 256) {
        tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; ++k) {
            const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            const float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
            const float s = tile[k].w / (d2 * sqrtf(d2));
            a.x += dx * s;
            a.y += dy * s;
            a.z += dz * s;
        }
        __syncthreads();
    }
    acceleration[i] = a;
}

__device__ float normal(float d) {
    const float k = 1.f / (1.f + 0.2316419f * fabsf(d));
    const float p = 0.39894228f * expf(-0.5f * d * d) * k *
                    (0.31938153f + k * (-0.35656378f + k * (1.78147794f + k * (-1.82125598f + k * 1.33027443f))));
    return d > 0 ? 1.f - p : p;
}

// expert: memory-bandwidth|compute; fast-math-intrinsics; vectorized-access
__global__ void priceOptions(const float* spot, const float* strike, const float* years, float* call, float rate, float sigma, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float root = sqrtf(years[i]);
        const float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * sigma * sigma) * years[i]) / (sigma * root);
        call[i] = spot[i] * normal(d1) - strike[i] * expf(-rate * years[i]) * normal(d1 - sigma * root);
    }
}

// expert: compute; none; loop-unrolling
__global__ void estimatePi(unsigned* hits, int trials) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = t * 747796405u + 2891336453u;
    unsigned inside = 0;
    for (int i = 0; i < trials; ++i) {
        state = state * 1664525u + 1013904223u;
        const float x = (state >> 8) * (1.f / 16777216.f);
        state = state * 1664525u + 1013904223u;
        const float y = (state >> 8) * (1.f / 16777216.f);
        inside += x * x + y * y <= 1.f;
    }
    hits[t] = inside;
}

// expert: divergence|compute; work-sorting; persistent-kernel
__global__ void mandelbrot(int* iterations, int width, int height, float scale, int limit) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    const float cx = (px - width / 2) * scale, cy = (py - height / 2) * scale;
    float x = 0.f, y = 0.f;
    int k = 0;
    while (k < limit && x * x + y * y < 4.f) {
        const float next = x * x - y * y + cx;
        y = 2.f * x * y + cy;
        x = next;
        ++k;
    }
    iterations[py * width + px] = k;
}

// expert: compute; invariant-hoisting; fast-math-intrinsics
__global__ void decayAll(const float* in, float* out, float base, float exponent, int rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = in[i];
        for (int r = 0; r < rounds; ++r)
            v = v * powf(base, exponent) + 0.1f;
        out[i] = v;
    }
}

// expert: compute; fast-math-intrinsics; none
__global__ void seriesOfSines(const float* x, float* y, int terms, int n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.f;
    for (int k = 1; k <= terms; ++k)
        sum += sinf(k * x[i]) / k;
    y[i] = sum;
}

// expert: compute; none; loop-unrolling
__global__ void logisticMap(float* x, float r, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int s = 0; s < steps; s++)
            v = r * v * (1.0f - v);
        x[i] = v;
    }
}

// expert: compute; loop-unrolling; none
template <int DEGREE>
__global__ void horner(const float* x, const float* coefficients, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = coefficients[DEGREE];
    for (int k = DEGREE - 1; k >= 0; --k)
        v = v * x[i] + coefficients[k];
    y[i] = v;
}

// expert: compute; reduced-precision; none
__global__ void integrate(double* areas, double low, double step, int samples, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double begin = low + i * step;
    double sum = 0.0;
    for (int s = 0; s < samples; ++s) {
        const double t = begin + s * step / samples;
        sum += exp(-t * t) * cos(t);
    }
    areas[i] = sum * step / samples;
}

__constant__ float4 atoms[1024];

// expert: compute; fast-math-intrinsics; thread-coarsening
__global__ void potential(float* grid, int width, int atomCount, float spacing) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const float px = x * spacing, py = y * spacing;
    float energy = 0.f;
    for (int a = 0; a < atomCount; ++a) {
        const float dx = px - atoms[a].x, dy = py - atoms[a].y;
        energy += atoms[a].w / sqrtf(dx * dx + dy * dy + atoms[a].z);
    }
    grid[y * width + x] += energy;
}

// expert: uncoalesced-access|memory-latency|divergence; binning; memory-level-parallelism
__global__ void neighbourForces(const float4* position, const int* neighbours, const int* count, float4* force, int maximum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 me = position[i];
    float fx = 0.f, fy = 0.f, fz = 0.f;
    for (int k = 0; k < count[i]; ++k) {
        const float4 other = position[neighbours[k * n + i]];
        const float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
        const float r2 = 1.f / (dx * dx + dy * dy + dz * dz);
        const float r6 = r2 * r2 * r2;
        const float s = r6 * (r6 - 0.5f) * r2;
        fx += s * dx;
        fy += s * dy;
        fz += s * dz;
    }
    force[i] = make_float4(fx, fy, fz, 0.f);
}

// expert: compute; fast-math-intrinsics; loop-unrolling
__global__ void normalizeAngles(float* angles, int turns, int n) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float a = angles[i];
        for (int t = 0; t < turns; ++t)
            a = atan2f(sinf(a), cosf(a)) + 0.01f;
        angles[i] = a;
    }
}

// expert: compute; none; loop-unrolling
__global__ void mixHashes(unsigned* out, unsigned seed, int rounds) {
    unsigned h = seed ^ (blockIdx.x * blockDim.x + threadIdx.x);
    for (int r = 0; r < rounds; ++r) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = h;
}

// expert: compute|divergence; fast-math-intrinsics; shared-memory-tiling
__global__ void cutoffForces(const float* x, const float* y, const float* z, float* fx, int n, float cutoff2) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float f = 0.f;
        for (int j = 0; j < n; ++j) {
            float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            float r2 = dx * dx + dy * dy + dz * dz;
            if (j != i && r2 < cutoff2)
                f += dx / (r2 * sqrtf(r2));
        }
        fx[i] = f;
    }
}

void numerics(float4* bodies, float4* result, float3* accelerations, float* a, float* b, float* c, float* d, double* areas,
              unsigned* u, int* k, int* l, int n, int width, int height) {
    const int blocks = (n + 255) / 256;
    const dim3 block(16, 16), grid(width / 16, height / 16);
    forces<<<blocks, 256>>>(bodies, result, n);
    forcesTiled<<<n / 256, 256>>>(bodies, accelerations, n);
    priceOptions<<<blocks, 256>>>(a, b, c, d, 0.02f, 0.3f, n);
    estimatePi<<<1024, 256>>>(u, 10000);
    mandelbrot<<<grid, block>>>(k, width, height, 0.002f, 1000);
    decayAll<<<blocks, 256>>>(a, b, 0.9f, 1.1f, 100, n);
    seriesOfSines<<<blocks, 256>>>(a, b, 64, n);
    logisticMap<<<blocks, 256>>>(a, 3.9f, 1000, n);
    horner<32><<<blocks, 256>>>(a, b, c, n);
    integrate<<<blocks, 256>>>(areas, 0.0, 0.01, 200, n);
    potential<<<grid, block>>>(a, width, 1024, 0.1f);
    neighbourForces<<<blocks, 256>>>(bodies, k, l, result, 128, n);
    normalizeAngles<<<1024, 256>>>(a, 16, n);
    mixHashes<<<blocks, 256>>>(u, 17u, 64);
    cutoffForces<<<blocks, 256>>>(a, b, c, d, n, 4.f);
}
