// Prices by simulation and by trees. What is paid is a type.
#include <cmath>

struct CallPayoff {
    double strike;
    __host__ __device__ double operator()(double s) const { return s > strike ? s - strike : 0.0; }
};

struct DigitalPayoff {
    double barrier, amount;
    __host__ __device__ double operator()(double s) const { return s >= barrier ? amount : 0.0; }
};

template <class Payoff>
__global__ void europeanPaths(const float* __restrict__ normals, double* __restrict__ value, int paths, int steps, double spot,
                              double drift, double volatility, Payoff payoff)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    double logS = log(spot);
    for (int t = 0; t < steps; ++t)
        logS += drift + volatility * normals[t * paths + p];
    value[p] = payoff(exp(logS));
}

__global__ void asianPaths(const float* normals, float* value, int paths, int steps, float spot, float drift, float volatility,
                           float strike)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < paths)
    {
        float s = spot, sum = 0;
        for (int t = 0; t < steps; ++t)
        {
            s *= expf(drift + volatility * normals[p * steps + t]);
            sum += s;
        }
        value[p] = fmaxf(sum / steps - strike, 0.0f);
    }
}

// A block a tree: levels shrink by one node a step.
template <int LEVELS>
__global__ void binomialTree(const float* spot, const float* strike, float* price, float up, float discount, float probability)
{
    __shared__ float node[LEVELS + 1];
    const int option = blockIdx.x;
    for (int i = threadIdx.x; i <= LEVELS; i += blockDim.x)
        node[i] = fmaxf(spot[option] * powf(up, 2.0f * i - LEVELS) - strike[option], 0.0f);
    __syncthreads();
    for (int level = LEVELS; level > 0; --level)
    {
        float v = 0;
        if (threadIdx.x < level)
            v = discount * (probability * node[threadIdx.x + 1] + (1 - probability) * node[threadIdx.x]);
        __syncthreads();
        if (threadIdx.x < level)
            node[threadIdx.x] = v;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        price[option] = node[0];
}

__global__ void discountCurve(const double* rate, double* factor, int tenors)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tenors)
        factor[i] = exp(-rate[i] * (i + 1) / 12.0);
}

__global__ void portfolioLoss(const float* exposure, const float* shock, float* loss, int scenarios, int positions)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < scenarios)
    {
        float total = 0;
        for (int p = 0; p < positions; ++p)
            total += exposure[p] * shock[p * scenarios + s];
        loss[s] = total;
    }
}

__global__ void tailMean(const float* loss, float* sum, int* count, int scenarios, float threshold)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < scenarios && loss[s] > threshold)
    {
        atomicAdd(sum, loss[s]);
        atomicAdd(count, 1);
    }
}

void price(const float* normals, double* value, float* fvalue, const float* spot, const float* strike, double* curve, int* count)
{
    const int paths = 4000, steps = 32;
    const int block = 128, grid = (paths + block - 1) / block;
    europeanPaths<<<grid, block>>>(normals, value, paths, steps, 100.0, 0.0001, 0.02, CallPayoff{101.0});
    europeanPaths<<<grid, block>>>(normals, value, paths, steps, 100.0, 0.0001, 0.02, DigitalPayoff{105.0, 10.0});
    asianPaths<<<grid, block>>>(normals, fvalue, paths, steps, 100.f, 0.0001f, 0.02f, 99.f);
    binomialTree<64><<<40, 64>>>(spot, strike, fvalue, 1.01f, 0.9995f, 0.51f);
    discountCurve<<<1, 128>>>(curve, value, 120);
    portfolioLoss<<<grid, block>>>(spot, normals, fvalue, paths, 25);
    tailMean<<<grid, block>>>(normals, fvalue, count, paths, 0.95f);
}
