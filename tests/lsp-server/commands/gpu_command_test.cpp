// The command line on a GPU, as a user types it. Skips where there is none.
#include "analysis/source/json.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* transposes = R"(#include <cuda_runtime.h>

__global__ void naive(const float* in, float* out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    if (x < n && y < n)
        out[x * n + y] = in[y * n + x];
}

__global__ void tiled(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    if (x < n && y < n)
        tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

void run(const float* in, float* out) {
    const int n = 4096;
    const dim3 block(32, 32);
    const dim3 grid((n + 31) / 32, (n + 31) / 32);
    naive<<<grid, block>>>(in, out, n);
    tiled<<<grid, block>>>(in, out, n);
}
)";

constexpr const char* outside = R"(#include <cuda_runtime.h>

__global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i + (1 << 24)] = in[i];
}
// kernelskill: launch shift<<<16, 256>>>(n=4096, in=rand[n], out=zero[n])
)";

/// Thirty short launches in a row, and a long one.
constexpr const char* launches = R"(#include <cuda_runtime.h>

__global__ void tick(float* x) { x[threadIdx.x] += 1; }
__global__ void spin(float* x, int n) {
    for (int i = 0; i < n; ++i)
        x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1;
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    for (int i = 0; i < 30; ++i)
        tick<<<1, 256>>>(x);
    spin<<<1, 256>>>(x, 1 << 16);
    float result = 0;
    cudaMemcpy(&result, x, sizeof(float), cudaMemcpyDeviceToHost);
    return result > 0 ? 0 : 1;
}
)";

struct Outcome {
    int status = -1;
    std::string output;
    [[nodiscard]] json document() const { return json::parse(output, nullptr, false); }
};

class GpuCommand : public ::testing::Test {
protected:
    void SetUp() override {
        const auto doctor = run("doctor --json");
        const auto document = doctor.document();
        ASSERT_TRUE(document.is_object()) << doctor.output;
        for (const auto& check : document.at("checks")) {
            if (check.at("name") == "gpu" && check.at("status") == "ok")
                return;
        }
        GTEST_SKIP() << "no GPU to test on";
    }

    /// Beside this test, or in the bin/ beside its folder when they were carried somewhere.
    static std::filesystem::path server() {
        const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        for (const auto& place : {here / "kernelskill", here.parent_path() / "bin/kernelskill"}) {
            if (std::filesystem::exists(place))
                return place;
        }
        return "kernelskill";
    }

    Outcome run(const std::string& arguments) const {
        const auto command = "cd '" + folder_.path().string() + "' && XDG_DATA_HOME=data '" +
                             server().string() + "' " + arguments + " 2>messages";
        Outcome outcome;
        std::FILE* pipe = ::popen(command.c_str(), "r"); // NOLINT: a test's own words
        char part[4096];
        for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, pipe)) > 0;)
            outcome.output.append(part, count);
        outcome.status = WEXITSTATUS(::pclose(pipe));
        return outcome;
    }

    void write(const char* name, const char* text) const {
        std::ofstream(folder_.path() / name) << text;
    }

    testing::TemporaryFolder folder_;
};

TEST_F(GpuCommand, ProfilesWithTheHardwaresCounters) {
    write("transpose.cu", transposes);
    const auto profiled = run("profile transpose.cu --kernel naive --on gpu --json");
    ASSERT_EQ(profiled.status, 0) << profiled.output;
    const auto report = profiled.document();
    std::printf("%s\n", report.dump(1).substr(0, 6000).c_str());
    EXPECT_EQ(report.at("executor"), "gpu");
    const auto& metrics = report.at("metrics");
    constexpr double elements = 4096.0 * 4096;
    // The hardware merges a few sectors of stores.
    EXPECT_NEAR(metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum").get<double>(),
                elements, 0.01 * elements);
    EXPECT_EQ(metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), elements / 8);
    EXPECT_GT(metrics.at("dram__throughput.avg.pct_of_peak_sustained_elapsed"), 0);
    EXPECT_GT(metrics.at("kernelskill__time_median.ns"), 10'000);
    EXPECT_EQ(report.at("bottleneck").at("kind"), "uncoalesced-access");
    const auto& measured = report.at("measured");
    EXPECT_GT(measured.at("roofline_percent"), 1);
    EXPECT_LT(measured.at("roofline_percent"), 110);
    bool sampled = false;
    for (const auto& line : report.at("lines"))
        sampled |=
            line.at("line") == 6 && line.at("metrics").contains("kernelskill__stall_samples.pct");
    EXPECT_TRUE(sampled) << "no samples on the line that stores";
}

TEST_F(GpuCommand, FindsPaddingFaster) {
    write("transpose.cu", transposes);
    const auto applied = run("apply shared-memory-padding transpose.cu:11 --json");
    ASSERT_EQ(applied.status, 0) << applied.output;
    const auto verdict = applied.document().at("verdict");
    std::printf("%s\n", verdict.dump(1).c_str());
    EXPECT_EQ(verdict.at("status"), "faster");
    EXPECT_GT(verdict.at("speedup"), 1.1);
}

TEST_F(GpuCommand, SaysWhenKernelsRan) {
    write("launches.cu", launches);
    const std::string usual = "/usr/local/cuda/bin/nvcc";
    const auto compile = "cd '" + folder_.path().string() + "' && " +
                         (std::filesystem::exists(usual) ? usual : "nvcc") +
                         " -arch=native -o launches launches.cu";
    ASSERT_EQ(std::system(compile.c_str()), 0); // NOLINT: a test's own words
    const auto recorded = run("timeline --json --trace trace.json -- ./launches");
    ASSERT_EQ(recorded.status, 0) << recorded.output;
    const auto document = recorded.document();
    std::printf("%s\n", document.dump(1).c_str());
    EXPECT_EQ(document.at("status"), 0);
    const auto& kernels = document.at("kernels");
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].at("name"), "spin(float*, int)");
    EXPECT_EQ(kernels[0].at("launches"), 1);
    EXPECT_EQ(kernels[1].at("name"), "tick(float*)");
    EXPECT_EQ(kernels[1].at("launches"), 30);
    EXPECT_EQ(kernels[1].at("block"), json({256, 1, 1}));
    EXPECT_GE(document.at("devices").at(0).at("short_launches").at("launches"), 10);
    EXPECT_GT(std::filesystem::file_size(folder_.path() / "trace.json"), 1000u);
}

TEST_F(GpuCommand, SaysWhatAKernelDidWrong) {
    write("outside.cu", outside);
    const auto profiled = run("profile outside.cu --on gpu");
    EXPECT_NE(profiled.status, 0);
    std::ifstream messages(folder_.path() / "messages");
    const std::string said{std::istreambuf_iterator<char>(messages), {}};
    std::printf("%s\n", said.c_str());
    EXPECT_FALSE(said.empty());
}

TEST_F(GpuCommand, OptimizesByMeasurementAndRepeatsNothing) {
    write("transpose.cu", transposes);
    const std::string search = "optimize transpose.cu --kernel tiled --on gpu --seconds 200 --json";
    const auto first = run(search + " --report page.html");
    ASSERT_EQ(first.status, 0) << first.output;
    const auto found = first.document();
    std::printf("%s\n", found.at("diff").get<std::string>().c_str());
    EXPECT_EQ(found.at("executor"), "gpu");
    EXPECT_EQ(found.at("best").at("verdict").at("status"), "faster");
    EXPECT_GT(found.at("best").at("speedup"), 1.1);
    EXPECT_TRUE(found.at("best").at("modelled_gain").is_null()) << "it was measured";
    for (const auto& round : found.at("rounds")) {
        std::printf("round %s %s: %s\n", round.at("round").dump().c_str(),
                    round.at("plan").at("skill").get<std::string>().c_str(),
                    round.at("decision").get<std::string>().c_str());
        if (round.at("kept").get<bool>()) {
            EXPECT_EQ(round.at("verdict").at("status"), "faster");
            continue;
        }
        if (round.at("verdict").is_null() || round.at("verdict").at("speedup").is_null())
            continue;
        ASSERT_TRUE(round.at("diagnosis").is_object()) << "measured, and no faster: why?";
        std::printf("    %s: %s\n", round.at("diagnosis").at("cause").get<std::string>().c_str(),
                    round.at("diagnosis").at("text").get<std::string>().c_str());
    }
    EXPECT_GT(std::filesystem::file_size(folder_.path() / "page.html"), 1000u);
    const auto second = run(search).document();
    for (const auto& round : second.at("rounds"))
        EXPECT_TRUE(round.at("remembered").get<bool>() || round.at("verdict").is_null()) << round;
    EXPECT_EQ(second.at("best").at("skills"), found.at("best").at("skills"));
    ASSERT_EQ(run("memory export outcomes.json").status, 0);
    const auto outcomes =
        json::parse(std::ifstream(folder_.path() / "outcomes.json"), nullptr, false);
    EXPECT_TRUE(std::ranges::any_of(outcomes.at("outcomes"), [](const json& outcome) {
        return outcome.at("status") == "faster" && outcome.at("speedup") > 1.1;
    }));
}

} // namespace
} // namespace kernelskill::lsp
