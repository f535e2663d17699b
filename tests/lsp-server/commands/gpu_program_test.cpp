// Profiles and optimises a whole program that nvcc builds. Skips where there is no GPU.
#include "tests/lsp-server/commands/gpu_workspace.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

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

// An argument that no other process can pass: a class with pointers, one of them to pointers,
// beside a table that the host sets.
constexpr const char* viewProgram = R"(#include <cstdio>
#include <vector>

struct View {
    const float* x;
    const float* const* rows;
    int length;
};
__constant__ float weights[64];

__global__ void blend(View view, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0;
        for (int k = 0; k < 64; ++k) {
            float v = view.x[i % view.length] + k;
            sum += weights[k] * (sinf(v) * sinf(v) + cosf(v) * cosf(v)) + view.rows[k % 4][i];
        }
        out[i] = sum;
    }
}

int main() {
    const int n = 1 << 20;
    std::vector<float> x(n), table(64);
    for (int i = 0; i < n; ++i)
        x[i] = 1.0f + i % 100;
    for (int k = 0; k < 64; ++k)
        table[k] = 1.0f + k;
    float *dx, *out, *row[4], **rows;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    cudaMalloc(&rows, sizeof row);
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    for (float*& each : row) {
        cudaMalloc(&each, n * sizeof(float));
        cudaMemcpy(each, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }
    cudaMemcpy(rows, row, sizeof row, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(weights, table.data(), sizeof weights);
    for (int round = 0; round < 10; ++round)
        blend<<<(n + 255) / 256, 256>>>(View{dx, rows, n}, out, n);
    cudaDeviceSynchronize();
    double total = 0;
    for (int i = 0; i < n; ++i)
        total += out[i];
    std::printf("total %.0f %s\n", total, cudaGetErrorString(cudaGetLastError()));
}
)";

/// A skill that replaces sin^2 + cos^2 of the same number.
std::string circleSkill(const std::string& name, const std::string& after) {
    return "---\nname: " + name + R"(
description: Uses that the squares of sine and cosine sum to 1. Use on kernels bound by arithmetic.
numerics: reassociates
bottlenecks: [compute]
metavariables:
  x: expression of float
---
```cuda before
sinf($x) * sinf($x) + cosf($x) * cosf($x)
```

```cuda after
)" + after +
           "\n```\n";
}

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
    const double inProgram = hot.at("median_microseconds");
    ASSERT_TRUE(hot.at("alone_microseconds").is_number()) << messages();
    EXPECT_NEAR(hot.at("alone_microseconds").get<double>(), inProgram, 0.1 * inProgram + 2);
    EXPECT_FALSE(hot.at("bottleneck").at("kind").get<std::string>().empty());
    const auto& device = document.at("devices").at(0);
    EXPECT_GT(device.at("copies_ns"), 0);
    EXPECT_GE(device.at("copied_bytes"), 2048 * 2048 * 4);
    EXPECT_GT(device.at("idle_ns"), 0);
    const auto table = run("profile --no-details -- ./program");
    EXPECT_EQ(table.status, 0) << messages();
    EXPECT_THAT(table.output, HasSubstr("rowSums(float const*, float*, int, int)  program.cu:4"));
    EXPECT_THAT(table.output, Not(HasSubstr("alone"))) << "it was not measured";
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
    EXPECT_GE(document.at("buffers").at("compared"), 2) << document.at("buffers").dump();
    EXPECT_EQ(document.at("buffers").at("note"), "");
    EXPECT_EQ(document.at("written"), true);
    const auto kernel = kernelNamed(document, "rowSums");
    ASSERT_TRUE(kernel.is_object());
    EXPECT_EQ(kernel.at("outcome"), "kept") << kernel.dump(1);
    EXPECT_EQ(kernel.at("executor"), "program") << kernel.dump(1);
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

TEST_F(GpuProgram, ComparesItsTimesWithABaseline) {
    const auto ci = [&](const std::string& options) {
        return run("ci --baseline base.json --json " + options + " -- ./program");
    };
    ASSERT_EQ(sh(buildOf("program")).status, 0) << messages();
    ASSERT_EQ(ci("--update").status, 0) << messages();
    const auto baseline = json::parse(text(folder_.path() / "base.json"));
    EXPECT_NE(baseline.at("times").at("gpu").at("name"), "");
    EXPECT_EQ(baseline.at("times").at("runs"), 5) << "each kernel is launched ten times a run";
    const auto same = ci("");
    std::printf("%s\n", same.output.c_str());
    EXPECT_EQ(same.status, 0) << messages();
    const auto document = same.document();
    ASSERT_TRUE(document.is_object()) << same.output;
    EXPECT_EQ(document.at("compared"), "times");
    EXPECT_EQ(document.at("regressions"), 0);
    EXPECT_EQ(document.at("gpu"), baseline.at("times").at("gpu").at("name"));
    std::string slower = program;
    const std::string loop = "column < columns; ++column";
    // Twice the columns, and the same memory.
    slower.replace(slower.find(loop), loop.size(), "column < 2 * columns; ++column");
    const std::string index = "a[row * columns + column]";
    slower.replace(slower.find(index), index.size(), "a[row * columns + column % columns]");
    write("program.cu", slower);
    ASSERT_EQ(sh(buildOf("program")).status, 0) << messages();
    const auto worse = ci("");
    std::printf("%s\n", worse.output.c_str());
    EXPECT_EQ(worse.status, 1) << messages();
    ASSERT_TRUE(worse.document().is_object()) << worse.output;
    const json kernels = worse.document().at("kernels");
    const auto rows = std::ranges::find_if(
        kernels, [](const json& kernel) { return kernel.at("kernel") == "rowSums"; });
    ASSERT_NE(rows, kernels.end());
    EXPECT_EQ(rows->at("status"), "slower");
    EXPECT_EQ(rows->at("file"), "program.cu");
}

TEST_F(GpuProgram, SearchesInsideTheProgramWhatNothingElseCanLaunch) {
    write("program.cu", viewProgram);
    // The second is wrong for one value that occurs in the program.
    for (const auto& [name, after] : {std::pair{"unit-circle", "1.0f"},
                                      std::pair{"odd-circle", "($x == 77.0f ? 0.5f : 1.0f)"}}) {
        std::filesystem::create_directories(folder_.path() / "config/kernelskill/skills" / name);
        write("config/kernelskill/skills/" + std::string(name) + "/SKILL.md",
              circleSkill(name, after));
    }
    write(".gitignore", "data\ncache\nconfig\nmessages\n");
    const auto config = (folder_.path() / "config").string();
    const auto outcome =
        sh("XDG_CONFIG_HOME='" + config + "' XDG_DATA_HOME=data XDG_CACHE_HOME=cache '" +
           server().string() + "' " + optimize("--on gpu"));
    const auto document = outcome.document();
    ASSERT_TRUE(document.is_object()) << messages() << outcome.output;
    std::printf("%s\n%s\n", document.dump(1).c_str(),
                document.at("diff").get<std::string>().c_str());
    const auto kernel = kernelNamed(document, "blend");
    ASSERT_TRUE(kernel.is_object());
    EXPECT_EQ(kernel.at("outcome"), "kept") << messages();
    EXPECT_EQ(kernel.at("executor"), "program");
    EXPECT_EQ(kernel.at("not_held"), "");
    ASSERT_TRUE(kernel.at("held").is_object());
    EXPECT_EQ(kernel.at("held").at("launch"), 1);
    EXPECT_EQ(kernel.at("held").at("allocations"), 7);
    EXPECT_EQ(kernel.at("held").at("end"), "");
    EXPECT_GT(kernel.at("search_speedup"), 1.2);
    EXPECT_GT(kernel.at("speedup"), 1.2);
    const auto diff = document.at("diff").get<std::string>();
    EXPECT_THAT(diff, ::testing::Not(HasSubstr("77.0f")));
    std::printf("%d candidates in %.1f s\n", kernel.at("attempts").get<int>(),
                kernel.at("seconds").get<double>());
}

} // namespace
} // namespace kernelskill::lsp
