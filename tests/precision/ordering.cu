// Pieces of sorts and selections.
#include <cuda_runtime.h>

__global__ void rankSort(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float mine = in[i];
    int rank = 0;
    for (int j = 0; j < n; ++j)
        rank += in[j] < mine || (in[j] == mine && j < i);
    out[rank] = mine;
}

template <int N> __global__ void oddEvenSort(int* data) {
    __shared__ int a[N];
    int t = threadIdx.x;
    a[t] = data[blockIdx.x * N + t];
    a[t + N / 2] = data[blockIdx.x * N + t + N / 2];
    __syncthreads();
    for (int phase = 0; phase < N; ++phase) {
        int left = 2 * t + (phase & 1);
        if (left + 1 < N && a[left] > a[left + 1]) {
            int swap = a[left];
            a[left] = a[left + 1];
            a[left + 1] = swap;
        }
        __syncthreads();
    }
    data[blockIdx.x * N + t] = a[t];
    data[blockIdx.x * N + t + N / 2] = a[t + N / 2];
}

__global__ void digitCounts(const unsigned* keys, unsigned* counts, int n, int shift) {
    __shared__ unsigned local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[(keys[i] >> shift) & 15u], 1u);
    __syncthreads();
    if (threadIdx.x < 16)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

// Where each selected element goes was scanned before.
// kernelskill: launch scatterSelected<<<10, 128>>>(n=1280, flags=rand[1280, 0..2], place=iota[1280], in=rand[1280], out=zero[1280])
__global__ void scatterSelected(const int* in, const int* flags, const int* place, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i])
        out[place[i]] = in[i];
}

__device__ int lowerBound(const int* sorted, int n, int key) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// kernelskill: launch searchAll<<<16, 64>>>(n=1000, queries=1000, sorted=iota[1000], key=rand[1000, 0..1000])
__global__ void searchAll(const int* sorted, int n, const int* key, int* found, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q < queries)
        found[q] = lowerBound(sorted, n, key[q]);
}

__global__ void topTwo(const float* scores, float* best, float* second, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float b = -1e30f, s = -1e30f;
        for (int c = 0; c < columns; ++c) {
            float v = scores[r * columns + c];
            if (v > b) {
                s = b;
                b = v;
            } else if (v > s) {
                s = v;
            }
        }
        best[r] = b;
        second[r] = s;
    }
}

__global__ void markDuplicates(const int* sorted, unsigned char* isRepeat, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        isRepeat[i] = i > 0 && sorted[i] == sorted[i - 1] ? 1 : 0;
}

void order(float* f, float* g, int* i, unsigned* u, unsigned char* c) {
    rankSort<<<(600 + 127) / 128, 128>>>(f, g, 600);
    oddEvenSort<64><<<20, 32>>>(i);
    digitCounts<<<12, 128>>>(u, u + 100000, 9000, 4);
    topTwo<<<3, 128>>>(f, g, g + 10000, 350, 60);
    markDuplicates<<<20, 256>>>(i, c, 5000);
}
