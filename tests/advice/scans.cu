// Prefix sums, recurrences, sorts: work whose steps wait for each other.
#include <cuda_runtime.h>

// expert: occupancy|memory-latency; hierarchical-scan; none
__global__ void scanByOneThread(const int* in, int* out, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        out[i] = sum;
        sum += in[i];
    }
}

// expert: uncoalesced-access; hierarchical-scan; coalesced-access
__global__ void scanRows(const float* in, float* out, int rows, int columns) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.f;
    for (int c = 0; c < columns; ++c) {
        sum += in[r * columns + c];
        out[r * columns + c] = sum;
    }
}

// expert: memory-latency|memory-bandwidth|occupancy; hierarchical-scan; memory-level-parallelism
__global__ void scanColumns(float* image, int rows, int columns) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < columns)
        for (int r = 1; r < rows; ++r)
            image[r * columns + c] += image[(r - 1) * columns + c];
}

// expert: synchronization; warp-scan; hierarchical-scan
__global__ void scanHillisSteele(const float* in, float* out, int n) {
    extern __shared__ float s[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        float add = t >= d ? s[t - d] : 0.f;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    if (i < n)
        out[i] = s[t];
}

// expert: bank-conflicts; shared-memory-padding; warp-scan
__global__ void scanBlelloch(const int* in, int* out) {
    __shared__ int s[512];
    const int t = threadIdx.x;
    s[2 * t] = in[blockIdx.x * 512 + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * 512 + 2 * t + 1];
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            s[b] += s[a];
        }
        offset *= 2;
    }
    if (t == 0)
        s[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int keep = s[a];
            s[a] = s[b];
            s[b] += keep;
        }
    }
    __syncthreads();
    out[blockIdx.x * 512 + 2 * t] = s[2 * t];
    out[blockIdx.x * 512 + 2 * t + 1] = s[2 * t + 1];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void scanWarps(const int* in, int* out, int* totals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int from = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d)
            v += from;
    }
    if (i < n)
        out[i] = v;
    if (lane == 31)
        totals[i / 32] = v;
}

// expert: synchronization; warp-shuffles; register-tiling
__global__ void bitonicShared(float* data) {
    __shared__ float s[1024];
    const unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * 1024 + t];
    __syncthreads();
    for (unsigned size = 2; size <= 1024; size <<= 1)
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            const unsigned other = t ^ stride;
            if (other > t) {
                const bool up = (t & size) == 0;
                if ((s[t] > s[other]) == up) {
                    const float keep = s[t];
                    s[t] = s[other];
                    s[other] = keep;
                }
            }
            __syncthreads();
        }
    data[blockIdx.x * 1024 + t] = s[t];
}

// expert: launch-overhead|memory-bandwidth; shared-memory-tiling; kernel-fusion
__global__ void bitonicStep(float* data, int j, int k) {
    const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    const unsigned other = i ^ j;
    if (other > i) {
        const bool up = (i & k) == 0;
        if ((data[i] > data[other]) == up) {
            const float keep = data[i];
            data[i] = data[other];
            data[other] = keep;
        }
    }
}

// expert: synchronization; warp-shuffles; wavefront-blocking
__global__ void cheapestPath(const int* weights, int* result, int columns, int rows) {
    __shared__ int before[256], now[256];
    const int t = threadIdx.x;
    const int c = blockIdx.x * 256 + t;
    before[t] = weights[c];
    __syncthreads();
    for (int r = 1; r < rows; ++r) {
        const int left = before[max(t - 1, 0)], right = before[min(t + 1, 255)];
        now[t] = min(before[t], min(left, right)) + weights[r * columns + c];
        __syncthreads();
        before[t] = now[t];
        __syncthreads();
    }
    result[c] = before[t];
}

// expert: uncoalesced-access; structure-of-arrays; coalesced-access
__global__ void smoothSeries(const float* series, float* smoothed, float alpha, int count, int length) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count)
        return;
    const float* in = series + s * length;
    float* out = smoothed + s * length;
    float level = in[0];
    for (int t = 0; t < length; ++t) {
        level = alpha * in[t] + (1.f - alpha) * level;
        out[t] = level;
    }
}

// expert: memory-latency|compute|memory-bandwidth; memory-level-parallelism; loop-unrolling
__global__ void thomas(const float* lower, const float* diagonal, float* upper, float* right, int systems, int n) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems)
        return;
    upper[s] /= diagonal[s];
    right[s] /= diagonal[s];
    for (int i = 1; i < n; ++i) {
        const int at = i * systems + s;
        const float scale = 1.f / (diagonal[at] - lower[at] * upper[at - systems]);
        upper[at] *= scale;
        right[at] = (right[at] - lower[at] * right[at - systems]) * scale;
    }
    for (int i = n - 2; i >= 0; --i)
        right[i * systems + s] -= upper[i * systems + s] * right[(i + 1) * systems + s];
}

void scans(const int* in, int* out, int* totals, const float* x, const float* y, float* z, float* w, int n, int rows, int columns) {
    const int blocks = (n + 255) / 256;
    scanByOneThread<<<1, 1>>>(in, out, n);
    scanRows<<<(rows + 127) / 128, 128>>>(x, z, rows, columns);
    scanColumns<<<(columns + 127) / 128, 128>>>(z, rows, columns);
    scanHillisSteele<<<blocks, 256, 256 * sizeof(float)>>>(x, z, n);
    scanBlelloch<<<n / 512, 256>>>(in, out);
    scanWarps<<<blocks, 256>>>(in, out, totals, n);
    bitonicShared<<<n / 1024, 1024>>>(z);
    cheapestPath<<<columns / 256, 256>>>(in, out, columns, rows);
    smoothSeries<<<(rows + 127) / 128, 128>>>(x, z, 0.5f, rows, columns);
    thomas<<<(columns + 127) / 128, 128>>>(x, y, z, w, columns, rows);
}

void sortAll(float* data, int n) {
    for (int k = 2; k <= n; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1)
            bitonicStep<<<n / 256, 256>>>(data, j, k);
}
