/// The text of generated kernels and their launchers.
#include "engine/agents/generate/kernel_writer.h"
#include "tests/engine/agents/generate/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::LoopFile;
using ::testing::HasSubstr;
using ::testing::Not;

WrittenKernel written(const std::string& text) {
    const LoopFile loops(text);
    const auto nest = findParallelNest(loops.file(), loops.function());
    EXPECT_TRUE(nest) << nest.error().reason;
    return nest ? writeKernel(loops.file(), loops.function(), *nest) : WrittenKernel{};
}

TEST(KernelWriter, KeepsBodyCommentsAndNames) {
    const WrittenKernel result = written("void saxpy(int n, float a, const float *x, float *y)\n{\n"
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
    const WrittenKernel result = written("void saxpy(int n, float a, const float* x, float* y) {\n"
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
    const WrittenKernel result = written(
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
    const WrittenKernel result =
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

TEST(KernelWriter, TakesFreeNames) {
    const WrittenKernel result =
        written("#include <algorithm>\nvoid f_kernel();\nvoid f(unsigned n, float* status) {\n"
                "    for (unsigned i = 0; i < n - 1; ++i)\n"
                "        status[i] = std::max(1.0f, status[i]);\n}\n");
    EXPECT_EQ(result.kernelName, "f_kernel2");
    EXPECT_THAT(result.kernel, HasSubstr("status[i] = max(1.0f, status[i]);"));
    EXPECT_THAT(result.launcher, HasSubstr("cudaError_t status_ = "));
    EXPECT_THAT(result.launcher, HasSubstr("if (n <= 1)")) << "n - 1 would wrap around";
}

TEST(KernelWriter, KeepsLineEnds) {
    const WrittenKernel result =
        written("void f(int n, float* y) {\r\n    for (int i = 0; i < n; ++i) {\r\n"
                "        y[i] = 0;\r\n        y[i] += 1;\r\n    }\r\n}\r\n");
    EXPECT_THAT(result.kernel, HasSubstr("    y[i] = 0;\r\n    y[i] += 1;\r\n}\r\n"));
}

} // namespace
} // namespace kernelskill::engine
