/// A workspace with a CUDA program that needs no GPU: the stand-in of driver and CUPTI
/// (tests/engine/capture/fake_gpu) runs its kernels on the host.
#pragma once

#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kernelskill::lsp::testing {

/// Sums the columns of a matrix by memory; a second kernel is as it should be.
inline constexpr const char* columnProgram = R"(#include <cstdio>
#include <vector>

__global__ void columnSums(const float* a, float* sums, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        sums[column] = 0;
        for (int row = 0; row < rows; ++row)
            sums[column] += a[row * columns + column];
    }
}

__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

int main() {
    const int rows = 8, columns = 65536;
    std::vector<float> a(rows * columns), sums(columns);
    for (int i = 0; i < rows * columns; ++i)
        a[i] = static_cast<float>(i % 7);
    float *da, *ds, *dt;
    cudaMalloc(&da, a.size() * sizeof(float));
    cudaMalloc(&ds, sums.size() * sizeof(float));
    cudaMalloc(&dt, sums.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    columnSums<<<columns / 128, 128>>>(da, ds, rows, columns);
    scale<<<32, 128>>>(ds, dt, 4096);
    cudaMemcpy(sums.data(), ds, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : sums)
        total += value;
    std::printf("total %.1f\n", total);
}
)";

class FakeCudaWorkspace : public ::testing::Test {
protected:
    FakeCudaWorkspace() {
        ::setenv("LD_LIBRARY_PATH", paths::fakeGpuFolder, 1);
        ::setenv("XDG_DATA_HOME", elsewhere.path("data").c_str(), 1);
        ::unsetenv("KERNELSKILL_IGNORE_TOOLKIT"); // The toolkit is the test's own.
        putCupti(std::filesystem::path(paths::fakeGpuFolder) / "libcupti.so.13");
    }
    ~FakeCudaWorkspace() override {
        for (const char* name : {"LD_LIBRARY_PATH", "XDG_DATA_HOME"})
            ::unsetenv(name);
    }

    void putCupti(const std::filesystem::path& library) const {
        static_cast<void>(elsewhere.write("toolkit/include/cuda_runtime.h", ""));
        std::filesystem::create_directories(elsewhere.path("toolkit/lib64"));
        std::filesystem::remove(elsewhere.path("toolkit/lib64/libcupti.so"));
        std::filesystem::create_symlink(library, elsewhere.path("toolkit/lib64/libcupti.so"));
    }

    /// `words` begin with the subcommand.
    [[nodiscard]] CommandResult run(std::vector<std::string> words) const {
        words.insert(words.begin() + 1, {"--cuda-path", elsewhere.path("toolkit")});
        return runKernelskill(words, workspace.path());
    }
    /// The command that builds `source`, as a user types it.
    [[nodiscard]] static std::string buildOf(const std::string& source,
                                             const std::string& program) {
        return std::string(paths::fakeGpuFolder) + "/fake-nvcc " + source + " " + program;
    }
    void build(const std::string& source, const std::string& program) const {
        const std::string line = "cd '" + workspace.path() + "' && " + buildOf(source, program);
        ASSERT_EQ(std::system(line.c_str()), 0); // NOLINT: a test's own words
    }
    static std::string read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
    TemporaryWorkspace elsewhere;
};

} // namespace kernelskill::lsp::testing
