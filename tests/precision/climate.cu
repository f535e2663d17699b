// Launches the kernels of climate.cuh in both precisions.
#include "climate.cuh"

__global__ void saturationAdjust(float* vapour, float* cloud, const float* limit, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) {
        float excess = vapour[i] - limit[i];
        if (excess > 0.0f) {
            vapour[i] -= excess;
            cloud[i] += excess;
        } else {
            float back = fminf(-excess, cloud[i]);
            vapour[i] += back;
            cloud[i] -= back;
        }
    }
}

__global__ void rainOut(float* cloud, float* rain, int columns, int levels, float rate) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns)
        return;
    float fallen = 0.0f;
    for (int k = 0; k < levels; ++k) {
        float drop = rate * cloud[k * columns + c];
        cloud[k * columns + c] -= drop;
        fallen += drop;
    }
    rain[c] += fallen;
}

template <typename Real> void stepOf(Real* a, Real* b, Real* c) {
    const int columns = 1000, levels = 20;
    climate::integratePressure<Real><<<(columns + 127) / 128, 128>>>(a, b, columns, levels, Real(100));
    climate::potentialTemperature<Real><<<(columns * levels + 255) / 256, 256>>>(a, b, c, columns * levels, climate::Constants<Real>());
    climate::advect<Real><<<dim3(4, 10), dim3(32, 4)>>>(a, b, c, 100, 40, Real(0.2));
    climate::mixColumns<Real, 20><<<(columns + 127) / 128, 128>>>(a, b, columns);
    climate::zonalMean<Real><<<1, 64>>>(a, b, 100, 40);
}

int main() {
    float *a, *b, *c;
    double *d, *e, *f;
    for (float** p : {&a, &b, &c})
        cudaMalloc(p, 30000 * sizeof(float));
    for (double** p : {&d, &e, &f})
        cudaMalloc(p, 30000 * sizeof(double));
    stepOf(a, b, c);
    stepOf(d, e, f);
    saturationAdjust<<<(20000 + 255) / 256, 256>>>(a, b, c, 20000);
    rainOut<<<8, 128>>>(a, b, 1000, 20, 0.01f);
    return cudaDeviceSynchronize();
}
