// Each thread moves a body of 32 bytes: neighbouring threads are 32 bytes apart in every load and store.
#include <cuda_runtime.h>

struct Body {
    float x, y, z;
    float vx, vy, vz;
    float mass, energy;
};

__global__ void moveBodies(Body* bodies, const float* force, float step, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int bodiesWords[9 * 256];
    const int first = blockIdx.x * blockDim.x;
    for (int word = threadIdx.x; word < 8 * 256; word += 256)
        if (first + word / 8 < count)
            bodiesWords[word / 8 * 9 + word % 8] = reinterpret_cast<const int*>(bodies + first)[word];
    __syncthreads();
    Body& body = reinterpret_cast<Body&>(bodiesWords[9 * threadIdx.x]);
    if (i < count) {
        const float push = step * force[i] / body.mass; // the same along all axes
        body.vx += push;
        body.vy += push;
        body.vz += push;
        body.x += step * body.vx;
        body.y += step * body.vy;
        body.z += step * body.vz;
        body.energy += push * body.vx;
    }
    __syncthreads();
    for (int word = threadIdx.x; word < 8 * 256; word += 256)
        if (first + word / 8 < count)
            reinterpret_cast<int*>(bodies + first)[word] = bodiesWords[word / 8 * 9 + word % 8];
}

void launchMove(Body* bodies, const float* force, float step, int count) {
    moveBodies<<<(count + 255) / 256, 256>>>(bodies, force, step, count);
}
