// Each thread loads the seven points around one point of a grid.
#include <cuda_runtime.h>

__global__ void diffuse(const float* __restrict__ in, float* __restrict__ out, int width,
                        int height, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int zBegin = (blockIdx.z * blockDim.z + threadIdx.z) * 4;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const int plane = width * height;
    const int zFirst = zBegin < 1 ? 1 : zBegin;
    float in0, in1, in2;
    for (int z = zFirst; z < zBegin + 4 && z < depth - 1; ++z) {
        const int at = z * plane + y * width + x; // its place
        if (z == zFirst) {
            in1 = in[at - plane];
            in2 = in[at];
        }
        in0 = in1;
        in1 = in2;
        in2 = in[at + plane];
        out[at] = 0.4f * in1 + 0.1f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width] +
                                          in0 + in2);
    }
}

void launchDiffuse(const float* in, float* out, int width, int height, int depth) {
    dim3 block(32, 4, 2);
    dim3 grid((width + 31) / 32, (height + 3) / 4, (depth + 1) / 2);
    diffuse<<<dim3(grid.x, grid.y, (grid.z + 3) / 4), block>>>(in, out, width, height, depth);
}
