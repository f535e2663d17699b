// Memory accesses a second that one worker counts, with hazards looked for and every block run.
#include "analysis/source/files.h"
#include "tests/engine/execution/emulator/executor_fixture.h"
#include "tests/paths.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

constexpr std::int64_t productAccesses = 65536 * (2 * 256 + 16 * 4 + 1);

std::string tiledProduct() {
    return analysis::readFile(std::string(paths::sourceFolder) + "/tests/bench/tiled_256.cu")
        .value_or("");
}

constexpr const char* streams = R"(
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
void launch(float* x, float* y) { saxpy<<<4096, 256>>>(1 << 20, 2.0f, x, y); }
)";
constexpr std::int64_t streamAccesses = 3 * (1 << 20);

/// The fixture, without a test around it.
class Runner : public ExecutorFixture {
public:
    explicit Runner(const std::string& text) {
        SetUp();
        const ProgramSource program = parse(source("examples/throughput.cu"), text);
        auto launches = inferLaunches(*program.model, program.model->kernels.front());
        if (!launches)
            return;
        job_.launch = std::move(launches->front());
        job_.wantProfile = true;
        job_.limits.time = std::chrono::seconds{240}; // Long enough that no block is left out.
        auto image = executor_->build({program, program.model->kernels.front()}, job_.launch, {});
        if (image)
            image_ = std::move(*image);
    }
    void TestBody() override {}

    [[nodiscard]] bool run() const {
        const auto result = executor_->run(*image_, job_, {});
        return result && result->profile.blocksRun == job_.launch.grid.count();
    }
    [[nodiscard]] bool isReady() const { return image_ != nullptr; }

private:
    Job job_;
    std::shared_ptr<const Image> image_;
};

/// The time that the workers of this process have computed so far, those that have ended included:
/// on a busy machine wall-clock time says little. Of the system's clock ticks, so meant for whole
/// benchmarks.
double workerSeconds() {
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    std::uint64_t ticks = 0;
    for (std::string process; children >> process;) {
        std::ifstream file("/proc/" + process + "/stat");
        std::string line;
        std::getline(file, line);
        const std::size_t nameEnd = line.rfind(')');
        if (nameEnd == std::string::npos)
            continue;
        std::istringstream fields(line.substr(nameEnd + 1));
        // Fields after the name; then system time, and both of its children.
        constexpr int userTime = 11;
        std::string field;
        for (int i = 0; i < userTime + 4 && fields >> field; ++i) {
            if (i >= userTime)
                ticks += std::stoull(field);
        }
    }
    return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void count(benchmark::State& state, const std::string& text, std::int64_t accesses) {
    const Runner runner(text);
    if (!runner.isReady() || !runner.run()) {
        state.SkipWithError("the kernel does not run");
        return;
    }
    const double before = workerSeconds();
    for ([[maybe_unused]] auto iteration : state) {
        if (!runner.run())
            state.SkipWithError("the kernel does not run");
    }
    state.SetItemsProcessed(state.iterations() * accesses);
    state.counters["items_per_cpu_second"] =
        static_cast<double>(state.iterations() * accesses) / (workerSeconds() - before);
}

BENCHMARK_CAPTURE(count, matmul_tiled, tiledProduct(), productAccesses)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count, saxpy, streams, streamAccesses)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace kernelskill::engine

BENCHMARK_MAIN();
