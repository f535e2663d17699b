// Arithmetic that the emulator counts, against what follows from the kernel by hand.
#include "engine/execution/metric_names.h"
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <array>
#include <cmath>
#include <map>

namespace kernelskill::engine {
namespace {

class EmulatedArithmetic : public ExecutorFixture {
protected:
    Profile profileOf(const std::string& text) {
        program_ = parse(std::filesystem::temp_directory_path() / "arithmetic.cu", text);
        auto result = runFirstKernel(program_);
        EXPECT_TRUE(result) << result.error().describe();
        return result ? result->profile : Profile{};
    }
    static double of(const Metrics& metrics, const char* name) {
        const auto found = metrics.find(name);
        return found == metrics.end() ? 0 : found->second;
    }
    double ofLine(const Profile& profile, const std::string& code, const char* name) {
        const LineMetrics* found = line(profile, lineOf(program_, code), name);
        return found == nullptr ? 0 : of(found->metrics, name);
    }

    ProgramSource program_;
};

TEST_F(EmulatedArithmetic, saxpyIsOneFusedOperationAnElement) {
    const auto profile = profileOf(R"(
// kernelskill: launch saxpy<<<30, 256>>>(a=2.5, x=rand[7552], y=rand[7552], n=7552)
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
)");
    EXPECT_EQ(of(profile.metrics, metric::single.fused), 7552);
    EXPECT_EQ(of(profile.metrics, metric::single.add), 0);
    EXPECT_EQ(of(profile.metrics, metric::single.multiply), 0);
    EXPECT_EQ(of(profile.metrics, metric::floatingOperations), 15104);
    EXPECT_EQ(ofLine(profile, "y[i] = a", metric::single.fused), 7552);
    // x and y read, y written: 90,624 bytes of whole sectors.
    EXPECT_NEAR(of(profile.metrics, metric::operationsPerUniqueByte), 15104.0 / 90624, 1e-9);
    EXPECT_NEAR(of(profile.metrics, metric::operationsPerSectorByte), 15104.0 / 90624, 1e-9);
}

TEST_F(EmulatedArithmetic, matrixProductIsTwoNCubed) {
    const auto profile = profileOf(R"(
// kernelskill: launch matmul<<<(4,4), (16,16)>>>(a=rand[4096], b=rand[4096], c=rand[4096], n=64)
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
)");
    EXPECT_EQ(of(profile.metrics, metric::floatingOperations), 2.0 * 64 * 64 * 64);
    EXPECT_EQ(ofLine(profile, "sum += ta", metric::single.fused), 64.0 * 64 * 64);
}

TEST_F(EmulatedArithmetic, stencilCountsInnerPointsOnly) {
    const auto profile = profileOf(R"(
// kernelskill: launch stencil<<<(4,4), (16,16)>>>(in=rand[4096], out=rand[4096], n=64)
__global__ void stencil(const float* in, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                             in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
)");
    EXPECT_EQ(of(profile.metrics, metric::single.add), 4 * 62 * 62);
    EXPECT_EQ(of(profile.metrics, metric::single.multiply), 62 * 62);
    EXPECT_EQ(of(profile.metrics, metric::floatingOperations), 5 * 62 * 62);
}

TEST_F(EmulatedArithmetic, doublesAreNoFloats) {
    const auto profile = profileOf(R"(
// kernelskill: launch horner<<<4, 128>>>(in=rand[512], out=rand[512])
__global__ void horner(const double* in, double* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i], sum = 1;
    for (int k = 0; k < 10; ++k)
        sum = sum * x + 0.5;
    out[i] = sum - x;
}
)");
    EXPECT_EQ(of(profile.metrics, metric::dbl.fused), 512 * 10);
    EXPECT_EQ(of(profile.metrics, metric::dbl.add), 512);
    EXPECT_EQ(of(profile.metrics, metric::single.fused), 0);
}

TEST_F(EmulatedArithmetic, halvesCountAsInstructionsAndAsOperations) {
    const auto profile = profileOf(R"(
#include <cuda_fp16.h>
// kernelskill: launch mix<<<4, 128>>>(x=rand[512], y=rand[512], z=rand[512])
__global__ void mix(const __half2* x, __half2* y, __half* z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 fused = __hfma2(x[i], x[i], y[i]);
    __half2 product = fused * x[i];
    y[i] = product + fused;
    z[i] = z[i] - __float2half(0.5f);
    atomicAdd(&z[0], z[i]);
}
)");
    EXPECT_EQ(of(profile.metrics, metric::half.fused), 512);
    EXPECT_EQ(of(profile.metrics, metric::half.multiply), 512);
    EXPECT_EQ(of(profile.metrics, metric::half.add), 2 * 512);
    EXPECT_EQ(of(profile.metrics, metric::halfOperations), 512 * (4 + 2 + 2 + 1));
    EXPECT_EQ(of(profile.metrics, metric::floatingOperations), 512 * (4 + 2 + 2 + 1));
    EXPECT_EQ(of(profile.metrics, metric::single.add), 0);
    EXPECT_EQ(ofLine(profile, "__hfma2(x[i]", metric::half.fused), 512);
}

TEST_F(EmulatedArithmetic, intrinsicsAreTheInstructionsTheyName) {
    const auto profile = profileOf(R"(
#include <cuComplex.h>
// kernelskill: launch mix<<<4, 128>>>(x=rand[512], y=rand[512], d=rand[512])
__global__ void mix(const cuFloatComplex* x, cuFloatComplex* y, double* d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuFloatComplex z = cuCmulf(x[i], y[i]);
    y[i] = make_cuFloatComplex(__fmaf_rn(z.x, 2.0f, 1.0f), __fadd_rz(z.y, z.x) - z.x);
    d[i] = fma(d[i], d[i], __dmul_rn(d[i], 3.0));
}
)");
    EXPECT_EQ(of(profile.metrics, metric::single.multiply), 2 * 512);
    EXPECT_EQ(of(profile.metrics, metric::single.fused), (2 + 1) * 512);
    EXPECT_EQ(of(profile.metrics, metric::single.add), 2 * 512);
    EXPECT_EQ(of(profile.metrics, metric::dbl.multiply), 512);
    EXPECT_EQ(of(profile.metrics, metric::dbl.fused), 512);
    EXPECT_EQ(of(profile.metrics, metric::dbl.add), 0);
}

TEST_F(EmulatedArithmetic, lanesThatSkipAreNotCounted) {
    const auto profile = profileOf(R"(
// kernelskill: launch odd<<<2, 64>>>(data=rand[128])
__global__ void odd(float* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = data[i];
    if (i % 2 == 1) {
        for (int k = 0; k < i; ++k)
            value = value * value;
    }
    data[i] = value;
}
)");
    EXPECT_EQ(of(profile.metrics, metric::single.multiply), 64 * 64); // 1 + 3 + ... + 127
}

TEST_F(EmulatedArithmetic, aKernelWithoutSaysNone) {
    const auto profile = profileOf(R"(
// kernelskill: launch copy<<<2, 64>>>(in=rand[128], out=rand[128])
__global__ void copy(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
)");
    ASSERT_TRUE(profile.metrics.contains(metric::floatingOperations));
    EXPECT_EQ(of(profile.metrics, metric::floatingOperations), 0);
}

// The C library leaves open which zero it gives.
TEST_F(EmulatedArithmetic, MinusZeroIsLessThanPlusZero) {
    program_ = parse(std::filesystem::temp_directory_path() / "zeros.cu", R"(
// kernelskill: launch zeros<<<1, 1>>>(in=zero[2], out=zero[12])
__global__ void zeros(const float* in, float* out) {
    float plus = in[0], minus = -in[1], nan = 0.0f / in[0];
    double widePlus = plus, wideMinus = minus;
    out[0] = fmaxf(plus, minus);
    out[1] = fmaxf(minus, plus);
    out[2] = max(minus, plus);
    out[3] = (float)fmax(wideMinus, widePlus);
    out[4] = fminf(plus, minus);
    out[5] = fminf(minus, plus);
    out[6] = min(plus, minus);
    out[7] = (float)fmin(widePlus, wideMinus);
    out[8] = fmaxf(nan, 2.0f);
    out[9] = fminf(3.0f, nan);
    out[10] = fmaxf(1.0f, 2.0f);
    out[11] = fminf(1.0f, 2.0f);
}
)");
    const auto result = runFirstKernel(program_);
    ASSERT_TRUE(result) << result.error().describe();
    const auto out = std::ranges::find(result->outputs, "out", &BufferContents::name);
    ASSERT_NE(out, result->outputs.end());
    std::array<float, 12> values{};
    ASSERT_EQ(out->bytes.size(), sizeof values);
    std::memcpy(values.data(), out->bytes.data(), sizeof values);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(values[i], 0) << i;
        EXPECT_FALSE(std::signbit(values[i])) << i;
    }
    for (int i = 4; i < 8; ++i) {
        EXPECT_EQ(values[i], 0) << i;
        EXPECT_TRUE(std::signbit(values[i])) << i;
    }
    EXPECT_EQ(values[8], 2);
    EXPECT_EQ(values[9], 3);
    EXPECT_EQ(values[10], 2);
    EXPECT_EQ(values[11], 1);
}

TEST_F(EmulatedArithmetic, sampledBlocksStandForAll) {
    const auto profile = profileOf(R"(
// kernelskill: launch scale<<<640, 64>>>(data=rand[40960])
__global__ void scale(float* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = 2.5f * data[i];
}
)");
    EXPECT_LT(profile.blocksRun, 640u);
    EXPECT_EQ(of(profile.metrics, metric::single.multiply), 40960);
}

} // namespace
} // namespace kernelskill::engine
