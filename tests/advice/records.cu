// Rows of tables, text, signals and other data that programs of business and the web have.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// expert: memory-bandwidth; vectorized-access; none
__global__ void discount(const double* price, const int* quantity, double* revenue, double rate, size_t rows) {
    auto r = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (r < rows)
        revenue[r] = price[r] * quantity[r] * (1.0 - rate);
}

// expert: synchronization; atomics-privatization; warp-aggregated-atomics
__global__ void salesByRegion(const unsigned char* region, const float* amount, float* total, int rows) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x)
        atomicAdd(&total[region[r]], amount[r]);
}

// expert: synchronization; warp-aggregated-atomics; block-reduction
__global__ void selectRows(const int* key, int low, int high, int* selected, int* count, int rows) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    if (key[r] >= low && key[r] <= high)
        selected[atomicAdd(count, 1)] = r;
}

// expert: memory-latency; shared-memory-staging; memory-level-parallelism
__global__ void joinSorted(const long long* left, int leftRows, const long long* right, int rightRows, int* match) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= leftRows)
        return;
    int lo = 0, hi = rightRows - 1, found = -1;
    while (lo <= hi) {
        int mid = lo + ((hi - lo) >> 1);
        if (right[mid] == left[i]) {
            found = mid;
            break;
        }
        if (right[mid] < left[i])
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    match[i] = found;
}

// expert: memory-bandwidth; shared-memory-tiling; thread-coarsening
__global__ void movingAverage(const float* signal, float* out, int n, int window) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + window <= n) {
        float s = 0;
        for (int k = 0; k < window; ++k)
            s += signal[i + k];
        out[i] = s / window;
    }
}

// expert: uncoalesced-access; row-per-warp; row-per-block
__global__ void longestOfRows(const float* table, float* longest, int rows, int columns) {
    const unsigned long long r = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float best = table[r * columns];
    for (int c = 1; c < columns; ++c)
        best = fmaxf(best, table[r * columns + c]);
    longest[r] = best;
}

// expert: uncoalesced-access; coalesced-access; row-per-warp
__global__ void normalizeRows(float* table, const float* norm, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float inverse = 1.0f / norm[row];
        float* at = &table[row * columns];
        for (int c = 0; c < columns; ++c)
            at[c] = at[c] * inverse;
    }
}

// expert: compute; none; loop-unrolling
__global__ void fingerprints(const unsigned* seeds, unsigned long long* out, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long h = seeds[i];
    for (int r = 0; r < rounds; r++) {
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccdULL;
        h ^= h << 7;
    }
    out[i] = h;
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void upperCase(char* text, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        char c = text[i];
        if (c >= 'a' && c <= 'z')
            text[i] = c - 32;
    }
}

// expert: uncoalesced-access|divergence|memory-latency; row-per-warp; load-balancing
__global__ void documentScores(const int* firstWord, const int* words, const float* weight, float* score, int documents) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d < documents) {
        float s = 0.f;
        int end = firstWord[d + 1];
        for (int w = firstWord[d]; w < end; ++w)
            s += weight[words[w]];
        score[d] = s;
    }
}

struct Trade {
    int account;
    float price;
    int volume;
};

// expert: uncoalesced-access; aos-staging; structure-of-arrays
__global__ void turnover(const Trade* trades, float* value, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count)
        value[t] = trades[t].price * trades[t].volume;
}

// expert: memory-bandwidth; vectorized-math; vectorized-access
__global__ void mixHalves(const half* a, const half* b, half* c, half t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] * t + b[i];
}

// expert: bank-conflicts; shared-memory-padding; swizzling
__global__ void transposeBytes(const uchar4* in, uchar4* out, int pitch) {
    __shared__ uchar4 tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * pitch + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * pitch + x] = tile[threadIdx.x][threadIdx.y];
}

// expert: synchronization; warp-shuffle-reduction; thread-coarsening
template <typename T, unsigned BLOCK>
__global__ void blockMaximum(const T* in, T* out, unsigned n) {
    __shared__ T cache[BLOCK];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    cache[threadIdx.x] = i < n ? in[i] : in[0];
    __syncthreads();
    for (unsigned s = BLOCK / 2; s != 0; s /= 2) {
        if (threadIdx.x < s && cache[threadIdx.x + s] > cache[threadIdx.x])
            cache[threadIdx.x] = cache[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cache[0];
}

// expert: memory-latency|memory-bandwidth|divergence; binary-search; shared-memory-staging
__global__ void taxBracket(const float* income, const float* limits, const float* rates, float* tax, int people, int brackets) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= people)
        return;
    int b = 0;
    while (b < brackets - 1 && income[p] > limits[b])
        b++;
    tax[p] = income[p] * rates[b];
}

// expert: occupancy; launch-tuning; none
__global__ void convert(const short* in, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] * (1.f / 32768.f);
}

// expert: uncoalesced-access; vectorized-access; shared-memory-tiling
__global__ void stereoToMono(const short* interleaved, short* mono, int frames) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f < frames)
        mono[f] = (interleaved[2 * f] + interleaved[2 * f + 1]) / 2;
}

// expert: tensor-core-eligible|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void similarity(const float* users, const float* items, float* rating, int userCount, int itemCount, int factors) {
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    int user = blockIdx.y * blockDim.y + threadIdx.y;
    if (item < itemCount && user < userCount) {
        float dot = 0.f;
        for (int f = 0; f < factors; f++) {
            float u = users[user * factors + f];
            float i = items[f * itemCount + item];
            dot += u * i;
        }
        rating[user * itemCount + item] = dot;
    }
}

void tables(double* u, double* v, int* i, int* j, int* k, unsigned char* b, float* x, float* y, float* z, long long* l, long long* r,
            unsigned* s, unsigned long long* h, char* text, Trade* trades, half* p, half* q, half* w, uchar4* c, short* m, short* o,
            int n, int rows, int columns) {
    const int blocks = (n + 255) / 256;
    discount<<<blocks, 256>>>(u, i, v, 0.1, n);
    salesByRegion<<<264, 256>>>(b, x, y, n);
    selectRows<<<blocks, 256>>>(i, 1, 100, j, k, n);
    joinSorted<<<blocks, 256>>>(l, n, r, n, i);
    movingAverage<<<blocks, 256>>>(x, y, n, 16);
    longestOfRows<<<(rows + 127) / 128, 128>>>(x, y, rows, columns);
    normalizeRows<<<(rows + 127) / 128, 128>>>(x, y, rows, columns);
    fingerprints<<<blocks, 256>>>(s, h, n, 20);
    upperCase<<<blocks, 256>>>(text, n);
    documentScores<<<blocks, 256>>>(i, j, x, y, n);
    turnover<<<blocks, 256>>>(trades, x, n);
    mixHalves<<<blocks, 256>>>(p, q, w, __float2half(0.5f), n);
    transposeBytes<<<dim3(columns / 32, columns / 32), dim3(32, 32)>>>(c, c, columns);
    blockMaximum<int, 256><<<blocks, 256>>>(i, j, n);
    taxBracket<<<blocks, 256>>>(x, y, z, x, n, 12);
    convert<<<16, 64>>>(m, x, 1 << 24);
    stereoToMono<<<blocks, 256>>>(m, o, n);
    similarity<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, y, z, rows, columns, 64);
}
