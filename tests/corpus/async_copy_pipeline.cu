// Asynchronous copies into shared memory: primitives, a thread's pipeline, a group's copy.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
__global__ void scalePrimitives(const float4* in, float4* out, float s) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float4 v = tile[threadIdx.x];
    out[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}
__global__ void scalePipeline(const float* in, float* out, float s) {
    __shared__ float tile[2][128];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int k = 0; k < 4; ++k) {
        pipe.producer_acquire();
        cuda::memcpy_async(&tile[k & 1][threadIdx.x], &in[k * 128 + threadIdx.x], sizeof(float), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        out[k * 128 + threadIdx.x] = tile[k & 1][threadIdx.x] * s;
        pipe.consumer_release();
    }
}
__global__ void scaleGroup(const float* in, float* out, float s) {
    extern __shared__ float stage[];
    auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, stage, in + blockIdx.x * block.size(), sizeof(float) * block.size());
    cooperative_groups::wait(block);
    out[blockIdx.x * block.size() + threadIdx.x] = stage[threadIdx.x] * s;
}
void run(const float* in, float* out) {
    scalePrimitives<<<4, 128>>>((const float4*)in, (float4*)out, 2.f);
    scalePipeline<<<1, 128>>>(in, out, 2.f);
    scaleGroup<<<4, 128, 128 * sizeof(float)>>>(in, out, 2.f);
}
