#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "launch-specialization";

TEST(LaunchSpecialization, MovesAWidthToTheTemplate) {
    checkApplicable(id, R"(
__global__ void filter(const float* in, float* out, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0;
        for (int k = -width; k <= width; k++) sum += in[i + k];
        out[i] = sum;
    }
}
void run(const float* in, float* out, int n) {
    filter<<<(n + 127) / 128, 128>>>(in, out, 4, n);
    filter<<<(n + 127) / 128, 128>>>(in, out, 8, n);
}
)",
                    R"(
template <int width>
__global__ void filter(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0;
        #pragma unroll
        for (int k = -width; k <= width; k++) sum += in[i + k];
        out[i] = sum;
    }
}
void run(const float* in, float* out, int n) {
    filter<4><<<(n + 127) / 128, 128>>>(in, out, n);
    filter<8><<<(n + 127) / 128, 128>>>(in, out, n);
}
)");
}

TEST(LaunchSpecialization, TakesTwoParametersOfAWindowAndAMacro) {
    checkApplicable(id, R"(
#define KW 3
constexpr int KH = 5;
static __global__ void conv(const float *in, const float *w, float *out,
                            int H, int W, const int kh, const int kw)
{
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x >= W - kw + 1 || y >= H - kh + 1) return;
  float acc = 0.f;
  for (int r = 0; r < kh; ++r)
    for (int s = 0; s < kw; ++s)
      acc += w[r * kw + s] * in[(y + r) * W + x + s];
  out[y * W + x] = acc;
}
void run(const float *in, const float *w, float *out, int H, int W) {
  dim3 grid((W + 15) / 16, (H + 15) / 16);
  conv<<<grid, dim3(16, 16)>>>(in, w, out, H, W, KH, KW);
}
)",
                    R"(
#define KW 3
constexpr int KH = 5;
template <int kh, int kw>
static __global__ void conv(const float *in, const float *w, float *out,
                            int H, int W)
{
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x >= W - kw + 1 || y >= H - kh + 1) return;
  float acc = 0.f;
  #pragma unroll
  for (int r = 0; r < kh; ++r)
    #pragma unroll
    for (int s = 0; s < kw; ++s)
      acc += w[r * kw + s] * in[(y + r) * W + x + s];
  out[y * W + x] = acc;
}
void run(const float *in, const float *w, float *out, int H, int W) {
  dim3 grid((W + 15) / 16, (H + 15) / 16);
  conv<KH, KW><<<grid, dim3(16, 16)>>>(in, w, out, H, W);
}
)");
}

TEST(LaunchSpecialization, KeepsAnArrayOfATemplateKernelInRegisters) {
    checkApplicable(id, R"(
template <typename T>
__global__ void smallest(const T* x, T* y, size_t n, int features /* of a point */) {
    size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
    if (i >= n) return;
    T point[16];
    for (int f = 0; f < features; f++)
        point[f] = x[f * n + i];
    T least = point[0];
    for (int f = 1; f < features; f++)
        least = point[f] < least ? point[f] : least;
    y[i] = least;
}
void run(const float* x, float* y, size_t n) {
    smallest<<<(n + 255) / 256, 256>>>(x, y, n, 4);
    smallest<float><<<(n + 255) / 256, 256>>>(y, y, n, 4);
}
)",
                    R"(
template <int features, typename T>
__global__ void smallest(const T* x, T* y, size_t n) {
    size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
    if (i >= n) return;
    T point[16];
    #pragma unroll
    for (int f = 0; f < features; f++)
        point[f] = x[f * n + i];
    T least = point[0];
    #pragma unroll
    for (int f = 1; f < features; f++)
        least = point[f] < least ? point[f] : least;
    y[i] = least;
}
void run(const float* x, float* y, size_t n) {
    smallest<4><<<(n + 255) / 256, 256>>>(x, y, n);
    smallest<4, float><<<(n + 255) / 256, 256>>>(y, y, n);
}
)");
}

TEST(LaunchSpecialization, MakesADivisionOf64BitsAMultiplication) {
    checkApplicable(id, R"(
__global__ void bias(float* x, const float* b, unsigned long long n, unsigned long long plane) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) x[i] += b[i / plane];
}
void run(float* x, const float* b, unsigned long long n) {
    const int side = 14;
    bias<<<(n + 255) / 256, 256>>>(x, b, n, side * side);
}
)",
                    R"(
template <unsigned long long plane>
__global__ void bias(float* x, const float* b, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) x[i] += b[i / plane];
}
void run(float* x, const float* b, unsigned long long n) {
    const int side = 14;
    bias<side * side><<<(n + 255) / 256, 256>>>(x, b, n);
}
)");
}

/// The host asks for the value.
TEST(LaunchSpecialization, ChoosesTheInstanceWhereCallersTellTheValue) {
    checkApplicable(id, R"(
__global__ void pool(const float* in, float* out, int n, const int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = in[i * size];
    for (int k = 1; k < size; ++k)
        best = fmaxf(best, in[i * size + k]);
    out[i] = best;
}

void run(const float* in, float* out, int n, int size, cudaStream_t stream) {
    int blocks = (n + 255) / 256;
    pool<<<blocks, 256, 0, stream>>>(in, out,
                                     n, size);
}

int main() {
    float* x;
    float* y;
    cudaMalloc(&x, 9000 * sizeof(float));
    cudaMalloc(&y, 1000 * sizeof(float));
    run(x, y, 1000, 9, 0);
}
)",
                    R"(
template <int knownSize>
__global__ void pool(const float* in, float* out, int n, int size) {
    if (knownSize > 0)
        size = knownSize;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = in[i * size];
    #pragma unroll
    for (int k = 1; k < size; ++k)
        best = fmaxf(best, in[i * size + k]);
    out[i] = best;
}

void run(const float* in, float* out, int n, int size, cudaStream_t stream) {
    int blocks = (n + 255) / 256;
    if (size == 9)
        pool<9><<<blocks, 256, 0, stream>>>(in, out,
                                         n, size);
    else
        pool<0><<<blocks, 256, 0, stream>>>(in, out,
                                         n, size);
}

int main() {
    float* x;
    float* y;
    cudaMalloc(&x, 9000 * sizeof(float));
    cudaMalloc(&y, 1000 * sizeof(float));
    run(x, y, 1000, 9, 0);
}
)");
}

TEST(LaunchSpecialization, ChoosesTheInstanceForAModeThatIsZeroAtFirst) {
    checkApplicable(id, R"(
__global__ void blend(const float* a, const float* b, float* c, int rows, int n, int blend_mode) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < n)
        for (int row = 0; row < rows; row++) {
            float v = blend_mode == 0 ? a[row * n + col] : a[row * n + col] * b[row * n + col];
            c[row * n + col] = v;
        }
}
int main(int argc, char** argv) {
    int mode = 0;
    if (argc > 1) mode = argv[1][0] - '0';
    float *a, *b, *c;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    blend<<<4, 256>>>(a, b, c, 256, 1024, mode);
}
)",
                    R"(
template <int known_blend_mode>
__global__ void blend(const float* a, const float* b, float* c, int rows, int n, int blend_mode) {
    if (known_blend_mode >= 0)
        blend_mode = known_blend_mode;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < n)
        for (int row = 0; row < rows; row++) {
            float v = blend_mode == 0 ? a[row * n + col] : a[row * n + col] * b[row * n + col];
            c[row * n + col] = v;
        }
}
int main(int argc, char** argv) {
    int mode = 0;
    if (argc > 1) mode = argv[1][0] - '0';
    float *a, *b, *c;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    if (mode == 0)
        blend<0><<<4, 256>>>(a, b, c, 256, 1024, mode);
    else
        blend<-1><<<4, 256>>>(a, b, c, 256, 1024, mode);
}
)");
}

TEST(LaunchSpecialization, DecidesASwitchAndAFlagInALoop) {
    const std::string edited = appliedText(
        id, "enum Act { RELU, NEGATE };\n"
            "__global__ void k(float* x, int n, Act act, bool add) {\n"
            "    for (int r = 0; r < n; ++r) {\n        float v = x[r * 32 + threadIdx.x];\n"
            "        if (add)\n            v += 1;\n        switch (act) {\n"
            "        case RELU: v = v > 0 ? v : 0; break;\n        default: v = -v;\n        }\n"
            "        x[r * 32 + threadIdx.x] = v;\n    }\n}\n"
            "void run(float* x, int n) { k<<<1, 32>>>(x, n, RELU, true); }\n");
    EXPECT_TRUE(edited.contains("template <Act act, bool add>\n__global__ void k(float* x, int n)"))
        << edited;
    EXPECT_TRUE(edited.contains("k<RELU, true><<<1, 32>>>(x, n);")) << edited;
}

TEST(LaunchSpecialization, SeesLoopsOfFunctionsThatAreCalled) {
    const std::string edited = appliedText(
        id, "__device__ float taps(const float* x, int r) {\n    float sum = 0;\n"
            "    for (int j = -r; j <= r; ++j)\n        sum += x[j];\n    return sum;\n}\n"
            "__global__ void k(const float* x, float* y, int radius) {\n"
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    y[i] = taps(x + i, radius);\n}\n"
            "void run(const float* x, float* y) { k<<<8, 256>>>(x, y, 3); }\n");
    EXPECT_TRUE(
        edited.contains("template <int radius>\n__global__ void k(const float* x, float* y) {"))
        << edited;
    EXPECT_TRUE(edited.contains("k<3><<<8, 256>>>(x, y);")) << edited;
}

TEST(LaunchSpecialization, TakesAPinnedValue) {
    const std::string edited =
        appliedText(id, "// kernelskill: launch k<<<8, 256>>>(x=rand, w=6, n=2048)\n"
                        "__global__ void k(float* x, int w, int n) {\n    float sum = 0;\n"
                        "    for (int j = 0; j < w; ++j)\n        sum += x[threadIdx.x + j];\n"
                        "    x[threadIdx.x + w] = sum;\n}\n"
                        "void run(float* x, int w, int n) {\n    k<<<8, 256>>>(x, w, n);\n}\n");
    EXPECT_TRUE(edited.contains("if (w == 6)\n        k<6><<<8, 256>>>(x, w, n);\n")) << edited;
}

TEST(LaunchSpecialization, IsAboutTheLoop) {
    const std::string loop = "for (int k = 0; k < w; ++k)\n        sum += x[i + k];";
    checkTarget(id,
                "__global__ void taps(const float* x, float* y, int w) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float sum = 0;\n    " +
                    loop +
                    "\n    y[i] = sum;\n}\nvoid run(const float* x, float* y) {\n"
                    "    taps<<<8, 256>>>(x, y, 9);\n}\n",
                loop);
}

/// A filter of `width` elements with its launch.
std::string filter(const std::string& parameters, const std::string& body, const std::string& host,
                   const std::string& head = "") {
    return head + "__global__ void k(" + parameters +
           ") {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body +
           "}\nvoid run(const float* x, float* y, int m, int w) {\n" + host + "}\n";
}
const std::string plain = "const float* x, float* y, int width";
const std::string sum = "    float s = 0;\n    for (int j = 0; j < width; ++j)\n        s += x[i + "
                        "j];\n    y[i] = s;\n";
const std::string launch = "    k<<<8, 256>>>(x, y, 9);\n";

class LaunchSpecializationIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(LaunchSpecializationIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, LaunchSpecializationIsNotOffered,
    testing::Values(
        GateCase{"NoLaunch", "no-launch", filter(plain, sum, "")},
        GateCase{"NoScalar", "no-scalar",
                 filter("const float* x, float* y, float f", "    y[i] = f * x[i];\n",
                        "    k<<<8, 256>>>(x, y, 2.f);\n")},
        GateCase{"Changed", "no-scalar",
                 filter(plain, "    for (; width > 0; --width)\n        y[i] += x[i];\n", launch)},
        GateCase{"UnknownValue", "unknown-value",
                 filter(plain, sum, "    k<<<8, 256>>>(x, y, w);\n")},
        GateCase{"LongLoop", "no-gain", filter(plain, sum, "    k<<<8, 256>>>(x, y, 500);\n")},
        GateCase{"ManyRoundsAlone", "no-gain",
                 filter(plain, sum, "    k<<<8, 256>>>(x, y, 20);\n")},
        GateCase{"OnlyAStride", "no-gain", filter(plain, "    y[i] = x[i * width];\n", launch)},
        GateCase{"OneShortDivision", "no-gain",
                 filter(plain, "    y[i] = x[i / width] + x[i % width];\n", launch)},
        GateCase{"ThreadsShareTheLoop", "no-gain",
                 filter(plain,
                        "    for (int j = threadIdx.x; j < width; j += 32)\n        y[j] = i;\n",
                        launch)},
        GateCase{"CLinkage", "c-linkage", filter(plain, sum, launch, "extern \"C\" ")},
        GateCase{"DeclaredBefore", "declared-before",
                 filter(plain, sum, launch, "__global__ void k(" + plain + ");\n")},
        GateCase{"Overloaded", "overloaded",
                 filter(plain, sum, launch, "__global__ void k(float* z) { z[0] = 1; }\n$0")},
        GateCase{"NamedElsewhere", "kernel-named-elsewhere",
                 filter(plain, sum, launch + "    auto f = &k;\n")},
        GateCase{"HeadFromMacro", "template-head",
                 filter("const T* x, T* y, int width", sum, launch,
                        "#define OF_ANY template <typename T>\nOF_ANY ")},
        GateCase{"DefaultArgument", "default-argument",
                 filter("const float* x, float* y, int width, int more = 0", sum, launch)},
        GateCase{"NameHidden", "name-hidden",
                 filter(plain,
                        sum + "    {\n        int width = 3;\n        y[i] += width;\n    }\n",
                        launch)},
        GateCase{"LaunchInACondition", "launch-statement",
                 filter(plain, sum,
                        "    int v = 9;\n    if (m > 0) v = m;\n    if (m > 1)\n        "
                        "k<<<8, 256>>>(x, y, v);\n")},
        GateCase{"Negative", "value-range",
                 filter(plain,
                        "    float s = 0;\n    for (int j = width; j < 5; ++j)\n        s += "
                        "x[i + j];\n    y[i] = s;\n",
                        "    int v = -9;\n    if (m > 0) v = m;\n    k<<<8, 256>>>(x, y, v);\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
