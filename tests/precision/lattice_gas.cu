// The program around lattice_gas.cuh, and what only it needs.
#include "lattice_gas.cuh"

__global__ void initialise(float* f, int cells, float flow) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells)
        for (int q = 0; q < LBM_Q; q++)
            f[q * cells + i] = weight[q] * (1.0f + 3.0f * directionX[q] * flow);
}

/// Inflow on the left edge only: most lanes of most blocks have nothing to do.
__global__ void drive(float* f, int width, int height, float flow) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y > 0 && y < height - 1) {
        int cells = width * height;
        f[1 * cells + y * width] += flow / 9.0f;
        f[5 * cells + y * width] += flow / 36.0f;
        f[8 * cells + y * width] += flow / 36.0f;
    }
}

__global__ void vorticity(const Macroscopic* field, float* curl, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        curl[AT(x, y, width)] = field[AT(x + 1, y, width)].velocityY - field[AT(x - 1, y, width)].velocityY -
                                field[AT(x, y + 1, width)].velocityX + field[AT(x, y - 1, width)].velocityX;
}

int main() {
    const int width = 96, height = 64, cells = width * height;
    float *f, *next, *curl;
    unsigned char* wall;
    Macroscopic* field;
    cudaMalloc(&f, LBM_Q * cells * sizeof(float));
    cudaMalloc(&next, LBM_Q * cells * sizeof(float));
    cudaMalloc(&curl, cells * sizeof(float));
    cudaMalloc(&wall, cells);
    cudaMalloc(&field, cells * sizeof(Macroscopic));
    initialise<<<cells / 256, 256>>>(f, cells, 0.05f);
    for (int step = 0; step < 4; ++step) {
        drive<<<1, height>>>(f, width, height, 0.05f);
        lbmStep(f, next, wall, field);
        float* swap = f;
        f = next;
        next = swap;
    }
    vorticity<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(field, curl, width, height);
    return cudaDeviceSynchronize();
}
