// Each thread loads the seven points around one point of a grid.
#include <cuda_runtime.h>

__global__ void diffuse(const float* __restrict__ in, float* __restrict__ out, int width,
                        int height, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= width - 1 || y >= height - 1 || z >= depth - 1)
        return;
    const int plane = width * height;
    const int at = z * plane + y * width + x; // its place
    out[at] = 0.4f * in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width] +
                                      in[at - plane] + in[at + plane]);
}

void launchDiffuse(const float* in, float* out, int width, int height, int depth) {
    dim3 block(32, 4, 2);
    dim3 grid((width + 31) / 32, (height + 3) / 4, (depth + 1) / 2);
    diffuse<<<grid, block>>>(in, out, width, height, depth);
}
