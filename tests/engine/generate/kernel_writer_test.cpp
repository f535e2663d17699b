/// The text of generated kernels and their launchers.
#include "engine/generate/kernel_writer.h"
#include "tests/engine/generate/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::LoopFile;
using ::testing::HasSubstr;
using ::testing::Not;

WrittenFunction writtenAll(const std::string& text) {
    const LoopFile loops(text);
    const auto parallel = findParallelFunction(loops.file(), loops.function());
    EXPECT_TRUE(parallel) << parallel.error().reason;
    DerivedNames names(*loops.file().source, loops.function());
    return parallel ? writeFunction(loops.file(), loops.function(), *parallel, names)
                    : WrittenFunction{};
}

/// The result for a function that becomes one kernel.
struct OneKernel {
    std::string kernelName;
    std::string kernel;
    std::string grid;
    std::string launcher;
};

OneKernel written(const std::string& text) {
    const WrittenFunction all = writtenAll(text);
    EXPECT_EQ(all.kernels.size(), 1U);
    if (all.kernels.empty())
        return {};
    const WrittenKernel& kernel = all.kernels.front();
    return {kernel.name, kernel.text, kernel.grid, all.launcher};
}

TEST(KernelWriter, KeepsBodyCommentsAndNames) {
    const OneKernel result = written("void saxpy(int n, float a, const float *x, float *y)\n{\n"
                                     "  const float twice = 2 * a; // of both\n"
                                     "  #pragma omp parallel for\n"
                                     "  for (int i = 0; i < n; ++i)\n  {\n"
                                     "    y[i] = 0;\n"
                                     "    // skip what is negative\n"
                                     "    if (x[i] < 0)\n"
                                     "      continue;\n"
                                     "    y[i] = twice * x[i]; // scaled\n"
                                     "  }\n}\n");
    EXPECT_EQ(result.kernel,
              "// One thread for each i of saxpy.\n"
              "__global__ void saxpy_kernel(int n, float a, const float *x, float *y) {\n"
              "  const float twice = 2 * a; // of both\n"
              "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  if (i >= n)\n"
              "    return;\n"
              "  y[i] = 0;\n"
              "  // skip what is negative\n"
              "  if (x[i] < 0)\n"
              "    return;\n"
              "  y[i] = twice * x[i]; // scaled\n"
              "}\n");
}

TEST(KernelWriter, LaunchesWithEveryErrorLookedAt) {
    const OneKernel result = written("void saxpy(int n, float a, const float* x, float* y) {\n"
                                     "    for (int i = 0; i < n; ++i)\n"
                                     "        y[i] = a * x[i];\n}\n");
    EXPECT_EQ(result.launcher,
              "// saxpy on the GPU, with saxpy_kernel.\n"
              "// x and y must not overlap.\n"
              "cudaError_t saxpy_gpu(int n, float a, const float* x, float* y) {\n"
              "    if (n <= 0)\n"
              "        return cudaSuccess;\n"
              "    float* d_x = nullptr;\n"
              "    float* d_y = nullptr;\n"
              "    const size_t x_bytes = n * sizeof(float);\n"
              "    const size_t y_bytes = n * sizeof(float);\n"
              "    cudaError_t status = cudaMalloc(&d_x, x_bytes);\n"
              "    if (status == cudaSuccess)\n"
              "        status = cudaMalloc(&d_y, y_bytes);\n"
              "    if (status == cudaSuccess)\n"
              "        status = cudaMemcpy(d_x, x, x_bytes, cudaMemcpyHostToDevice);\n"
              "    if (status == cudaSuccess) {\n"
              "        const dim3 block(256);\n"
              "        const dim3 grid((n + block.x - 1) / block.x);\n"
              "        saxpy_kernel<<<grid, block>>>(n, a, d_x, d_y);\n"
              "        status = cudaGetLastError();\n"
              "    }\n"
              "    if (status == cudaSuccess)\n"
              "        status = cudaMemcpy(y, d_y, y_bytes, cudaMemcpyDeviceToHost);\n"
              "    cudaFree(d_x);\n"
              "    cudaFree(d_y);\n"
              "    return status;\n"
              "}\n");
}

TEST(KernelWriter, UsesTheFilesCheckMacroAndCase) {
    const OneKernel result = written(
        "#define CHECK(call) if ((call) != cudaSuccess) __builtin_trap()\n"
        "void addRows(int rowCount, int columns, const double* __restrict__ in, double* out) {\n"
        "\tfor (int row = 0; row < rowCount; row++)\n"
        "\t\tfor (int column = 1; column <= columns; column++)\n"
        "\t\t\tout[row * (columns + 1) + column] += in[row];\n}\n");
    EXPECT_EQ(result.kernelName, "addRowsKernel");
    EXPECT_THAT(result.kernel,
                HasSubstr("\tint row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                          "\tint column = 1 + blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "\tif (row >= rowCount || column > columns)\n"
                          "\t\treturn;\n"));
    EXPECT_THAT(result.launcher, HasSubstr("void addRowsGpu("));
    EXPECT_THAT(result.launcher, HasSubstr("\tCHECK(cudaMalloc(&deviceOut, outBytes));\n"));
    EXPECT_THAT(result.launcher, HasSubstr("\tCHECK(cudaGetLastError());\n"));
    EXPECT_THAT(result.launcher, HasSubstr("dim3 block(32, 8);"));
    EXPECT_THAT(result.launcher, HasSubstr("static_cast<size_t>(rowCount) * columns"));
    EXPECT_THAT(result.launcher,
                HasSubstr("CHECK(cudaMemcpy(deviceOut, out, outBytes, cudaMemcpyHostToDevice));"))
        << "what is not overwritten has to survive";
    EXPECT_THAT(result.launcher, Not(HasSubstr("overlap")));
}

/// The kernel's index, its guard, and the grid.
std::vector<std::string> mapping(const std::string& loop) {
    const OneKernel result =
        written("void f(int n, long m, float* y) {\n    " + loop + "\n        y[i] = 0;\n}\n");
    std::vector<std::string> lines;
    std::istringstream kernel(result.kernel);
    for (std::string line; std::getline(kernel, line);)
        if (line.contains(" i = ") || line.contains("if ("))
            lines.push_back(line.substr(4));
    lines.push_back(result.grid);
    return lines;
}

TEST(KernelWriter, CountsAsTheLoopDoes) {
    using ::testing::ElementsAre;
    EXPECT_THAT(mapping("for (int i = 1; i < n; i += 2)"),
                ElementsAre("int i = 1 + 2 * (blockIdx.x * blockDim.x + threadIdx.x);",
                            "if (i >= n)", "(n - 1 + 511) / 512"));
    EXPECT_THAT(mapping("for (long i = 0; i <= m; i += 4)"),
                ElementsAre("long i = 4 * (static_cast<long>(blockIdx.x) * blockDim.x + "
                            "threadIdx.x);",
                            "if (i > m)", "(m + 1 + 1023) / 1024"));
    EXPECT_THAT(mapping("for (int i = n - 1; i >= 0; --i)"),
                ElementsAre("int i = blockIdx.x * blockDim.x + threadIdx.x;", "if (i > n - 1)",
                            "(n + 255) / 256"))
        << "upwards: neighbouring threads take neighbouring elements in their order";
    EXPECT_THAT(mapping("for (unsigned int i = n; i > 0; i--)"),
                ElementsAre("unsigned int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;",
                            "if (i > n)", "(n + 255) / 256"));
    EXPECT_THAT(mapping("for (int i = 2 * n; i > n; i -= 3)"),
                ElementsAre("int i = 2 * n - 3 * (blockIdx.x * blockDim.x + threadIdx.x);",
                            "if (i <= n)", "(n + 767) / 768"));
    EXPECT_THAT(mapping("for (int i = 0; i != n; i++)"),
                ElementsAre("int i = blockIdx.x * blockDim.x + threadIdx.x;", "if (i >= n)",
                            "(n + 255) / 256"));
}

const std::string dotText = "// Of two vectors.\n"
                            "float dot(int n, const float* a, const float* b) {\n"
                            "    float sum = 0.0f; // in single precision\n"
                            "    // One product after the other.\n"
                            "    for (int i = 0; i < n; ++i)\n"
                            "        sum += a[i] * b[i];\n"
                            "    return sum / 2; // half of it\n}\n";

TEST(ReductionWriter, WritesPartsAndTheirTotal) {
    const WrittenFunction all = writtenAll(dotText);
    ASSERT_EQ(all.kernels.size(), 1U);
    EXPECT_EQ(all.helpers,
              "// The sum of value over a block of whole warps, for its thread 0.\n"
              "__device__ float dot_block_sum(float value) {\n"
              "    __shared__ float warps[32];\n"
              "    for (int offset = 16; offset > 0; offset /= 2)\n"
              "        value += __shfl_down_sync(0xffffffffu, value, offset);\n"
              "    if (threadIdx.x % 32 == 0)\n"
              "        warps[threadIdx.x / 32] = value;\n"
              "    __syncthreads();\n"
              "    if (threadIdx.x < 32) {\n"
              "        value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;\n"
              "        for (int offset = 16; offset > 0; offset /= 2)\n"
              "            value += __shfl_down_sync(0xffffffffu, value, offset);\n"
              "    }\n"
              "    return value;\n"
              "}\n");
    EXPECT_EQ(all.kernels[0].text,
              "// Each block's part of sum.\n"
              "__global__ void dot_kernel(int n, const float* a, const float* b, float* sum_parts) "
              "{\n"
              "    float sum = 0;\n"
              "    // One product after the other.\n"
              "    const unsigned int stride = gridDim.x * blockDim.x;\n"
              "    // wide_i: a stride beyond the last i may be beyond its type.\n"
              "    for (long long wide_i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "         wide_i < n; wide_i += stride) {\n"
              "        int i = static_cast<int>(wide_i);\n"
              "        sum += a[i] * b[i];\n"
              "    }\n"
              "    sum = dot_block_sum(sum);\n"
              "    if (threadIdx.x == 0)\n"
              "        sum_parts[blockIdx.x] = sum;\n"
              "}\n");
    EXPECT_EQ(all.kernels[0].totalText,
              "// Brings the blocks' parts together in parts[0]. For one block.\n"
              "__global__ void dot_total_kernel(unsigned int blocks, float* parts) {\n"
              "    float value = 0;\n"
              "    for (unsigned int part = threadIdx.x; part < blocks; part += blockDim.x)\n"
              "        value += parts[part];\n"
              "    value = dot_block_sum(value);\n"
              "    if (threadIdx.x == 0)\n"
              "        parts[0] = value;\n"
              "}\n");
}

TEST(ReductionWriter, ReturnsTheResultBesideTheError) {
    const std::string launcher = writtenAll(dotText).launcher;
    EXPECT_THAT(launcher, HasSubstr("cudaError_t dot_gpu(int n, const float* a, const float* b, "
                                    "float* result) {\n"
                                    "    float sum = 0.0f; // in single precision\n"));
    EXPECT_THAT(launcher,
                HasSubstr("    const size_t a_bytes = n <= 0 ? 0 : n * sizeof(float);\n"));
    EXPECT_THAT(launcher,
                HasSubstr("    if (n > 0) {\n"
                          "        const unsigned int sum_blocks = n < most_blocks * 256 ? (n + "
                          "255) / 256 : most_blocks;\n"
                          "        dot_kernel<<<sum_blocks, 256>>>(n, d_a, d_b, d_sum_parts);\n"
                          "        dot_total_kernel<<<1, 256>>>(sum_blocks, d_sum_parts);\n"
                          "        status = cudaGetLastError();\n"
                          "        if (status != cudaSuccess)\n"
                          "            return finish(status);\n"
                          "        status = cudaMemcpy(&sum, d_sum_parts, sizeof(sum), "
                          "cudaMemcpyDeviceToHost);\n"
                          "        if (status != cudaSuccess)\n"
                          "            return finish(status);\n"
                          "    }\n"
                          "    *result = sum / 2;\n"
                          "    return finish(cudaSuccess);\n}\n"));
    EXPECT_THAT(launcher, HasSubstr("sum is rounded in another order"));
    const std::string checked =
        writtenAll("#define CHECK(call) if ((call) != cudaSuccess) __builtin_trap()\n" + dotText)
            .launcher;
    EXPECT_THAT(checked, HasSubstr("float dot_gpu(int n, const float* a, const float* b) {\n"));
    EXPECT_THAT(checked, HasSubstr("    CHECK(cudaFree(d_sum_parts));\n    return sum / 2;\n}\n"));
    EXPECT_THAT(checked, Not(HasSubstr("status")));
}

TEST(ReductionWriter, SharesTwoLoopsOutToBlocksAndThreads) {
    const WrittenFunction all = writtenAll("double f(long rows, long columns, const double* m) {\n"
                                           "    double s = 1, top = m[0];\n"
                                           "    for (long r = 0; r < rows; r++)\n"
                                           "        for (long c = 0; c < columns; c++) {\n"
                                           "            s += m[r * columns + c];\n"
                                           "            if (m[r * columns + c] > top)\n"
                                           "                top = m[r * columns + c];\n"
                                           "        }\n"
                                           "    return s + top;\n}\n");
    ASSERT_EQ(all.kernels.size(), 1U);
    EXPECT_THAT(all.kernels[0].text,
                HasSubstr("(long rows, long columns, const double* m, double s, double top, "
                          "double* s_parts, double* top_parts) {\n"
                          "    if (blockIdx.x > 0 || threadIdx.x > 0)\n"
                          "        s = 0; // what it was counts once\n"
                          "    for (long r = blockIdx.x; r < rows; r += gridDim.x) {\n"
                          "        for (long c = threadIdx.x; c < columns; c += blockDim.x) {\n"));
    EXPECT_THAT(all.kernels[0].totalText, HasSubstr("    double s = 0;\n"
                                                    "    double top = top_parts[0];\n"));
    EXPECT_THAT(all.launcher, HasSubstr("s_blocks = rows < most_blocks ? rows : most_blocks;"));
}

TEST(ReductionWriter, SumsOfOneTypeShareWhatBringsTheirPartsTogether) {
    const std::string loop = "    for (int i = 0; i < n; i++)\n        ";
    const WrittenFunction all =
        writtenAll("float f(int n, const float* x) {\n"
                   "    float s = 0, q = 0, m = x[0];\n" +
                   loop + "s += x[i];\n" + loop + "q += x[i] * x[i];\n" + loop +
                   "m = fmaxf(m, x[i]);\n    return s + q * m;\n}\n");
    ASSERT_EQ(all.kernels.size(), 3U);
    EXPECT_EQ(all.kernels[0].totalName, "f_total_sum_kernel");
    EXPECT_EQ(all.kernels[1].totalName, "f_total_sum_kernel");
    EXPECT_EQ(all.kernels[2].totalName, "f_total_max_kernel");
    const std::string text = all.text("\n");
    const std::string head = "void f_total_sum_kernel(";
    ASSERT_NE(text.find(head), std::string::npos);
    EXPECT_EQ(text.find(head), text.rfind(head)) << "it is written once";
}

TEST(KernelWriter, KeepsArraysOnTheGpuFromLoopToLoop) {
    const WrittenFunction all =
        writtenAll("void scale(int n, const float* x, float* y) {\n"
                   "    // Twice.\n"
                   "    for (int i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n"
                   "    const float shift = 1.0f; // by one\n"
                   "    // Then moved.\n"
                   "    for (int i = 0; i < n; i++)\n        y[i] += shift;\n}\n");
    ASSERT_EQ(all.kernels.size(), 2U);
    EXPECT_EQ(all.kernels[0].name, "scale_y_kernel");
    EXPECT_EQ(all.kernels[1].name, "scale_y_kernel2");
    EXPECT_THAT(all.kernels[0].text, HasSubstr("(int n, const float* x, float* y) {\n"
                                               "    // Twice.\n"));
    EXPECT_THAT(all.kernels[1].text, HasSubstr("(int n, float* y, float shift) {\n"
                                               "    // Then moved.\n"));
    EXPECT_THAT(all.launcher,
                HasSubstr("    scale_y_kernel<<<(n + 255u) / 256, 256>>>(n, d_x, d_y);\n"
                          "    status = cudaGetLastError();\n"
                          "    if (status != cudaSuccess)\n"
                          "        return finish(status);\n"
                          "    const float shift = 1.0f; // by one\n"
                          "    scale_y_kernel2<<<(n + 255u) / 256, 256>>>(n, d_y, shift);\n"
                          "    status = cudaGetLastError();\n"
                          "    if (status != cudaSuccess)\n"
                          "        return finish(status);\n"
                          "    return finish(cudaMemcpy(y, d_y, y_bytes, "
                          "cudaMemcpyDeviceToHost));\n}\n"));
    EXPECT_THAT(all.launcher, HasSubstr("    if (n <= 0)\n        return cudaSuccess;\n"));
    EXPECT_THAT(all.launcher, Not(HasSubstr("cudaMemcpy(d_y"))) << "y is made on the GPU";
}

TEST(KernelWriter, LeavesSizesToTheKernelsThatUseThem) {
    const WrittenFunction all =
        writtenAll("int f(int n, const int* x) {\n"
                   "    const int half = 2 * n;\n    const int both = half + n;\n"
                   "    int sum = 0;\n"
                   "    for (int i = 0; i < both; i++)\n        sum += x[i];\n"
                   "    const int count = 4 * n;\n"
                   "    for (int i = 0; i < count; i++)\n        sum += x[i];\n"
                   "    return sum / count;\n}\n");
    ASSERT_EQ(all.kernels.size(), 2U);
    EXPECT_THAT(all.kernels[0].text,
                HasSubstr("    const int half = 2 * n;\n    const int both = half + n;\n"));
    EXPECT_THAT(all.launcher, Not(HasSubstr("half"))) << "it would not be used";
    EXPECT_THAT(all.launcher, Not(HasSubstr("both")));
    EXPECT_THAT(all.launcher, HasSubstr("    const int count = 4 * n;\n"));
}

TEST(KernelWriter, TakesFreeNames) {
    const OneKernel result =
        written("#include <algorithm>\nvoid f_kernel();\nvoid f(unsigned n, float* status) {\n"
                "    for (unsigned i = 0; i < n - 1; ++i)\n"
                "        status[i] = std::max(1.0f, status[i]);\n}\n");
    EXPECT_EQ(result.kernelName, "f_kernel2");
    EXPECT_THAT(result.kernel, HasSubstr("status[i] = max(1.0f, status[i]);"));
    EXPECT_THAT(result.launcher, HasSubstr("cudaError_t status_ = "));
    EXPECT_THAT(result.launcher, HasSubstr("if (n <= 1)")) << "n - 1 would wrap around";
}

TEST(KernelWriter, KeepsLineEnds) {
    const OneKernel result =
        written("void f(int n, float* y) {\r\n    for (int i = 0; i < n; ++i) {\r\n"
                "        y[i] = 0;\r\n        y[i] += 1;\r\n    }\r\n}\r\n");
    EXPECT_THAT(result.kernel, HasSubstr("    y[i] = 0;\r\n    y[i] += 1;\r\n}\r\n"));
}

} // namespace
} // namespace kernelskill::engine
