// Particles that attract and repel: pair forces, neighbour lists, integration, energies.
#include <cuda_runtime.h>

typedef struct {
    float cutoff2;
    float epsilon;
    float sigma6;
    float box;
} LennardJones;

__device__ inline float wrapped(float d, float box) { return d - box * rintf(d / box); }

__global__ void allPairs(const float4* position, float3* force, int n, LennardJones lj) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = position[i];
    float3 f = make_float3(0, 0, 0);
    for (int j = 0; j < n; ++j) {
        if (j == i)
            continue;
        float4 other = position[j];
        float dx = wrapped(me.x - other.x, lj.box), dy = wrapped(me.y - other.y, lj.box),
              dz = wrapped(me.z - other.z, lj.box);
        float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        if (r2 < lj.cutoff2) {
            float inv6 = lj.sigma6 / (r2 * r2 * r2);
            float scale = 24.0f * lj.epsilon * inv6 * (2.0f * inv6 - 1.0f) / r2;
            f.x += scale * dx;
            f.y += scale * dy;
            f.z += scale * dz;
        }
    }
    force[i] = f;
}

// kernelskill: launch listedPairs<<<8, 64>>>(n=500, neighbours=rand[16000, 0..500], count=rand[500, 0..32])
__global__ void listedPairs(const float* px, const float* py, const float* pz, const int* neighbours, const int* count,
                            float* fx, float* fy, float* fz, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sx = 0, sy = 0, sz = 0;
        int c = count[i];
        for (int k = 0; k < c; ++k) {
            int j = neighbours[k * n + i];
            float dx = px[i] - px[j], dy = py[i] - py[j], dz = pz[i] - pz[j];
            float r2 = dx * dx + dy * dy + dz * dz + 0.1f;
            float w = 1.0f / (r2 * r2);
            sx += w * dx;
            sy += w * dy;
            sz += w * dz;
        }
        fx[i] = sx;
        fy[i] = sy;
        fz[i] = sz;
    }
}

__global__ void halfKick(float3* velocity, const float3* force, const float* mass, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = 0.5f * dt / mass[i];
        velocity[i].x += s * force[i].x;
        velocity[i].y += s * force[i].y;
        velocity[i].z += s * force[i].z;
    }
}

__global__ void drift(float4* position, const float3* velocity, float dt, float box, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
    float3 v = velocity[i];
    p.x += dt * v.x; p.y += dt * v.y; p.z += dt * v.z;
    if (p.x >= box) p.x -= box; else if (p.x < 0) p.x += box;
    if (p.y >= box) p.y -= box; else if (p.y < 0) p.y += box;
    if (p.z >= box) p.z -= box; else if (p.z < 0) p.z += box;
    position[i] = p;
}

__global__ void kineticEnergy(const float3* velocity, const float* mass, float* energy, int n) {
    __shared__ float partial[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float e = 0.f;
    if (i < n) {
        float3 v = velocity[i];
        e = 0.5f * mass[i] * (v.x * v.x + v.y * v.y + v.z * v.z);
    }
    partial[threadIdx.x] = e;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(energy, partial[0]);
}

__global__ void radialDistribution(const float4* position, unsigned int* shells, int n, float width, int shellCount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n && i < j) {
        float dx = position[i].x - position[j].x;
        float dy = position[i].y - position[j].y;
        float dz = position[i].z - position[j].z;
        int shell = (int)(sqrtf(dx * dx + dy * dy + dz * dz) / width);
        if (shell < shellCount)
            atomicAdd(&shells[shell], 1u);
    }
}

extern "C" void simulate(float4* position, float3* velocity, float3* force, float* mass, float* energy, unsigned* shells) {
    const int n = 700;
    LennardJones lj = {6.25f, 1.0f, 1.0f, 10.0f};
    allPairs<<<(n + 63) / 64, 64>>>(position, force, n, lj);
    halfKick<<<(n + 127) / 128, 128>>>(velocity, force, mass, 0.002f, n);
    drift<<<(n + 127) / 128, 128>>>(position, velocity, 0.002f, 10.0f, n);
    kineticEnergy<<<(n + 127) / 128, 128>>>(velocity, mass, energy, n);
    dim3 threads(16, 16), blocks((n + 15) / 16, (n + 15) / 16);
    radialDistribution<<<blocks, threads>>>(position, shells, n, 0.1f, 32);
}
