/* Generators whose state lives in memory, and what is drawn from them. */
#include <cuda_runtime.h>
#include <stdint.h>

struct Xorshift128
{
    uint32_t a, b, c, d;
    __device__ uint32_t next()
    {
        uint32_t t = d;
        uint32_t s = a;
        d = c;
        c = b;
        b = s;
        t ^= t << 11;
        t ^= t >> 8;
        return a = t ^ s ^ (s >> 19);
    }
    __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
};

__global__ void seedStates(Xorshift128* states, uint32_t seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        uint32_t h = (seed ^ i) * 2654435761u;
        states[i].a = h | 1u;
        states[i].b = h * 40503u + 7u;
        states[i].c = h ^ 0x9e3779b9u;
        states[i].d = h >> 3;
    }
}

__global__ void boxMuller(Xorshift128* states, float* normals, int n, int perThread)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Xorshift128 rng = states[i];
    for (int k = 0; k < perThread; k += 2)
    {
        float u = rng.uniform() + 1e-7f;
        float v = rng.uniform();
        float r = sqrtf(-2.0f * logf(u));
        normals[k * n + i] = r * cosf(6.2831853f * v);
        normals[(k + 1) * n + i] = r * sinf(6.2831853f * v);
    }
    states[i] = rng;
}

// Checkerboard update of spins: neighbours have the other colour.
__global__ void isingSweep(signed char* spins, const float* draws, int size, int colour, float beta)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size && ((x + y) & 1) == colour)
    {
        int left = x == 0 ? size - 1 : x - 1;
        int right = x == size - 1 ? 0 : x + 1;
        int up = y == 0 ? size - 1 : y - 1;
        int down = y == size - 1 ? 0 : y + 1;
        int neighbours = spins[y * size + left] + spins[y * size + right] + spins[up * size + x] + spins[down * size + x];
        int s = spins[y * size + x] > 0 ? 1 : -1;
        float change = 2.0f * s * neighbours;
        if (change <= 0 || draws[y * size + x] < __expf(-beta * change))
            spins[y * size + x] = -s;
    }
}

__global__ void walk(const float* draws, int* position, int walkers, int steps)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w < walkers)
    {
        int p = 0, step = 0;
        while (step < steps)
        {
            p += draws[step * walkers + w] < 0.5f ? -1 : 1;
            if (p > 40 || p < -40)
                break;
            ++step;
        }
        position[w] = p;
    }
}

__global__ void acceptanceRate(const float* draws, unsigned long long* accepted, int n, float threshold)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool yes = i < n && draws[i] < threshold;
    unsigned votes = __ballot_sync(0xffffffffu, yes);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(accepted, (unsigned long long)__popc(votes));
}

int main()
{
    const int n = 2048;
    Xorshift128* states;
    float* normals;
    signed char* spins;
    int* position;
    unsigned long long* accepted;
    cudaMalloc(&states, n * sizeof(Xorshift128));
    cudaMalloc(&normals, 16 * n * sizeof(float));
    cudaMalloc(&spins, 128 * 128);
    cudaMalloc(&position, n * sizeof(int));
    cudaMalloc(&accepted, sizeof *accepted);
    seedStates<<<n / 256, 256>>>(states, 99u, n);
    boxMuller<<<n / 256, 256>>>(states, normals, n, 16);
    isingSweep<<<dim3(8, 16), dim3(16, 8)>>>(spins, normals, 128, 0, 0.44f);
    isingSweep<<<dim3(8, 16), dim3(16, 8)>>>(spins, normals, 128, 1, 0.44f);
    walk<<<n / 128, 128>>>(normals, position, n, 16);
    acceptanceRate<<<n / 256, 256>>>(normals, accepted, n, 0.25f);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
