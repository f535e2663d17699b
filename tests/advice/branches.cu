// Branches of threads, and loops whose length depends on data.
#include <cuda_runtime.h>

// expert: divergence; warp-uniform-control-flow; predication
__global__ void oddAndEven(const float* in, float* out, int rounds, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = in[i];
    for (int r = 0; r < rounds; ++r) {
        if (threadIdx.x % 2 == 0)
            v = v * 1.5f + sinf(v);
        else
            v = v * 0.5f - cosf(v);
    }
    out[i] = v;
}

// expert: divergence; work-sorting; launch-specialization
__global__ void interpret(const int* operation, const float* a, const float* b, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i];
    const float y = b[i];
    switch (operation[i]) {
    case 0:
        for (int k = 0; k < 64; ++k)
            x = sqrtf(fabsf(x * y) + k);
        break;
    case 1:
        for (int k = 0; k < 128; ++k)
            x = sinf(x) + y;
        break;
    case 2:
        for (int k = 0; k < 32; ++k)
            x = logf(fabsf(x) + 1.f) * y;
        break;
    default:
        x = x * y;
    }
    out[i] = x;
}

// expert: compute|memory-bandwidth; fast-math-intrinsics; none
__global__ void halvesOfBlocks(float* data, int rounds, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = data[i];
    for (int r = 0; r < rounds; ++r) {
        if ((threadIdx.x / 32) % 2 == 0)
            v = sinf(v) + 1.f;
        else
            v = cosf(v) - 1.f;
    }
    data[i] = v;
}

// expert: divergence|compute; work-sorting; persistent-kernel
__global__ void collatz(const unsigned* start, unsigned* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned v = start[i], k = 0;
        while (v != 1) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            ++k;
        }
        steps[i] = k;
    }
}

// expert: divergence|compute; persistent-kernel; work-sorting
__global__ void rejectionSample(float* out, unsigned seed, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned s = seed + i * 2654435761u;
    float x, y;
    do {
        s = s * 1664525u + 1013904223u;
        x = s * 2.3283064e-10f;
        s = s * 1664525u + 1013904223u;
        y = s * 2.3283064e-10f;
    } while (y > x * x);
    out[i] = x;
}

// expert: divergence|compute; persistent-kernel; work-sorting
__global__ void marchRays(const float3* origin, const float3* direction, float* depth, float radius, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float3 o = origin[i], d = direction[i];
    float t = 0.f;
    for (int step = 0; step < 256; ++step) {
        const float x = o.x + t * d.x, y = o.y + t * d.y, z = o.z + t * d.z;
        const float distance = sqrtf(x * x + y * y + z * z) - radius;
        if (distance < 1e-4f)
            break;
        t += distance;
    }
    depth[i] = t;
}

// expert: uncoalesced-access|divergence|memory-latency; row-per-warp; work-sorting
__global__ void lengthsOfStrings(const char* text, const int* start, int* length, int count) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count)
        return;
    const char* p = text + start[s];
    int n = 0;
    while (p[n] != 0)
        ++n;
    length[s] = n;
}

// expert: divergence; work-sorting; compaction
__global__ void stepAlive(float* x, float* v, const int* alive, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (alive[i]) {
        float p = x[i], q = v[i];
        for (int s = 0; s < steps; ++s) {
            q -= 0.01f * sinf(p);
            p += 0.01f * q;
        }
        x[i] = p;
        v[i] = q;
    }
}

// expert: divergence; warp-uniform-control-flow; launch-specialization
__global__ void loadAndCompute(const float* in, float* out, int n) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    float acc = 0.f;
    for (int base = blockIdx.x * 256; base < n; base += gridDim.x * 256) {
        s[t] = in[base + t];
        __syncthreads();
        if (t % 4 == 3)
            for (int k = 0; k < 32; ++k)
                acc += s[(t + k) % 256] * 0.5f;
        else
            acc += s[t];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = acc;
}

// expert: divergence|compute; work-sorting; persistent-kernel
__global__ void newtonRoots(const double* start, double* root, double tolerance, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = start[i];
    double change = 1.0;
    while (fabs(change) > tolerance) {
        change = (x * x * x - 2.0 * x - 5.0) / (3.0 * x * x - 2.0);
        x -= change;
    }
    root[i] = x;
}

void branches(float* a, float* b, float* c, int* k, int* l, unsigned* u, unsigned* v, float3* o, float3* d, char* text, double* x,
              double* y, int n) {
    const int blocks = (n + 255) / 256;
    oddAndEven<<<blocks, 256>>>(a, b, 100, n);
    interpret<<<blocks, 256>>>(k, a, b, c, n);
    halvesOfBlocks<<<blocks, 256>>>(a, 100, n);
    collatz<<<blocks, 256>>>(u, v, n);
    rejectionSample<<<blocks, 256>>>(a, 7u, n);
    marchRays<<<blocks, 256>>>(o, d, a, 1.f, n);
    lengthsOfStrings<<<blocks, 256>>>(text, k, l, n);
    stepAlive<<<blocks, 256>>>(a, b, k, 100, n);
    loadAndCompute<<<264, 256>>>(a, b, n);
    newtonRoots<<<blocks, 256>>>(x, y, 1e-12, n);
}
