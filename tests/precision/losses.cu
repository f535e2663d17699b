// Losses and their gradients.
#include <cmath>
#include <cuda_runtime.h>

enum class Reduction { None, Sum };

template <Reduction R>
__global__ void squaredError(const float* prediction, const float* target, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float d = prediction[i] - target[i];
    if (R == Reduction::None)
        loss[i] = d * d;
    else
        atomicAdd(loss, d * d);
}

__global__ void huber(const float* prediction, const float* target, float* loss, float delta, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = fabsf(prediction[i] - target[i]);
        if (d <= delta)
            loss[i] = 0.5f * d * d;
        else
            loss[i] = delta * (d - 0.5f * delta);
    }
}

// kernelskill: launch crossEntropy<<<40, 128>>>(rows=40, classes=300, logits=rand[12000], label=rand[40, 0..300], loss=zero[40])
__global__ void crossEntropy(const float* logits, const int* label, float* loss, int rows, int classes) {
    __shared__ float scratch[128];
    const float* row = logits + blockIdx.x * classes;
    float m = -INFINITY;
    for (int c = threadIdx.x; c < classes; c += blockDim.x)
        m = fmaxf(m, row[c]);
    scratch[threadIdx.x] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
        __syncthreads();
    }
    m = scratch[0];
    __syncthreads();
    float sum = 0;
    for (int c = threadIdx.x; c < classes; c += blockDim.x)
        sum += expf(row[c] - m);
    scratch[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        loss[blockIdx.x] = logf(scratch[0]) + m - row[label[blockIdx.x]];
}

__global__ void softmaxGradient(const float* probability, const int* label, float* gradient, int rows, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * classes) {
        int r = i / classes, c = i % classes;
        gradient[i] = (probability[i] - (label[r] == c ? 1.0f : 0.0f)) / rows;
    }
}

__global__ void binaryCrossEntropy(const float* x, const float* y, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        loss[i] = fmaxf(x[i], 0.f) - x[i] * y[i] + log1pf(expf(-fabsf(x[i])));
}

__global__ void klDivergence(const double* p, const double* q, double* out, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        double sum = 0;
        for (int c = 0; c < columns; ++c) {
            double a = p[r * columns + c], b = q[r * columns + c];
            if (a > 0.0 && b > 0.0)
                sum += a * log(a / b);
        }
        out[r] = sum;
    }
}

__global__ void contrastive(const float* a, const float* b, const unsigned char* same, float* loss, int pairs, int dim, float margin) {
    int p = blockIdx.x;
    float d = 0;
    for (int k = threadIdx.x; k < dim; k += 32) {
        float e = a[p * dim + k] - b[p * dim + k];
        d += e * e;
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        d += __shfl_xor_sync(0xffffffff, d, offset);
    if (threadIdx.x == 0 && p < pairs) {
        float far = fmaxf(0.f, margin - sqrtf(d));
        loss[p] = same[p] ? d : far * far;
    }
}

void loss(const float* x, const float* y, float* out, const int* label, const double* p, double* q, const unsigned char* same) {
    squaredError<Reduction::None><<<(6001 + 255) / 256, 256>>>(x, y, out, 6001);
    squaredError<Reduction::Sum><<<(6001 + 255) / 256, 256>>>(x, y, out, 6001);
    huber<<<(6001 + 255) / 256, 256>>>(x, y, out, 0.25f, 6001);
    softmaxGradient<<<(40 * 300 + 127) / 128, 128>>>(x, label, out, 40, 300);
    binaryCrossEntropy<<<(6001 + 127) / 128, 128>>>(x, y, out, 6001);
    klDivergence<<<2, 128>>>(p, q, q + 100000, 200, 50);
    contrastive<<<100, 32>>>(x, y, same, out, 100, 96, 1.0f);
}
