/// Kernels of 16-bit numbers, run in float64.
#include "engine/comparison/float64_reference.h"
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <cmath>

namespace kernelskill::engine {
namespace {

class SixteenBitForms : public ExecutorFixture {
protected:
    /// The first 32 numbers that the kernel leaves in `y`, in float64.
    std::vector<double> wideOutputs(const std::string& text) {
        const ProgramSource narrow = parse(source("examples/halves.cu"), text);
        const KernelRef kernel{narrow, narrow.model->kernels.at(0)};
        const auto launches = inferLaunches(kernel.file(), kernel.kernel);
        const auto program = doublePrecisionProgram(kernel, toolchain_);
        EXPECT_TRUE(program) << program.error().describe();
        if (!launches || !program)
            return {};
        EXPECT_FALSE(callsFloatFunction(*program));
        auto launch = withDoubleArguments({kernel.file(), kernel.kernel}, launches->front());
        EXPECT_TRUE(launch);
        const KernelRef wide{*program, program->model->kernels.at(0)};
        const auto image = executor_->build(wide, *launch, {});
        EXPECT_TRUE(image) << image.error().describe();
        if (!launch || !image)
            return {};
        Job job;
        job.launch = *launch;
        job.wantOutputs = true;
        const auto result = executor_->run(**image, job, {});
        EXPECT_TRUE(result) << result.error().describe();
        return result ? valuesOf<double>(*result, "y") : std::vector<double>();
    }

    static std::string mapOf(const std::string& header, const std::string& type,
                             const std::string& statements) {
        return "#include <" + header + ">\n__global__ void k(" + type +
               "* y) {\n    const int i = threadIdx.x;\n    const float t = i * 0.1f;\n" +
               statements + "}\nint main() { " + type + "* y; k<<<1, 32>>>(y); }\n";
    }
};

TEST_F(SixteenBitForms, RoundNothing) {
    for (const auto& [header, type, to, from] :
         {std::tuple{"cuda_fp16.h", "__half", "__float2half_rn", "__half2float"},
          std::tuple{"cuda_bf16.h", "__nv_bfloat16", "__float2bfloat16", "__bfloat162float"}}) {
        const auto values =
            wideOutputs(mapOf(header, type,
                              std::string("    ") + type + " a = " + to + "(t), b = " + to +
                                  "(0.3f);\n    y[i] = " + to + "(" + from +
                                  "(__hfma(a, b, __hmul(a, a) - a / (b + " + to +
                                  "(1.0f)))) + (float)hexp(__hneg(a)) + (float)__habs(-b));\n"));
        ASSERT_EQ(values.size(), 32u) << type;
        for (int i = 0; i < 32; ++i) {
            const double a = i * 0.1;
            const double expected = a * 0.3 + (a * a - a / 1.3) + std::exp(-a) + 0.3;
            EXPECT_NEAR(values[static_cast<std::size_t>(i)], expected, 1e-14) << type;
        }
    }
}

TEST_F(SixteenBitForms, AreNotMadeWhereAVariableWouldHaveOtherValues) {
    const auto made = [&](const std::string& variable) {
        const ProgramSource narrow = parse(
            source("examples/halves.cu"),
            "#include <cuda_fp16.h>\n" + variable +
                " w[4];\n__global__ void k(__half* y) { y[threadIdx.x] = w[threadIdx.x % 4]; }\n");
        return doublePrecisionProgram({narrow, narrow.model->kernels.at(0)}, toolchain_);
    };
    EXPECT_TRUE(made("__constant__ float"));
    for (const char* variable : {"__constant__ __half", "__device__ __half"}) {
        const auto refused = made(variable);
        ASSERT_FALSE(refused) << variable;
        EXPECT_TRUE(refused.error().what.starts_with("a variable of 16 bits")) << variable;
    }
}

TEST_F(SixteenBitForms, HavePairsShufflesAndAtomics) {
    const auto values = wideOutputs(mapOf(
        "cuda_fp16.h", "__half2",
        "    __half2 p = __floats2half2_rn(t, 1.0f);\n"
        "    for (int s = 16; s > 0; s >>= 1) p = __hadd2(p, __shfl_xor_sync(0xffffffffu, p, s));\n"
        "    float2 f = __half22float2(p);\n"
        "    __shared__ half sum;\n"
        "    if (i == 0) sum = __float2half(0.0f);\n    __syncthreads();\n"
        "    atomicAdd(&sum, __float2half(0.1f));\n    __syncthreads();\n"
        "    if (i < 16) y[i] = make_half2(__low2half(p) * __float2half(f.y), sum);\n"));
    ASSERT_EQ(values.size(), 32u);
    EXPECT_NEAR(values[0], 49.6 * 32, 1e-11);
    EXPECT_NEAR(values[1], 3.2, 1e-13);
}

} // namespace
} // namespace kernelskill::engine
