// Pair forces over neighbour lists, with energy and virial, summed in double.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256, 5) pairForces(const float4* __restrict__ bodies, const int* __restrict__ neighbours,
                           double* __restrict__ sums, int n, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 me = bodies[i];
    double fx = 0, fy = 0, fz = 0, energy = 0;
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int k = 0; k < each; ++k) {
        const float4 other = bodies[neighbours[k * n + i]]; // anywhere in memory
        const double dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
        const double inverse = 1.0 / (dx * dx + dy * dy + dz * dz + 0.01);
        const double sixth = inverse * inverse * inverse;
        const double scale = other.w * sixth * (sixth - 0.5) * inverse;
        fx += scale * dx;
        fy += scale * dy;
        fz += scale * dz;
        energy += sixth * (sixth - 1.0);
        xx += scale * dx * dx;
        yy += scale * dy * dy;
        zz += scale * dz * dz;
        xy += scale * dx * dy;
        xz += scale * dx * dz;
        yz += scale * dy * dz;
    }
    sums[i] = fx;
    sums[n + i] = fy;
    sums[2 * n + i] = fz;
    sums[3 * n + i] = energy;
    sums[4 * n + i] = xx;
    sums[5 * n + i] = yy;
    sums[6 * n + i] = zz;
    sums[7 * n + i] = xy;
    sums[8 * n + i] = xz;
    sums[9 * n + i] = yz;
}

void launchPairForces(const float4* bodies, const int* neighbours, double* sums, int n, int each) {
    pairForces<<<(n + 255) / 256, 256>>>(bodies, neighbours, sums, n, each);
}
