// Water in the columns of an atmosphere: smoothed layer by layer, and what it does to the ground.
#include <cuda_runtime.h>

constexpr int SIDE = 32; // with a ring of neighbours

__global__ void smoothColumns(const float* __restrict__ water, const float4* __restrict__ surface,
                              const float4* __restrict__ rates, const float4* __restrict__ soils,
                              float* __restrict__ smooth, float4* __restrict__ ground, int width,
                              int height, int layers) {
    __shared__ float layer[SIDE][SIDE];
    const int x = blockIdx.x * (SIDE - 2) + threadIdx.x - 1;
    const int y = blockIdx.y * (SIDE - 2) + threadIdx.y - 1;
    const int column = max(min(y, height - 1), 0) * width + max(min(x, width - 1), 0);
    const bool isInner =
        threadIdx.x % (SIDE - 1) > 0 && threadIdx.y % (SIDE - 1) > 0 && x < width && y < height;
    float total = 0, moment = 0, square = 0, largest = 0;
    for (int k = 0; k < layers; ++k) {
        layer[threadIdx.y][threadIdx.x] = water[k * width * height + column];
        __syncthreads();
        if (isInner) {
            const float around =
                layer[threadIdx.y - 1][threadIdx.x] + layer[threadIdx.y + 1][threadIdx.x] +
                layer[threadIdx.y][threadIdx.x - 1] + layer[threadIdx.y][threadIdx.x + 1];
            const float here = 0.5f * layer[threadIdx.y][threadIdx.x] + 0.125f * around;
            smooth[k * width * height + column] = here;
            total += here;
            moment += k * here;
            square += here * here;
            largest = fmaxf(largest, here);
        }
        __syncthreads();
    }
    const float4 below = surface[column]; // of the last step
    const float4 rate = rates[column];
    const float4 soil = soils[column];
    if (isInner)
        ground[column] = make_float4(
            soil.x * below.x + rate.x * total, soil.y * below.y + rate.y * moment,
            soil.z * below.z + rate.z * square, fmaxf(soil.w * below.w, rate.w * largest));
}

void launchSmoothColumns(const float* water, const float4* surface, const float4* rates,
                         const float4* soils, float* smooth, float4* ground, int width, int height,
                         int layers) {
    const dim3 grid((width + SIDE - 3) / (SIDE - 2), (height + SIDE - 3) / (SIDE - 2));
    smoothColumns<<<grid, dim3(SIDE, SIDE)>>>(water, surface, rates, soils, smooth, ground, width,
                                              height, layers);
}
