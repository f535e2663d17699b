// Columns of an atmosphere: a header of kernels without any launch of its own.
#ifndef CLIMATE_CUH
#define CLIMATE_CUH

namespace climate {

template <typename Real> struct Constants {
    Real gravity = Real(9.81);
    Real gas = Real(287.0);
    Real heat = Real(1004.0);
};

// Level by level from the top; lanes are columns.
template <typename Real>
__global__ void integratePressure(const Real* thickness, Real* pressure, int columns, int levels, Real top) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns)
        return;
    Real p = top;
    for (int k = 0; k < levels; ++k) {
        p += thickness[k * columns + c];
        pressure[k * columns + c] = p;
    }
}

template <typename Real>
__global__ void potentialTemperature(const Real* temperature, const Real* pressure, Real* theta, int cells, Constants<Real> k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells)
        theta[i] = temperature[i] * pow(Real(100000) / (pressure[i] + Real(1)), k.gas / k.heat);
}

// Upwind advection along x, periodic.
template <typename Real> __global__ void advect(const Real* q, const Real* wind, Real* out, int nx, int ny, Real courant) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) {
        int west = y * nx + (x + nx - 1) % nx;
        int east = y * nx + (x + 1) % nx;
        int here = y * nx + x;
        Real u = wind[here];
        out[here] = q[here] - courant * (u > 0 ? u * (q[here] - q[west]) : u * (q[east] - q[here]));
    }
}

template <typename Real, int LEVELS> __global__ void mixColumns(Real* q, const Real* diffusivity, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < columns) {
        Real column[LEVELS];
        for (int k = 0; k < LEVELS; ++k)
            column[k] = q[k * columns + c];
        for (int k = 1; k < LEVELS - 1; ++k)
            q[k * columns + c] = column[k] + diffusivity[k] * (column[k - 1] - 2 * column[k] + column[k + 1]);
    }
}

template <typename Real> __global__ void zonalMean(const Real* q, Real* mean, int nx, int ny) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < ny) {
        Real sum = 0;
        for (int x = 0; x < nx; ++x)
            sum += q[y * nx + x];
        mean[y] = sum / nx;
    }
}

} // namespace climate

#endif
