// Velocities after the forces of all bodies, and the stress that these forces make.
#include <cuda_runtime.h>

__global__ void advance(const float4* __restrict__ bodies, const float4* __restrict__ speeds,
                        const float4* __restrict__ fields, const float4* __restrict__ drags,
                        float4* __restrict__ next, float* __restrict__ stress, int n, float step) {
    __shared__ float4 tile[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = min(i, n - 1);
    const float4 me = bodies[own];
    const float4 speed = speeds[own];
    const float4 field = fields[own]; // from outside
    const float4 drag = drags[own];
    double fx = 0, fy = 0, fz = 0;
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int first = 0; first < n; first += 256) {
        tile[threadIdx.x] = bodies[min(first + (int)threadIdx.x, n - 1)];
        __syncthreads();
        const int count = min(256, n - first);
        for (int k = 0; k < count; ++k) {
            const float4 other = tile[k];
            const float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float scale = other.w * inverse * inverse * inverse;
            fx += scale * dx;
            fy += scale * dy;
            fz += scale * dz;
            xx += scale * dx * dx;
            yy += scale * dy * dy;
            zz += scale * dz * dz;
            xy += scale * dx * dy;
            xz += scale * dx * dz;
            yz += scale * dy * dz;
        }
        __syncthreads();
    }
    // Threads behind the last body have only helped to load.
    if (i < n) {
        next[i] = make_float4(speed.x * drag.x + step * (fx + field.x),
                              speed.y * drag.y + step * (fy + field.y),
                              speed.z * drag.z + step * (fz + field.z), speed.w);
        stress[i] = xx;
        stress[n + i] = yy;
        stress[2 * n + i] = zz;
        stress[3 * n + i] = xy;
        stress[4 * n + i] = xz;
        stress[5 * n + i] = yz;
    }
}

void launchAdvance(const float4* bodies, const float4* speeds, const float4* fields,
                   const float4* drags, float4* next, float* stress, int n, float step) {
    advance<<<(n + 255) / 256, 256>>>(bodies, speeds, fields, drags, next, stress, n, step);
}
