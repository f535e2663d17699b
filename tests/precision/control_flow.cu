// Loops and branches in the forms that people write them.
#include <cuda_runtime.h>

enum Operation { ADD = 0, SUBTRACT, MULTIPLY, NEGATE, COPY };

__global__ void interpret(const unsigned char* program, const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    switch (program[i] % 5) {
    case ADD:
        out[i] = a[i] + b[i];
        break;
    case SUBTRACT:
        out[i] = a[i] - b[i];
        break;
    case MULTIPLY:
        out[i] = a[i] * b[i];
        break;
    case NEGATE:
        out[i] = -a[i];
        break;
    default:
        out[i] = a[i];
    }
}

__global__ void greatestDivisor(const unsigned* a, const unsigned* b, unsigned* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned x = a[i] % 1000 + 1, y = b[i] % 1000 + 1;
        do {
            unsigned r = x % y;
            x = y;
            y = r;
        } while (y != 0);
        d[i] = x;
    }
}

__global__ void newtonRoot(const float* in, float* out, int n, float tolerance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float target = in[i] + 1.0f;
        float guess = target;
        for (int k = 0; k < 20; ++k) {
            float next = 0.5f * (guess + target / guess);
            if (fabsf(next - guess) < tolerance)
                break;
            guess = next;
        }
        out[i] = guess;
    }
}

// Odd threads and even threads do unlike work.
__global__ void alternate(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (threadIdx.x % 2 == 0)
            data[i] = data[i] * 2.0f + 1.0f;
        else
            data[i] = data[i] * 0.5f - 1.0f;
    }
}

__global__ void clampAll(float* v, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (v[i] < low) {
            v[i] = low;
        } else if (v[i] > high) {
            v[i] = high;
        }
    }
}

__global__ void triangularSums(const float* in, float* out, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float s = 0.0f;
    for (int col = 0; col <= row; ++col) s += in[row * n + col];
    out[row] = s;
}

__global__ void countdown(int* data, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = data[i], left = rounds;
        while (left-- > 0) {
            if (v % 3 == 0)
                continue;
            v += left;
        }
        data[i] = v;
    }
}

__global__ void everyOther(const double* in, double* out, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        out[i] = in[i + 1];
        out[i + 1] = in[i];
    } else if (i < n) {
        out[i] = in[i];
    }
}

__global__ void firstAbove(const float* rows, int* where, int rowCount, int columns, float threshold) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rowCount) {
        int c;
        for (c = 0; c < columns && rows[r * columns + c] <= threshold; c++)
            ;
        where[r] = c;
    }
}

__global__ void nestedPolynomials(const float* x, float* y, int n, int terms, int degree) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(i < n))
        return;
    float total = 0;
    for (int t = 1; t <= terms; t++) {
        float power = 1;
        for (int d = 0; d < degree; d++)
            power *= x[i] / t;
        total += power;
    }
    y[i] = total;
}

void flow(const unsigned char* p, float* a, float* b, float* c, unsigned* u, int* w, double* d) {
    constexpr int n = 4099, block = 128, grid = (n + block - 1) / block;
    interpret<<<grid, block>>>(p, a, b, c, n);
    greatestDivisor<<<grid, block>>>(u, u, u, n);
    newtonRoot<<<grid, block>>>(a, b, n, 1e-5f);
    alternate<<<grid, block>>>(a, n);
    clampAll<<<grid, block>>>(a, 0.1f, 0.9f, n);
    triangularSums<<<2, 128>>>(a, b, 250);
    countdown<<<grid, block>>>(w, n, 12);
    everyOther<<<(n / 2 + block) / block, block>>>(d, d + 100000, n);
    firstAbove<<<3, 128>>>(a, w, 300, 40, 0.97f);
    nestedPolynomials<<<grid, block>>>(a, b, n, 5, 6);
}
