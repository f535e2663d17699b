/// A workspace whose program `kernelskill optimize -- ./program` searches, on a stand-in of driver
/// and CUPTI.
#pragma once

#include "tests/lsp-server/commands/fake_cuda_workspace.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::lsp::testing {

/// Only the program can pass its kernel's argument.
inline constexpr const char* viewProgram = R"(#include <cstdio>
#include <vector>

struct View {
    const float* x;
    int length;
};

__global__ void scale(View from, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * from.x[i];
}

int main() {
    const int n = 65536;
    std::vector<float> a(n);
    for (int i = 0; i < n; ++i)
        a[i] = static_cast<float>(i % 7);
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<n / 128, 128>>>(View{dx, n}, dy, n);
    cudaMemcpy(a.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : a)
        total += value;
    std::printf("total %.1f\n", total);
}
)";

class OptimizeProgramWorkspace : public FakeCudaWorkspace {
protected:
    OptimizeProgramWorkspace() {
        ::setenv("TMPDIR", elsewhere.path().c_str(), 1);
        workspace.write("columns.cu", columnProgram);
    }
    ~OptimizeProgramWorkspace() override { ::unsetenv("TMPDIR"); }

    [[nodiscard]] CommandResult optimize(std::vector<std::string> options,
                                         const std::string& program = "./columns",
                                         const std::string& executor = "emulator") const {
        if (std::ranges::find(options, "--seconds") == options.end())
            options.insert(options.end(), {"--seconds", "120"});
        options.insert(options.begin(),
                       {"optimize", "--on", executor, "--seed", "1", "--rounds", "1"});
        if (!program.empty())
            options.insert(options.end(), {"--", program});
        return run(options);
    }
    /// Writes the program, searches inside it, and returns the JSON document of a search that found
    /// something; a discarded value if it failed.
    [[nodiscard]] json searchedInside(const std::string& text,
                                      std::string* messages = nullptr) const {
        workspace.write("columns.cu", text);
        const auto result = optimize({"--json", "--build", build()}, "./columns", "auto");
        EXPECT_EQ(result.status, 0) << result.errors << result.output;
        if (messages != nullptr)
            *messages = result.errors;
        return json::parse(result.output, nullptr, false);
    }
    /// Whether candidates can be compiled for a GPU, by the nvcc of this machine.
    [[nodiscard]] bool hasCompiler() const {
        const std::filesystem::path compilers = "/usr/local/cuda/bin";
        if (!std::filesystem::exists(compilers / "nvcc"))
            return false;
        std::filesystem::create_directory_symlink(compilers, elsewhere.path("toolkit/bin"));
        return true;
    }
    /// The two kernels of kernel-fusion's example, and a program that launches them.
    [[nodiscard]] static std::string fusibleProgram() {
        const std::string example =
            read(std::string(paths::sourceFolder) + "/skills/kernel-fusion/before.cu");
        const auto begin = example.find("__global__");
        return "#include <cstdio>\n#include <vector>\n\n" +
               example.substr(begin, example.find("void run(") - begin) + R"(int main() {
    const int n = 10000;
    std::vector<float> x(n), b(n);
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i % 7);
        b[i] = static_cast<float>(i % 5);
    }
    float *dx, *db, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&db, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<(n + 127) / 128, 128>>>(dx, dy, 0.5f, n);
    addBias<<<(n + 127) / 128, 128>>>(dy, db, n);
    cudaMemcpy(x.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : x)
        total += value;
    std::printf("total %.1f\n", total);
}
)";
    }
    [[nodiscard]] static std::string build() { return buildOf("columns.cu", "columns"); }
    /// The user's tree and the temporary folder have what the test has put there.
    void expectNothingLeft() const {
        for (const auto& entry : std::filesystem::directory_iterator(workspace.path()))
            EXPECT_THAT(entry.path().filename().string(),
                        ::testing::AnyOf("columns.cu", ".kernelskill"));
        for (const auto& entry : std::filesystem::directory_iterator(elsewhere.path()))
            EXPECT_THAT(entry.path().filename().string(),
                        ::testing::AnyOf("toolkit", "data", "pids"));
    }
    /// Splits the program into a header with the kernels and a source with the host's code.
    void writeHeaderAndSource() const {
        const std::string text = columnProgram;
        const auto kernels = text.find("__global__ void columnSums");
        const auto host = text.find("int main");
        workspace.write("kernels.cuh", "#pragma once\n\n" + text.substr(kernels, host - kernels));
        workspace.write("columns.cu", text.substr(0, kernels) + "#include \"kernels.cuh\"\n\n" +
                                          text.substr(host));
    }
};

} // namespace kernelskill::lsp::testing
