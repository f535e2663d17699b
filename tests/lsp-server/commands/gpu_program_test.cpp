// Profiles and optimises a whole program that nvcc builds. Skips where there is no GPU.
#include "tests/lsp-server/commands/gpu_workspace.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Neighbouring threads of `rowSums` read a row apart; `scale` is as it should be. All sums are
// exact, in whatever order.
constexpr const char* program = R"(#include <cstdio>
#include <vector>

__global__ void rowSums(const float* a, float* sums, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int column = 0; column < columns; ++column)
            sum += a[row * columns + column];
        sums[row] = sum;
    }
}

__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

int main() {
    const int rows = 2048, columns = 2048;
    std::vector<float> a(rows * columns), sums(rows);
    for (int i = 0; i < rows * columns; ++i)
        a[i] = static_cast<float>(i % 7);
    float *da, *ds, *dt;
    cudaMalloc(&da, a.size() * sizeof(float));
    cudaMalloc(&ds, sums.size() * sizeof(float));
    cudaMalloc(&dt, sums.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (int round = 0; round < 10; ++round) {
        rowSums<<<(rows + 127) / 128, 128>>>(da, ds, rows, columns);
        scale<<<(rows + 127) / 128, 128>>>(ds, dt, rows);
    }
    cudaMemcpy(sums.data(), dt, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : sums)
        total += value;
    std::printf("total %.0f %s\n", total, cudaGetErrorString(cudaGetLastError()));
}
)";

class GpuProgram : public testing::GpuWorkspace {
protected:
    void SetUp() override {
        GpuWorkspace::SetUp();
        if (IsSkipped())
            return;
        write("program.cu", program);
        write(".gitignore", "data\ncache\nmessages\n");
    }
    static json kernelNamed(const json& document, const std::string& name) {
        for (const auto& kernel : document.at("kernels"))
            if (kernel.at("name").get<std::string>().starts_with(name))
                return kernel;
        return nullptr;
    }
    [[nodiscard]] std::string source() const { return text(folder_.path() / "program.cu"); }
    static std::string optimize(const std::string& options) {
        return "optimize --json --seed 1 --seconds 30 --build '" + buildOf("program") + "' " +
               options + " -- ./program";
    }
};

TEST_F(GpuProgram, ProfilesTheWholeAndTheHotKernels) {
    const auto built = sh(buildOf("program"));
    ASSERT_EQ(built.status, 0) << built.output << messages();
    const auto document = run("profile --json -- ./program").document();
    ASSERT_TRUE(document.is_object()) << messages();
    std::printf("%s\n", document.dump(1).substr(0, 3000).c_str());
    EXPECT_EQ(document.at("status"), 0);
    ASSERT_EQ(document.at("kernels").size(), 2u);
    const auto& hot = document.at("kernels").at(0);
    EXPECT_EQ(hot.at("name"), "rowSums(float const*, float*, int, int)");
    EXPECT_EQ(hot.at("file"), "program.cu");
    EXPECT_EQ(hot.at("line"), 3);
    EXPECT_EQ(hot.at("launches"), 10);
    EXPECT_GT(hot.at("share"), 0.05);
    EXPECT_EQ(hot.at("profile").at("executor"), "gpu");
    EXPECT_EQ(hot.at("profile").at("launch").at("origin"), "captured");
    EXPECT_GT(hot.at("roofline_percent"), 0);
    EXPECT_FALSE(hot.at("bottleneck").at("kind").get<std::string>().empty());
    const auto& device = document.at("devices").at(0);
    EXPECT_GT(device.at("copies_ns"), 0);
    EXPECT_GE(device.at("copied_bytes"), 2048 * 2048 * 4);
    EXPECT_GT(device.at("idle_ns"), 0);
    const auto table = run("profile --no-details -- ./program");
    EXPECT_EQ(table.status, 0) << messages();
    EXPECT_THAT(table.output, HasSubstr("rowSums(float const*, float*, int, int)  program.cu:4"));
    std::printf("%s\n", table.output.c_str());
}

TEST_F(GpuProgram, OptimisesItAndWritesWhatIsKept) {
    const auto outcome = run(optimize("--write"));
    ASSERT_EQ(outcome.status, 0) << messages() << outcome.output;
    const auto document = outcome.document();
    ASSERT_TRUE(document.is_object()) << outcome.output;
    std::printf("%s\n%s\n", document.dump(1).c_str(),
                document.at("diff").get<std::string>().c_str());
    EXPECT_EQ(document.at("check"), "output");
    EXPECT_EQ(document.at("written"), true);
    const auto kernel = kernelNamed(document, "rowSums");
    ASSERT_TRUE(kernel.is_object());
    EXPECT_EQ(kernel.at("outcome"), "kept") << kernel.dump(1);
    EXPECT_EQ(kernel.at("executor"), "gpu");
    EXPECT_GT(kernel.at("speedup"), 1.2);
    EXPECT_GT(kernel.at("search_speedup"), 1.2);
    EXPECT_EQ(document.at("gpu_time").at("seconds").size(), 3u);
    EXPECT_EQ(document.at("program_time").at("seconds").size(), 3u);
    EXPECT_NE(source(), program);
    write("edited.cu", source());
    ASSERT_EQ(sh(buildOf("edited")).status, 0) << messages();
    write("original.cu", program);
    ASSERT_EQ(sh(buildOf("original")).status, 0) << messages();
    EXPECT_EQ(sh("./edited").output, sh("./original").output);
}

TEST_F(GpuProgram, TakesBackWhatTheCheckRefuses) {
    // Passes for the original's source alone, which is beside it.
    const auto outcome = run(optimize("--kernel rowSums --check 'cmp program.cu "
                                      "../original/program.cu'"));
    EXPECT_EQ(outcome.status, 1) << messages() << outcome.output;
    const auto document = outcome.document();
    ASSERT_TRUE(document.is_object()) << outcome.output;
    EXPECT_EQ(document.at("diff"), "");
    const auto kernel = kernelNamed(document, "rowSums");
    EXPECT_EQ(kernel.at("outcome"), "taken-back");
    EXPECT_THAT(kernel.at("why").get<std::string>(), HasSubstr("the check ended with status 1"));
    EXPECT_EQ(source(), program);
}

} // namespace
} // namespace kernelskill::lsp
