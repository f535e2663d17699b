// Each thread moves a body of 32 bytes: neighbouring threads are 32 bytes apart in every load and store.
#include <cuda_runtime.h>

struct Body {
    float x, y, z;
    float vx, vy, vz;
    float mass, energy;
};

__global__ void moveBodies(Body* bodies, const float* force, float step, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float push = step * force[i] / bodies[i].mass; // the same along all axes
    bodies[i].vx += push;
    bodies[i].vy += push;
    bodies[i].vz += push;
    bodies[i].x += step * bodies[i].vx;
    bodies[i].y += step * bodies[i].vy;
    bodies[i].z += step * bodies[i].vz;
    bodies[i].energy += push * bodies[i].vx;
}

void launchMove(Body* bodies, const float* force, float step, int count) {
    moveBodies<<<(count + 255) / 256, 256>>>(bodies, force, step, count);
}
