/// Edits of the host code around a kernel that pass it other data.
#include "tests/engine/review/colour_grade.h"
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;

/// Three kernels in two streams.
const std::string twostep = R"(
__global__ void prepare(const float* raw, float* norm, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) norm[i] = raw[i] * raw[i]; }
__global__ void smooth(const float* norm, float* res, int n, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0; int c = 0;
    for (int d = -radius; d <= radius; ++d) { int j = i + d; if (j >= 0 && j < n) { s += norm[j]; ++c; } }
    res[i] = s / c;
}
__global__ void scaleAll(float* res, const float* factor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) res[i] *= *factor; }
void pipeline(const float* raw, float* norm, float* res, float* dfactor, const float* hfactor, int n, cudaStream_t a, cudaStream_t b)
{
    const int threads = 128; const int blocks = (n + threads - 1) / threads;
    cudaEvent_t ready; cudaEventCreate(&ready);
    cudaMemsetAsync(res, 0, n * sizeof(float), a);
    cudaMemcpyAsync(dfactor, hfactor, sizeof(float), cudaMemcpyHostToDevice, b);
    cudaEventRecord(ready, b);
    prepare<<<blocks, threads, 0, a>>>(raw, norm, n);
    smooth<<<blocks, threads, 0, a>>>(norm, res, n, 3);
    cudaStreamWaitEvent(a, ready, 0);
    scaleAll<<<blocks, threads, 0, a>>>(res, dfactor, n);
    cudaStreamSynchronize(a);
    cudaEventDestroy(ready);
}
int main() { float *r, *n, *s, *f; float h = 2.f; cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b);
    cudaMalloc(&r, 40000); cudaMalloc(&n, 40000); cudaMalloc(&s, 40000); cudaMalloc(&f, 4); pipeline(r, n, s, f, &h, 10000, a, b); }
)";

/// A prefix sum by two kernels.
const std::string scanblock = R"(
template <int N>
__global__ void scanChunks(const double* in, double* out, double* carry, int n)
{
    __shared__ double buf[2][N];
    int i = blockIdx.x * N + threadIdx.x, cur = 0;
    buf[0][threadIdx.x] = i < n ? in[i] : 0.0;
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        buf[1 - cur][threadIdx.x] = buf[cur][threadIdx.x] + (threadIdx.x >= d ? buf[cur][threadIdx.x - d] : 0.0);
        cur = 1 - cur;
        __syncthreads();
    }
    if (i < n) out[i] = buf[cur][threadIdx.x];
    if (threadIdx.x == N - 1) carry[blockIdx.x] = buf[cur][N - 1];
}
template <int N>
__global__ void addCarry(double* out, const double* carry, int n)
{
    int i = (blockIdx.x + 1) * N + threadIdx.x;
    double c = 0;
    for (int b = 0; b <= blockIdx.x; ++b) c += carry[b];
    if (i < n) out[i] += c;
}
void prefix(const double* in, double* out, double* carry, int n)
{
    const int blocks = (n + 127) / 128;
    scanChunks<128><<<blocks, 128>>>(in, out, carry, n);
    if (blocks > 1) addCarry<128><<<blocks - 1, 128>>>(out, carry, n);
}
int main() { double *i, *o, *c; cudaMalloc(&i, 40000); cudaMalloc(&o, 40000); cudaMalloc(&c, 400); prefix(i, o, c, 5000); }
)";

/// Two functions that launch.
const std::string twohosts = R"(
__global__ void fill(float* to, float value, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = value; }
__global__ void addTo(const float* from, float* to, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] += from[i]; }
void begin(float* a, float* b, int n)
{
    fill<<<(n + 127) / 128, 128>>>(a, 1.0f, n);
    fill<<<(n + 127) / 128, 128>>>(b, 2.0f, n);
}
void step(float* a, float* b, int n) { addTo<<<(n + 127) / 128, 128>>>(a, b, n); }
int main() { float *a, *b; cudaMalloc(&a, 40000); cudaMalloc(&b, 40000); begin(a, b, 10000); step(a, b, 10000); }
)";

/// A class that launches on its own members.
const std::string owner = R"(
__global__ void rescale(const float* in, float* out, float by, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] * by; }
class Image {
public:
    Image(int rows, int columns) : rows_(rows), columns_(columns) { cudaMalloc(&in_, 48000); cudaMalloc(&out_, 48000); }
    void scale() {
        const int n = rows_ * columns_;
        rescale<<<(n + 255) / 256, 256>>>(in_, out_, 3.0f, n);
    }
private:
    float* in_ = nullptr; float* out_ = nullptr;
    int rows_, columns_;
};
int main() { Image image(60, 200); image.scale(); }
)";

class PlantedHost : public PlantedEdits {};

TEST_P(PlantedHost, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    {"constant of 3 entries", saturate, "sizeof(host), 0, cudaMemcpyHostToDevice",
     "2 * sizeof(float), 0, cudaMemcpyHostToDevice"},
    {"on the other stream", twostep, "smooth<<<blocks, threads, 0, a>>>",
     "smooth<<<blocks, threads, 0, b>>>"},
    {"another argument", twostep, "(norm, res, n, 3)", "(raw, res, n, 3)"},
    {"bytes copied", twostep, "hfactor, sizeof(float), cudaMemcpyHostToDevice",
     "hfactor, sizeof(short), cudaMemcpyHostToDevice"},
    {"memset for half", twostep, "cudaMemsetAsync(res, 0, n * sizeof(float), a);",
     "cudaMemsetAsync(norm, 0, n * sizeof(float), b);"},
    {"carries of the sums", scanblock, "addCarry<128><<<blocks - 1, 128>>>(out, carry, n)",
     "addCarry<128><<<blocks - 1, 128>>>(out, out, n)"},
    {"another member", owner, "(in_, out_, 3.0f, n)", "(out_, out_, 3.0f, n)"},
    {"another function waits, this one passes another pointer", twohosts,
     "(b, 2.0f, n);\n}\nvoid step(float* a, float* b, int n) { addTo<<<(n + 127) / 128, 128>>>(a, "
     "b, n); }",
     "(b, 2.0f, n);\n    cudaDeviceSynchronize();\n}\n"
     "void step(float* a, float* b, int n) { addTo<<<(n + 127) / 128, 128>>>(b, b, n); }"},
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedHost, ::testing::ValuesIn(sampleOf(wrong, 3)), numberOf);

class RightHost : public PlantedEdits {};

TEST_P(RightHost, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    {"clamp by functions", saturate, "clampTo(rintf(r), 0.0f, 255.0f)",
     "fminf(fmaxf(rintf(r), 0.0f), 255.0f)"},
    {"limits first", twostep,
     "    for (int d = -radius; d <= radius; ++d) { int j = i + d; if (j >= 0 && j < n) { s += "
     "norm[j]; ++c; } }",
     "    for (int j = max(i - radius, 0); j <= min(i + radius, n - 1); ++j) { s += norm[j]; ++c; "
     "}"},
    {"blocks of 256", twostep, "const int threads = 128;", "const int threads = 256;"},
    {"distance by shift", scanblock, "d *= 2", "d <<= 1"},
    {"members in another order", owner, "rows_ * columns_", "columns_ * rows_"},
    {"waits", twohosts, "(b, 2.0f, n);\n}", "(b, 2.0f, n);\n    cudaDeviceSynchronize();\n}"},
};

INSTANTIATE_TEST_SUITE_P(Edits, RightHost, ::testing::ValuesIn(sampleOf(right, 2)), numberOf);

} // namespace
} // namespace kernelskill::engine
