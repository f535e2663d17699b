// divergence: lanes of one warp leave the loop after different numbers of rounds, and the warp goes on for the last.
// Fix: give a warp points that need about as many rounds (blocks of 8 x 4 points rather than 32 in a row), or let lanes
// that are done fetch the next point.
#include <cuda_runtime.h>

__global__ void escapeTimes(int* rounds, int width, int height, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cr = 3.0f * x / width - 2.0f, ci = 2.0f * y / height - 1.0f;
    float zr = 0, zi = 0;
    int round = 0;
    while (round < limit && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        if (round % 3 == x % 3)
            zr += ci * 1e-6f;
        ++round;
    }
    rounds[y * width + x] = round;
}

int main() {
    const int width = 512, height = 256;
    int* rounds;
    cudaMalloc(&rounds, width * height * sizeof(int));
    escapeTimes<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(rounds, width, height, 64);
    cudaDeviceSynchronize();
}
