// Holds a program that nvcc builds at its launches and tries planted kernels there. Skips where
// there is no GPU.
#include "analysis/source/json.h"
#include "engine/replay/cubin_symbols.h"
#include "engine/replay/replay_session.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kernelskill::lsp {
namespace {

using engine::MemoryElement;
using engine::ReplaySession;
using engine::TrialOutcome;
using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

// Pointers in a class and in memory, a table that the host sets, a counter, dynamic shared memory,
// and memory of four kinds. Every launch has the same inputs, so an output holds its result before
// it.
const std::string kernelText = R"(struct View {
    const float* x;
    int length;
};
__constant__ float table[64];
__device__ unsigned counter;
__global__ void blend(View view, float* const* rows, const int* index, float* out, double* sums, int n) {
    extern __shared__ double part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double mine = 0;
    if (i < n) {
        float value = table[i % 64] * view.x[index[i] % view.length] + rows[i % 4][i];
        out[i] = value;
        mine = value;
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = part[0];
        atomicAdd(&counter, 1u);
    }
}
)";
const std::string hostText = R"(
__global__ void loud(float* out) { printf("%f\n", out[0]); }
int main() {
    const int n = 100000, blocks = (n + 255) / 256;
    std::vector<float> x(n), values(64);
    std::vector<int> index(n);
    for (int i = 0; i < n; ++i) {
        x[i] = 0.25f * (i % 1000) + 1;
        index[i] = (i * 7919) % n;
    }
    for (int i = 0; i < 64; ++i)
        values[i] = 1.0f / (i + 1);
    float *dx, *out, *row[4], **rows;
    int* di;
    double* sums;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&di, n * sizeof(int));
    cudaMallocManaged(&out, n * sizeof(float));
    cudaMalloc(&sums, (blocks + 1) * sizeof(double));
    cudaMalloc(&rows, sizeof row);
    for (float*& each : row) {
        cudaMallocAsync(&each, n * sizeof(float), stream);
        cudaMemcpyAsync(each, x.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
    cudaMemcpy(rows, row, sizeof row, cudaMemcpyHostToDevice);
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(di, index.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, (blocks + 1) * sizeof(double));
    cudaMemcpyToSymbol(table, values.data(), sizeof table);
    for (int round = 0; round < 4; ++round) {
        blend<<<blocks, 256, 256 * sizeof(double), stream>>>(View{dx, n}, rows, di, out, sums, n);
        cudaStreamSynchronize(stream);
        std::vector<double> parts(blocks + 1);
        cudaMemcpy(parts.data(), sums, parts.size() * sizeof(double), cudaMemcpyDeviceToHost);
        double all = 0, each = 0;
        for (double part : parts)
            all += part;
        for (int i = 0; i < n; ++i)
            each += out[i];
        unsigned count = 0;
        cudaMemcpyFromSymbol(&count, counter, sizeof count);
        std::printf("%.17g %.17g %u %s\n", all, each, count, cudaGetErrorString(cudaGetLastError()));
    }
    loud<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    return 5;
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

class GpuReplay : public ::testing::Test {
protected:
    void SetUp() override {
        if (sh("nvidia-smi -L").output.find("GPU 0") == std::string::npos)
            GTEST_SKIP() << "no GPU to test on";
        if (sh("command -v nvcc").status != 0)
            GTEST_SKIP() << "no nvcc to build a program with";
        write("program.cu", "#include <cstdio>\n#include <vector>\n" + kernelText + hostText);
        const auto built = sh("nvcc -arch=native -o program program.cu");
        ASSERT_EQ(built.status, 0) << built.output;
        alone_ = sh("./program").output;
        ASSERT_THAT(alone_, HasSubstr("no error"));
        target_.kernel = "blend";
        target_.ordinal = 2;
    }

    struct Outcome {
        int status = -1;
        std::string output;
    };
    [[nodiscard]] Outcome sh(const std::string& line) const {
        const auto command = "cd '" + folder_.path().string() +
                             "' && { export PATH=$PATH:/usr/local/cuda/bin; " + line +
                             "; } 2>messages";
        Outcome outcome;
        std::FILE* pipe = ::popen(command.c_str(), "r"); // NOLINT: a test's own words
        char part[4096];
        for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, pipe)) > 0;)
            outcome.output.append(part, size);
        outcome.status = WEXITSTATUS(::pclose(pipe));
        return outcome;
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(folder_.path() / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::filesystem::path beside(const char* name) {
        const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        const auto built = here / name;
        return std::filesystem::exists(built) ? built : here.parent_path() / "bin" / name;
    }

    [[nodiscard]] Result<std::unique_ptr<ReplaySession>> open() {
        output_ = engine::FileDescriptor(::open((folder_.path() / "output").c_str(),
                                                O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        engine::ReplayProgram program;
        program.words = {"./program"};
        program.folder = folder_.path();
        program.library = beside("libkernelskill-replay.so");
        program.output = output_.get();
        return ReplaySession::open(std::move(program), target_, {});
    }
    /// Compiles a kernel and asks for it in the place of the held launch's.
    [[nodiscard]] engine::TryRequest requestOf(const ReplaySession& session,
                                               const std::string& kernel) const {
        write("candidate.cu", kernel);
        const auto built = sh("nvcc -arch=native -cubin -o candidate.cubin candidate.cu");
        EXPECT_EQ(built.status, 0) << text("messages");
        const auto& launch = session.held().launch;
        engine::ReplayCandidate candidate{text("candidate.cubin"), {}, launch.grid, launch.block,
                                          launch.sharedBytes,      {}};
        const auto symbols = engine::cubinSymbols(std::as_bytes(std::span(candidate.cubin)));
        EXPECT_TRUE(symbols && symbols->kernels.size() == 1);
        if (symbols && !symbols->kernels.empty())
            candidate.symbol = symbols->kernels.begin()->first;
        engine::TryRequest request;
        request.candidates.push_back(std::move(candidate));
        const auto& out = launch.parameters.at(3).buffer;
        const auto& sums = launch.parameters.at(4).buffer;
        EXPECT_TRUE(out && sums);
        if (out && sums) {
            request.elements = {{out->address, out->bytes, MemoryElement::Float32},
                                {sums->address, sums->bytes, MemoryElement::Float64}};
            request.onlyWritten = {out->address, sums->address};
        }
        request.limit = milliseconds(2'000);
        return request;
    }
    void finish(ReplaySession& session) const {
        EXPECT_EQ(session.resume(milliseconds(60'000), {}).value_or(-1), 5);
        EXPECT_EQ(text("output"), alone_) << "the program must not notice that it was held";
    }

    testing::TemporaryFolder folder_;
    engine::ReplayTarget target_;
    engine::FileDescriptor output_;
    std::string alone_;
};

TEST_F(GpuReplay, DescribesTheLaunchAndLetsTheProgramGoOn) {
    for (std::uint32_t ordinal = 1; ordinal <= 4; ++ordinal) {
        target_.ordinal = ordinal;
        auto session = open();
        ASSERT_TRUE(session) << session.error().describe();
        const auto& held = (*session)->held();
        std::printf("launch %u: %llu allocations, %llu bytes, %llu variables, %llu saved, %llu "
                    "written\n",
                    ordinal, static_cast<unsigned long long>(held.allocations),
                    static_cast<unsigned long long>(held.allocatedBytes),
                    static_cast<unsigned long long>(held.variables),
                    static_cast<unsigned long long>(held.savedBytes),
                    static_cast<unsigned long long>(held.writtenBytes));
        EXPECT_EQ(held.launch.ordinal, ordinal);
        EXPECT_EQ(held.launch.grid[0], 391u);
        EXPECT_EQ(held.launch.sharedBytes, 2'048u);
        EXPECT_EQ(held.allocations, 9u);
        EXPECT_GE(held.variables, 2u);
        EXPECT_TRUE(held.variation.empty());
        finish(**session);
    }
}

TEST_F(GpuReplay, AcceptsRightKernels) {
    const std::vector<std::pair<std::string, std::string>> right{
        {"the same", kernelText},
        {"other reads", replaced(replaced(kernelText, "view.x[index[i] % view.length]",
                                          "__ldg(&view.x[__ldg(&index[i]) % view.length])"),
                                 "i % 64", "i & 63")},
        {"another reduction",
         replaced(
             kernelText, "step > 0; step /= 2) {\n        if (threadIdx.x < step)",
             "step > 0; step >>= 1) {\n        if (static_cast<int>(threadIdx.x) - step < 0)")},
    };
    auto session = open();
    ASSERT_TRUE(session) << session.error().describe();
    for (const auto& [name, kernel] : right) {
        const auto request = requestOf(**session, kernel);
        const auto begin = std::chrono::steady_clock::now();
        const auto trials = (*session)->tryAll(request, true, {});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        ASSERT_TRUE(trials) << trials.error().describe();
        const auto& trial = trials->at(0);
        EXPECT_EQ(trial.outcome, TrialOutcome::Same) << name << ": " << trial.sentence;
        for (const auto& note : trial.notes)
            ADD_FAILURE() << name << ": " << note;
        ASSERT_EQ(trial.candidate.size(), 20u);
        std::printf("%s: %.2f us before, %.2f us after, tried in %.3f s\n", name.c_str(),
                    trial.original[10], trial.candidate[10], took.count());
    }
    // The same work by half the blocks.
    auto loop = replaced(kernelText, "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                         "    for (int block = blockIdx.x; block < (n + 255) / 256; block += "
                         "gridDim.x) {\n    __syncthreads();\n    int i = block * blockDim.x + "
                         "threadIdx.x;\n");
    loop = replaced(replaced(loop, "sums[blockIdx.x]", "sums[block]"),
                    "        atomicAdd(&counter, 1u);\n    }\n",
                    "        atomicAdd(&counter, 1u);\n    }\n    }\n");
    auto request = requestOf(**session, loop);
    request.candidates[0].grid[0] = 196;
    const auto trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
    EXPECT_TRUE((*session)->restarts().empty());
    finish(**session);
}

TEST_F(GpuReplay, RefusesWrongKernels) {
    const auto store = std::string("        out[i] = value;\n");
    const auto with = [&](const std::string& line) {
        return replaced(kernelText, store, store + "        " + line + "\n");
    };
    struct Planted {
        std::string name;
        std::string kernel;
        TrialOutcome outcome = TrialOutcome::Different;
    };
    const std::vector<Planted> wrong{
        {"leaves out the last one", replaced(kernelText, "if (i < n) {", "if (i < n - 1) {")},
        {"one wrong value",
         replaced(kernelText, store, "        out[i] = i == 12345 ? value + 1 : value;\n")},
        {"a race", replaced(kernelText, "    part[threadIdx.x] = mine;\n    __syncthreads();\n",
                            "    if (threadIdx.x >= 224)\n        __nanosleep(20000);\n"
                            "    part[threadIdx.x] = mine;\n")},
        {"writes an input", with("const_cast<float*>(view.x)[3] = 0;")},
        {"writes behind a pointer in memory", with("if (i == 5) rows[1][7] = 7;")},
        {"does not count", replaced(kernelText, "atomicAdd(&counter, 1u);", "")},
        {"counts twice",
         replaced(kernelText, "atomicAdd(&counter, 1u);", "atomicAdd(&counter, 2u);")},
        {"half of it is of an earlier launch",
         replaced(kernelText, store, "        if (i < n / 2)\n            out[i] = value;\n")},
        {"nothing is written", replaced(kernelText, store, "")},
        {"wrong for one number of this data",
         replaced(kernelText, "float value = ", "float value = index[i] == 777 ? 0.0f : ")},
        {"writes behind the sums", with("if (i == 0) sums[gridDim.x] = 1;")},
        {"wrong at times",
         replaced(kernelText, store, "        out[i] = clock64() % 128 == 0 ? 0.0f : value;\n")},
        {"a factor", replaced(kernelText, store, "        out[i] = value * 1.01f;\n")},
        {"ignores the table", replaced(kernelText, "table[i % 64] *", "1.0f *")},
        {"reads another table",
         replaced(replaced(kernelText, "float table[64]", "float tables[64]"), "table[i % 64]",
                  "tables[i % 64]")},
        {"reads what is its neighbour's",
         replaced(kernelText, "index[i] % view.length", "index[i ^ 1] % view.length")},
        {"keeps 16 bits of a position",
         replaced(kernelText, store, "        out[(unsigned short)i] = value;\n")},
        {"reads another place of a row",
         replaced(kernelText, "rows[i % 4][i]", "rows[i % 4][i / 2]")},
        {"keeps few bits of a number",
         replaced(kernelText, store, "        out[i] = (float)(int)(value * 16) / 16;\n")},
        {"not a number at the end",
         replaced(kernelText, store, "        out[i] = i == n - 1 ? nanf(\"\") : value;\n")},
        {"sums in float",
         replaced(kernelText, "part[threadIdx.x] += part[threadIdx.x + step];",
                  "part[threadIdx.x] = (float)(part[threadIdx.x] + part[threadIdx.x + step]);")},
        {"sums with a step less", replaced(kernelText, "step > 0; step", "step > 1; step")},
        {"one block's sum is of an earlier launch",
         replaced(kernelText, "if (threadIdx.x == 0) {",
                  "if (threadIdx.x == 0 && blockIdx.x == 7)\n        atomicAdd(&counter, 1u);\n"
                  "    else if (threadIdx.x == 0) {")},
        {"counts without the atomic",
         replaced(kernelText, "atomicAdd(&counter, 1u);", "counter = counter + 1;")},
        {"small results to zero",
         replaced(kernelText, store, "        out[i] = fabsf(value) < 2 ? 0.0f : value;\n")},
        {"wrong from 65,536 on",
         replaced(kernelText, store, "        out[i] = i < 65536 ? value : value * 1.01f;\n")},
        {"changes a table of pointers",
         with("if (i == 0) const_cast<float**>(rows)[0] = rows[1];")},
        {"exchanges two results",
         replaced(kernelText, store, "        out[i < n - 1 ? i ^ 1 : i] = value;\n")},
        {"touches what is not there", with("if (i == 9) out[1ll << 40] = 1;"),
         TrialOutcome::Failed},
        {"does not end", with("while (i == 9 && *(volatile int*)&index[0] >= 0) {}"),
         TrialOutcome::Failed},
    };
    auto session = open();
    ASSERT_TRUE(session) << session.error().describe();
    for (const auto& [name, kernel, outcome] : wrong) {
        for (const bool isExact : {true, false}) {
            const auto trials = (*session)->tryAll(requestOf(**session, kernel), isExact, {});
            ASSERT_TRUE(trials) << name << ": " << trials.error().describe();
            const auto& trial = trials->at(0);
            EXPECT_EQ(trial.outcome, outcome)
                << name << " is " << spelling(trial.outcome) << ": " << trial.sentence;
            if (isExact)
                std::printf("%s: %s\n", name.c_str(), trial.sentence.c_str());
        }
    }
    EXPECT_EQ((*session)->restarts().size(), 4u) << "two that fault and two that do not end";
    finish(**session);
}

TEST_F(GpuReplay, RefusesByName) {
    target_.kernel = "loud";
    target_.ordinal = 1;
    const auto session = open();
    ASSERT_FALSE(session);
    EXPECT_THAT(session.error().what, HasSubstr("printf()"));
    target_.kernel = "blend";
    target_.deviceBytes = target_.hostBytes = 1'000;
    const auto small = open();
    ASSERT_FALSE(small);
    EXPECT_THAT(small.error().what, HasSubstr("the pause needs"));
}

TEST_F(GpuReplay, SavesToTheHost) {
    target_.deviceBytes = 1'000;
    auto session = open();
    ASSERT_TRUE(session) << session.error().describe();
    EXPECT_GT((*session)->held().savedBytes, target_.deviceBytes);
    auto trials = (*session)->tryAll(requestOf(**session, kernelText), true, {});
    ASSERT_TRUE(trials);
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
    finish(**session);
}

TEST_F(GpuReplay, TheProgramGoesOnWithoutItsServer) {
    const pid_t server = ::fork();
    if (server == 0) {
        auto session = open();
        ::kill(::getpid(), session ? SIGKILL : SIGTERM);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(server, &status, 0), server);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it was not held";
    for (int look = 0; look < 600 && text("output") != alone_; ++look)
        std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(text("output"), alone_);
}

TEST_F(GpuReplay, VerifyTriesAChangeInTheProgram) {
    const std::string before = "__global__ void scale(const float* x, float* y, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) y[i] = 2.0f * x[i];\n"
                               "}\n";
    const std::string host = "int main() {\n    const int n = 1 << 20;\n    float *x, *y;\n"
                             "    cudaMalloc(&x, n * 4);\n    cudaMalloc(&y, n * 4);\n"
                             "    cudaMemset(x, 1, n * 4);\n"
                             "    scale<<<(n + 255) / 256, 256>>>(x, y, n);\n"
                             "    return cudaDeviceSynchronize() != cudaSuccess;\n}\n";
    write("old.cu", before + host);
    write("new.cu", replaced(before, "2.0f * x[i]", "x[i] + x[i]") +
                        replaced(replaced(host, "255) / 256", "127) / 128"), "256>>>", "128>>>"));
    ASSERT_EQ(sh("nvcc -arch=native -o old old.cu").status, 0) << text("messages");
    const auto verify = "XDG_DATA_HOME=data XDG_CACHE_HOME=cache '" +
                        beside("kernelskill").string() + "' verify new.cu --against old.cu --json";
    const auto done = sh(verify + " -- ./old");
    const auto report = json::parse(done.output, nullptr, false);
    ASSERT_TRUE(report.is_object()) << text("messages");
    ASSERT_EQ(report.at("kernels").size(), 1u) << report.dump(1);
    const auto& trial = report.at("kernels").at(0).at("inProgram");
    std::printf("%s\n", trial.dump(1).c_str());
    ASSERT_TRUE(trial.is_object()) << report.dump(1);
    EXPECT_EQ(trial.at("outcome"), "right") << trial.dump(1);
    EXPECT_EQ(trial.at("allocations"), 2);
    EXPECT_EQ(trial.at("timing").at("rounds"), 20);
    EXPECT_EQ(done.status, 0);
    // A program that neither of the two is built from.
    write("other.cu", replaced(before, "2.0f", "3.0f") + host);
    ASSERT_EQ(sh("nvcc -arch=native -o other other.cu").status, 0) << text("messages");
    const auto other = json::parse(sh(verify + " -- ./other").output, nullptr, false);
    ASSERT_TRUE(other.is_object());
    EXPECT_EQ(other.at("kernels").at(0).at("inProgram").at("outcome"), "not-judged");
}

} // namespace
} // namespace kernelskill::lsp
