// Captures a program that nvcc builds, and profiles and checks its kernels with what it passed.
// Skips where there is no GPU.
#include "tests/lsp-server/commands/gpu_workspace.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

// `gather` would read anywhere with indices that are made up; n is known to the program alone.
constexpr const char* program = R"(#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void gather(const float* x, const int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2.0f * x[index[i]];
}

template <typename T, int Block>
__global__ void total(const T* values, T* sums, unsigned count) {
    __shared__ T shared[Block];
    unsigned i = blockIdx.x * Block + threadIdx.x;
    shared[threadIdx.x] = i < count ? values[i] : T(0);
    __syncthreads();
    for (int step = Block / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = shared[0];
}

int main(int, char** words) {
    const int n = std::atoi(words[1]);
    std::vector<float> x(n);
    std::vector<int> index(n);
    for (int i = 0; i < n; ++i) {
        x[i] = 0.5f * i;
        index[i] = n - 1 - i;
    }
    const int blocks = (n + 127) / 128;
    float *dx, *dy, *sums;
    int* di;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMalloc(&sums, blocks * sizeof(float));
    cudaMalloc(&di, n * sizeof(int));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(di, index.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    for (int round = 0; round < 3; ++round) {
        gather<<<(n + 255) / 256, 256, 0, stream>>>(dx, di, dy, n);
        total<float, 128><<<blocks, 128, 0, stream>>>(dy, sums, n);
    }
    cudaStreamSynchronize(stream);
    std::vector<float> parts(blocks);
    cudaMemcpy(parts.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    double all = 0;
    for (float part : parts)
        all += part;
    std::printf("%.0f %s\n", all, cudaGetErrorString(cudaGetLastError()));
    return 5;
}
)";
constexpr int count = 50'000;

class GpuCapture : public testing::GpuWorkspace {
protected:
    void SetUp() override {
        GpuWorkspace::SetUp();
        if (IsSkipped())
            return;
        write("program.cu", program);
        const auto built = sh(buildOf("program"));
        ASSERT_EQ(built.status, 0) << built.output << messages();
    }

    static std::vector<float> floats(const json& path) {
        const std::string bytes = text(path.get<std::string>());
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
        return values;
    }
};

TEST_F(GpuCapture, RecordsTheProgramsDataAndUsesIt) {
    const auto alone = sh("./program " + std::to_string(count));
    ASSERT_EQ(alone.status, 5);
    const auto captured = run("capture -- ./program " + std::to_string(count));
    EXPECT_EQ(captured.status, 5) << messages();
    EXPECT_EQ(captured.output, alone.output);
    EXPECT_THAT(messages(), HasSubstr("captured 2 launches"));

    const auto list = run("capture list --json").document();
    ASSERT_TRUE(list.is_object()) << messages();
    ASSERT_EQ(list.at("launches").size(), 2u) << list.dump(1);
    std::printf("%s\n", list.dump(1).substr(0, 3000).c_str());
    json gather;
    json total;
    for (const auto& launch : list.at("launches"))
        (launch.at("kernel") == "gather" ? gather : total) = launch;
    EXPECT_EQ(gather.at("grid"), json({(count + 255) / 256, 1, 1}));
    EXPECT_EQ(total.at("template_arguments"), json({"float", "128"}));
    ASSERT_EQ(gather.at("parameters").size(), 4u);
    const auto& y = gather.at("parameters").at(2).at("buffer");
    EXPECT_EQ(y.at("bytes"), count * 4);
    const auto after = floats(y.at("after"));
    ASSERT_EQ(after.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        ASSERT_EQ(after[static_cast<std::size_t>(i)], static_cast<float>(count - 1 - i));
    EXPECT_EQ(floats(total.at("parameters").at(0).at("buffer").at("before")), after)
        << "one kernel reads what the other wrote";

    for (const char* executor : {"emulator", "gpu"}) {
        const auto profile =
            run(std::string("profile program.cu --kernel gather --json --on ") + executor);
        ASSERT_EQ(profile.status, 0) << messages();
        const auto report = profile.document();
        EXPECT_EQ(report.at("launch").at("origin"), "captured") << executor;
        EXPECT_EQ(report.at("launch").at("grid"), json({(count + 255) / 256, 1, 1}));
        EXPECT_TRUE(report.at("hazards").empty()) << report.at("hazards").dump(1);
        // Made up, the indices would scatter: 32 sectors a request. The program's are in a row.
        const double sectors =
            report.at("metrics").at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
        EXPECT_NEAR(sectors, 2.0 * count / 8, 0.1 * count / 8) << executor;
    }
}

TEST_F(GpuCapture, ChecksAndTimesEditsOnTheProgramsData) {
    ASSERT_EQ(run("capture -- ./program " + std::to_string(count)).status, 5) << messages();
    const auto applied = run("apply restrict-and-const program.cu:6 --json");
    const auto document = applied.document();
    ASSERT_TRUE(document.is_object()) << messages();
    ASSERT_TRUE(document.contains("verdict")) << document.dump(1);
    const auto verdict = document.at("verdict");
    std::printf("%s\n", verdict.dump(1).c_str());
    bool isReplayed = false;
    for (const auto& check : verdict.at("checks")) {
        EXPECT_TRUE(check.at("passed").get<bool>()) << check.dump(1);
        isReplayed = isReplayed ||
                     check.at("name").get<std::string>().find("as captured") != std::string::npos;
    }
    EXPECT_TRUE(isReplayed) << verdict.dump(1);
}

TEST_F(GpuCapture, KeepsOnlyWhatWasAskedFor) {
    EXPECT_EQ(run("capture --kernel total --launches 2 -- ./program 1000").status, 5) << messages();
    const auto list = run("capture list --json").document();
    ASSERT_EQ(list.at("launches").size(), 2u) << list.dump(1);
    for (const auto& launch : list.at("launches"))
        EXPECT_EQ(launch.at("kernel"), "total");
    EXPECT_EQ(run("capture clear").status, 0);
    EXPECT_EQ(run("capture list").status, 1);
}

} // namespace
} // namespace kernelskill::lsp
