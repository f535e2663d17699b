// A lattice Boltzmann fluid on nine directions: the steps that lattice_gas.cu launches.
#pragma once

#define LBM_Q 9
#define AT(x, y, w) ((y) * (w) + (x))

__constant__ int directionX[LBM_Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int directionY[LBM_Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[LBM_Q] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                                    1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

/// Densities of direction q at a cell: planes of the whole field, so that lanes are neighbours.
__global__ void lbmStream(const float* __restrict__ from, float* __restrict__ to, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    for (int q = 0; q < LBM_Q; ++q) {
        int sx = (x - directionX[q] + width) % width;
        int sy = (y - directionY[q] + height) % height;
        to[q * width * height + AT(x, y, width)] = from[q * width * height + AT(sx, sy, width)];
    }
}

__global__ void lbmCollide(float* f, int cells, float omega) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells)
        return;
    float rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < LBM_Q; ++q) {
        float v = f[q * cells + i];
        rho += v;
        ux += v * directionX[q];
        uy += v * directionY[q];
    }
    ux /= rho;
    uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < LBM_Q; ++q) {
        float cu = 3.f * (directionX[q] * ux + directionY[q] * uy);
        float equilibrium = weight[q] * rho * (1.f + cu + 0.5f * cu * cu - square);
        f[q * cells + i] += omega * (equilibrium - f[q * cells + i]);
    }
}

/// Walls send each direction back where it came from.
__global__ void lbmBounce(float* f, const unsigned char* wall, int cells) {
    const int opposite[LBM_Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells && wall[i]) {
        float held[LBM_Q];
        for (int q = 0; q < LBM_Q; ++q)
            held[q] = f[q * cells + i];
        for (int q = 0; q < LBM_Q; ++q)
            f[opposite[q] * cells + i] = held[q];
    }
}

struct Macroscopic {
    float density;
    float velocityX;
    float velocityY;
};

__global__ void lbmMacroscopic(const float* f, Macroscopic* field, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) {
        Macroscopic m = {0.f, 0.f, 0.f};
#pragma unroll
        for (int q = 0; q < LBM_Q; ++q) {
            m.density += f[q * cells + i];
            m.velocityX += f[q * cells + i] * directionX[q];
            m.velocityY += f[q * cells + i] * directionY[q];
        }
        field[i] = m;
    }
}

inline void lbmStep(float* f, float* next, const unsigned char* wall, Macroscopic* field) {
    const int width = 96, height = 64, cells = width * height;
    lbmStream<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(f, next, width, height);
    lbmCollide<<<cells / 128, 128>>>(next, cells, 0.6f);
    lbmBounce<<<cells / 128, 128>>>(next, wall, cells);
    lbmMacroscopic<<<cells / 128, 128>>>(next, field, cells);
}
