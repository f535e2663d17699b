// All-pairs gravity with tiles of bodies in shared memory.
#include <cuda_runtime.h>

__device__ float softeningSquared = 0.01f;

__device__ float3 interact(float3 a, float4 bi, float4 bj) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float d2 = r.x * r.x + r.y * r.y + r.z * r.z + softeningSquared;
    float inv = rsqrtf(d2);
    float s = bj.w * inv * inv * inv;
    a.x += r.x * s;
    a.y += r.y * s;
    a.z += r.z * s;
    return a;
}

__global__ void integrateBodies(float4* __restrict__ newPos, const float4* __restrict__ oldPos, float4* vel, int n,
                                float dt) {
    extern __shared__ float4 sharedPos[];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float4 position = index < n ? oldPos[index] : make_float4(0, 0, 0, 0);
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int tile = 0; tile * blockDim.x < n; ++tile) {
        int j = tile * blockDim.x + threadIdx.x;
        sharedPos[threadIdx.x] = j < n ? oldPos[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (unsigned counter = 0; counter < blockDim.x; counter++)
            acc = interact(acc, position, sharedPos[counter]);
        __syncthreads();
    }
    if (index >= n)
        return;
    float4 v = vel[index];
    v.x += acc.x * dt;
    v.y += acc.y * dt;
    v.z += acc.z * dt;
    position.x += v.x * dt;
    position.y += v.y * dt;
    position.z += v.z * dt;
    newPos[index] = position;
    vel[index] = v;
}

void simulate(float4* a, float4* b, float4* vel, int n) {
    int p = 256;
    integrateBodies<<<(n + p - 1) / p, p, p * sizeof(float4)>>>(b, a, vel, n, 0.016f);
}
