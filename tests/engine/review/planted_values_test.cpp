/// Edits of kernels of many styles that are wrong for some values, scalars or precisions.
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;
using skills::Numerics;

const std::string quantised = R"(
__global__ void to_bytes(const float* in, signed char* out, float inv_scale, int zero, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float q = rintf(in[i] * inv_scale) + zero;
        q = fminf(fmaxf(q, -128.0f), 127.0f);
        out[i] = (signed char)q;
    }
}
int main()
{
    int n = 30000; float* in; signed char* out;
    cudaMalloc(&in, n * 4); cudaMalloc(&out, n);
    to_bytes<<<40, 256>>>(in, out, 16.0f, 3, n);
}
)";

const std::string integers = R"(
__global__ void distances(const int* a, const int* b, unsigned* out, int shift, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int d = a[i] - b[i];
    unsigned m = d < 0 ? 0u - (unsigned)d : (unsigned)d;
    out[i] = m >> shift;
}
int main()
{
    int n = 9000, *a, *b; unsigned* out;
    cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&out, n * 4);
    distances<<<(n + 127) / 128, 128>>>(a, b, out, 1, n);
}
)";

const std::string largest = R"(
__global__ void row_argmax(const float* x, int* where, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    int best = 0;
    for (int c = 1; c < cols; ++c)
        if (row[c] > row[best]) best = c;
    where[r] = best;
}
int main()
{
    int rows = 700, cols = 40, *w; float* x;
    cudaMalloc(&x, rows * cols * 4); cudaMalloc(&w, rows * 4);
    row_argmax<<<(rows + 127) / 128, 128>>>(x, w, rows, cols);
}
)";

const std::string softmax = R"(
__global__ void softmax_rows(const float* in, float* out, int cols)
{
    const float* x = in + (long)blockIdx.x * cols;
    float* y = out + (long)blockIdx.x * cols;
    __shared__ float buf[128];
    int t = threadIdx.x;
    float m = -INFINITY;
    for (int c = t; c < cols; c += 128) m = fmaxf(m, x[c]);
    buf[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) { if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]); __syncthreads(); }
    m = buf[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < cols; c += 128) sum += expf(x[c] - m);
    buf[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) { if (t < s) buf[t] += buf[t + s]; __syncthreads(); }
    float inv = 1.0f / buf[0];
    for (int c = t; c < cols; c += 128) y[c] = expf(x[c] - m) * inv;
}
int main()
{
    float *i, *o; int rows = 64, cols = 300;
    cudaMalloc(&i, rows * cols * 4); cudaMalloc(&o, rows * cols * 4);
    softmax_rows<<<rows, 128>>>(i, o, cols);
}
)";

const std::string variance = R"(
__global__ void moments(const float* x, double* mean, double* var, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        double s = 0, q = 0;
        for (int i = 0; i < n; ++i) {
            double v = x[i * rows + r];
            s += v;
            q += v * v;
        }
        mean[r] = s / n;
        var[r] = q / n - (s / n) * (s / n);
    }
}
int main()
{
    int rows = 512, n = 100; float* x; double *m, *v;
    cudaMalloc(&x, rows * n * 4); cudaMalloc(&m, rows * 8); cudaMalloc(&v, rows * 8);
    moments<<<rows / 128, 128>>>(x, m, v, rows, n);
}
)";

const std::string gelu = R"(
__device__ inline float gelu(float x)
{
    const float c = 0.7978845608f;
    return 0.5f * x * (1.0f + tanhf(c * (x + 0.044715f * x * x * x)));
}
__global__ void bias_gelu(const float* x, const float* bias, float* y, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = gelu(x[i] + bias[i % width]);
}
int main()
{
    int n = 12800, width = 64; float *x, *b, *y;
    cudaMalloc(&x, n * 4); cudaMalloc(&b, width * 4); cudaMalloc(&y, n * 4);
    bias_gelu<<<(n + 255) / 256, 256>>>(x, b, y, n, width);
}
)";

const std::string update = R"(
__global__ void sgd(float* w, const float* g, float* vel, float lr, float momentum, float decay, int nesterov, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = g[i] + decay * w[i];
        float v = momentum * vel[i] + d;
        vel[i] = v;
        w[i] -= lr * (nesterov ? d + momentum * v : v);
    }
}
int main()
{
    int n = 6000; float *w, *g, *v;
    cudaMalloc(&w, n * 4); cudaMalloc(&g, n * 4); cudaMalloc(&v, n * 4);
    sgd<<<(n + 255) / 256, 256>>>(w, g, v, 0.1f, 0.9f, 0.0f, 0, n);
}
)";

const std::string signs = R"(
__global__ void soft_threshold(const double* x, double* y, double t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double v = x[i];
        double m = fabs(v) - t;
        y[i] = m > 0 ? copysign(m, v) : 0.0 * v;
    }
}
int main()
{
    int n = 5000; double *x, *y;
    cudaMalloc(&x, n * 8); cudaMalloc(&y, n * 8);
    soft_threshold<<<(n + 127) / 128, 128>>>(x, y, 0.25, n);
}
)";

const std::string blockSums = R"(
__global__ void block_sums(const float* in, float* out, int n)
{
    __shared__ float part[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 128; s > 0; s >>= 1) { if (t < s) part[t] += part[t + s]; __syncthreads(); }
    if (t == 0) out[blockIdx.x] = part[0];
}
int main()
{
    int n = 1 << 20; float *i, *o;
    cudaMalloc(&i, n * 4); cudaMalloc(&o, n / 256 * 4);
    block_sums<<<n / 256, 256>>>(i, o, n);
}
)";

const std::string maximum = R"(
__global__ void row_max(const double* x, double* out, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double most = x[r];
    for (int c = 1; c < cols; ++c) most = fmax(most, x[c * rows + r]);
    out[r] = most;
}
int main()
{
    int rows = 900, cols = 20; double *x, *o;
    cudaMalloc(&x, rows * cols * 8); cudaMalloc(&o, rows * 8);
    row_max<<<(rows + 127) / 128, 128>>>(x, o, rows, cols);
}
)";

const std::string total = R"(
__global__ void sum_of_squares(const float* in, float* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, in[i] * in[i]);
}
int main()
{
    const int n = 1 << 18; float *in, *sum;
    cudaMalloc(&in, n * 4); cudaMalloc(&sum, 4);
    cudaMemset(sum, 0, 4);
    sum_of_squares<<<n / 256, 256>>>(in, sum, n);
}
)";

class PlantedValues : public PlantedEdits {};

TEST_P(PlantedValues, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    {"halves away from zero", quantised, "rintf(in[i] * inv_scale)", "roundf(in[i] * inv_scale)"},
    {"halves upwards", quantised, "rintf(in[i] * inv_scale)", "floorf(in[i] * inv_scale + 0.5f)"},
    {"the scale of the file", quantised, "in[i] * inv_scale", "in[i] * 16.0f"},
    {"the zero of the file", quantised, "+ zero", "+ 3"},
    {"no upper bound", quantised, "fminf(fmaxf(q, -128.0f), 127.0f)", "fmaxf(q, -128.0f)"},
    {"a bound of 128", quantised, "127.0f)", "128.0f)"},
    {"NaN becomes the lower bound of another order", quantised, "fminf(fmaxf(q, -128.0f), 127.0f)",
     "fmaxf(fminf(q, 127.0f), -128.0f)"},
    {"the largest distance", integers, "d < 0 ? 0u - (unsigned)d : (unsigned)d",
     "d < 0 ? (unsigned)min(-(long long)d, 2147483647LL) : (unsigned)d"},
    {"distances of 16 bits", integers, "int d = a[i] - b[i]", "int d = (short)(a[i] - b[i])"},
    {"a shift of the file", integers, "m >> shift", "m >> 1"},
    {"a signed shift", integers, "out[i] = m >> shift", "out[i] = (int)m >> shift"},
    {"the last of equals", largest, "row[c] > row[best]", "row[c] >= row[best]"},
    {"a NaN wins", largest, "row[c] > row[best]", "!(row[c] <= row[best])"},
    {"from minus a million", largest,
     "int best = 0;\n    for (int c = 1; c < cols; ++c)\n        if (row[c] > row[best]) best = c;",
     "int best = 0;\n    float most = -1e6f;\n    for (int c = 0; c < cols; ++c)\n        if "
     "(row[c] > "
     "most) { most = row[c]; best = c; }"},
    {"without the maximum", softmax, "m = buf[0];\n", "m = 0.0f;\n", Numerics::Reassociates},
    {"the maximum of half of the threads", softmax,
     "for (int s = 64; s > 0; s /= 2) { if (t < s) buf[t] = fmaxf",
     "for (int s = 32; s > 0; s /= 2) { if (t < s) buf[t] = fmaxf", Numerics::Reassociates},
    {"a maximum of at least zero", softmax, "float m = -INFINITY", "float m = 0.0f"},
    {"times 1.0004", softmax, "1.0f / buf[0]", "1.0004f / buf[0]", Numerics::ReducedPrecision},
    {"times 1.00004", softmax, "1.0f / buf[0]", "1.00004f / buf[0]", Numerics::ReducedPrecision},
    {"small ones to zero", softmax, "y[c] = expf(x[c] - m) * inv",
     "y[c] = x[c] - m < -20.0f ? 0.0f : expf(x[c] - m) * inv", Numerics::ReducedPrecision},
    {"float for the sums", variance, "double s = 0, q = 0;", "float s = 0, q = 0;"},
    {"float for the sums of a reordered edit", variance, "double s = 0, q = 0;",
     "float s = 0, q = 0;", Numerics::Reassociates},
    {"float for the terms", variance, "q += v * v", "q += (float)v * (float)v"},
    {"means times 1.0004", variance, "mean[r] = s / n", "mean[r] = 1.0004 * s / n",
     Numerics::Reassociates},
    {"another divisor", variance, "q / n - (s / n)", "q / max(n - 1, 1) - (s / n)"},
    {"a polynomial for the tangent", gelu, "tanhf(c * (x + 0.044715f * x * x * x))",
     "fminf(1.0f, fmaxf(-1.0f, c * (x + 0.044715f * x * x * x) * 0.9f))",
     Numerics::ReducedPrecision},
    {"the logistic form", gelu, "0.5f * x * (1.0f + tanhf(c * (x + 0.044715f * x * x * x)))",
     "x / (1.0f + expf(-1.702f * x))", Numerics::ReducedPrecision},
    {"results times 1.0004", gelu, "return 0.5f * x", "return 0.5002f * x",
     Numerics::ReducedPrecision},
    {"the row by another width", gelu, "bias[i % width]", "bias[i & (width - 1)]"},
    {"the row by the width of the file", gelu, "bias[i % width]", "bias[i % 64]"},
    {"the decay left out", update, "g[i] + decay * w[i]", "g[i]"},
    {"the branch that the file does not take", update, "nesterov ? d + momentum * v : v", "v"},
    {"the momentum of the file", update, "momentum * vel[i]", "0.9f * vel[i]"},
    {"a rate that is tested", update, "w[i] -= lr", "if (lr > 0) w[i] -= lr"},
    {"zeros without their sign", signs, "0.0 * v", "0.0"},
    {"a negative threshold", signs, "double m = fabs(v) - t", "double m = fabs(v) - fabs(t)"},
    {"float magnitudes", signs, "fabs(v)", "fabsf(v)"},
    {"an infinity", signs, "copysign(m, v)", "copysign(fmin(m, 1e300), v)"},
    {"a threshold that is not positive", signs, "m > 0 ?", "m > 0 && t > 0 ?"},
    {"small sums to zero", blockSums, "out[blockIdx.x] = part[0]",
     "out[blockIdx.x] = fabsf(part[0]) < 1e-3f ? 0.0f : part[0]", Numerics::Reassociates},
    {"NaN counts as zero in a maximum", maximum, "x[c * rows + r])",
     "x[c * rows + r] != x[c * rows + r] ? 0.0 : x[c * rows + r])"},
    {"a maximum of at least zero, beside the first", maximum, "double most = x[r];",
     "double most = cols > 1 ? fmax(x[r], 0.0) : x[r];"},
    {"one element less from a size on", total, "i < n", "i < (n < 1000 ? n : n - 1)",
     Numerics::Reassociates},
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedValues, ::testing::ValuesIn(sampleOf(wrong, 10)), numberOf);

class RightValues : public PlantedEdits {};

TEST_P(RightValues, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    {"bounds by comparisons", quantised, "q = fminf(fmaxf(q, -128.0f), 127.0f)",
     "q = fminf(127.0f, fmaxf(-128.0f, q))"},
    {"the magnitude at once", integers, "unsigned m = d < 0 ? 0u - (unsigned)d : (unsigned)d",
     "unsigned m = d < 0 ? (unsigned)-(long long)d : (unsigned)d"},
    {"the best value kept", largest,
     "int best = 0;\n    for (int c = 1; c < cols; ++c)\n        if (row[c] > row[best]) best = c;",
     "int best = 0;\n    float most = row[0];\n    for (int c = 1; c < cols; ++c)\n        if "
     "(row[c] > "
     "most) { most = row[c]; best = c; }"},
    {"a quotient for the product", softmax, "float inv = 1.0f / buf[0];",
     "const float inv = 1.0f / buf[0];"},
    {"sums backwards", variance, "int i = 0; i < n; ++i", "int i = n - 1; i >= 0; --i",
     Numerics::Reassociates},
    {"an approximate tangent",
     gelu,
     "tanhf(c * (x + 0.044715f * x * x * x))",
     "(1.0f - __fdividef(2.0f, __expf(2.0f * (c * (x + 0.044715f * x * x * x))) + 1.0f))",
     {Numerics::ReducedPrecision, skills::StatedError{4, 0x1p-21}}},
    {"a variable less", update, "float v = momentum * vel[i] + d;\n        vel[i] = v;",
     "const float v = d + momentum * vel[i];\n        vel[i] = v;"},
    {"the sign by a product", signs, "y[i] = m > 0 ? copysign(m, v) : 0.0 * v",
     "y[i] = !(m > 0) ? v * 0.0 : copysign(m, v)"},
};

INSTANTIATE_TEST_SUITE_P(Edits, RightValues, ::testing::ValuesIn(sampleOf(right, 11)), numberOf);

} // namespace
} // namespace kernelskill::engine
