/// Kernels compiled by nvcc when a test runs, given to a real runner. Skips where there is no GPU.
#pragma once

#include "engine/execution/gpu/runner_pool.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::gpu {

class RunnerFixture : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        auto pool = RunnerPool::open(command(), {});
        if (pool)
            pool_ = std::move(*pool);
        else
            reason_ = pool.error().describe();
    }
    static void TearDownTestSuite() { pool_.reset(); }

    void SetUp() override {
        if (!pool_)
            GTEST_SKIP() << "no GPU to test on: " << reason_;
    }

    /// Tests may be moved to a machine with a GPU: the runner is then beside the test.
    static std::filesystem::path runnerExecutable() {
        const auto beside =
            std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kernelskill-runner";
        return std::filesystem::exists(beside) ? beside : std::filesystem::path(paths::gpuRunner);
    }

    /// With $KERNELSKILL_TEST_RUNNER_PREFIX, words like "compute-sanitizer --log-file=FILE", in
    /// front of the runner.
    static RunnerCommand command() {
        std::vector<std::string> prefix;
        if (const char* words = std::getenv("KERNELSKILL_TEST_RUNNER_PREFIX"); words != nullptr) {
            std::istringstream stream(words);
            for (std::string word; stream >> word;)
                prefix.push_back(word);
        }
        return {runnerExecutable(), cuptiLibrary(), std::move(prefix)};
    }

    static std::filesystem::path cuptiLibrary() {
        for (const char* place : {"/usr/local/cuda/lib64/libcupti.so",
                                  "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
            if (std::filesystem::exists(place))
                return place;
        }
        return {};
    }

    static std::string nvcc() {
        const std::string usual = "/usr/local/cuda/bin/nvcc";
        return std::filesystem::exists(usual) ? usual : "nvcc";
    }

    /// The cubin of a text for this GPU, or for `architecture`. Compiled once a text.
    static std::string compile(const std::string& text, std::string architecture = {}) {
        static std::map<std::pair<std::string, std::string>, std::string> known;
        if (architecture.empty())
            architecture = "sm_" + std::to_string(pool_->device().capabilityMajor) +
                           std::to_string(pool_->device().capabilityMinor);
        auto& cubin = known[{text, architecture}];
        if (!cubin.empty())
            return cubin;
        const kernelskill::testing::TemporaryFolder temporary;
        const auto& folder = temporary.path();
        std::ofstream(folder / "kernel.cu") << text;
        const auto shell = nvcc() + " -cubin -lineinfo -arch=" + architecture + " -o " +
                           (folder / "kernel.cubin").string() + " " +
                           (folder / "kernel.cu").string();
        EXPECT_EQ(std::system(shell.c_str()), 0) << shell; // NOLINT: a test's own words
        std::ifstream stream(folder / "kernel.cubin", std::ios::binary);
        cubin.assign(std::istreambuf_iterator<char>(stream), {});
        return cubin;
    }

    static BufferSpec buffer(std::string name, std::uint64_t elements, bool isOutput = false,
                             Fill fill = Fill::Random) {
        BufferSpec spec;
        spec.name = std::move(name);
        spec.elements = elements;
        spec.isOutput = isOutput;
        spec.fill = fill;
        return spec;
    }

    template <typename T>
    static ScalarSpec scalar(std::string name, T value) {
        ScalarSpec spec;
        spec.name = std::move(name);
        spec.bytes.resize(sizeof value);
        std::memcpy(spec.bytes.data(), &value, sizeof value);
        return spec;
    }

    static Subject subject(const std::string& text, std::string symbol, Dim3 grid, Dim3 block,
                           std::vector<ArgumentSpec> arguments) {
        Subject subject;
        subject.cubin = compile(text);
        subject.symbol = std::move(symbol);
        subject.launch.origin = LaunchOrigin::Pinned;
        subject.launch.kernel = subject.symbol;
        subject.launch.grid = grid;
        subject.launch.block = block;
        subject.launch.arguments = std::move(arguments);
        return subject;
    }

    static Result<RunAnswer> run(RunRequest request) {
        auto answer = pool_->ask(request, {});
        if (!answer)
            return std::unexpected(answer.error());
        return std::get<RunAnswer>(std::move(*answer));
    }

    static Result<TimingAnswer> time(std::vector<Subject> subjects, TimingPlan plan = {}) {
        TimingRequest request;
        request.subjects = std::move(subjects);
        request.plan = plan;
        auto answer = pool_->ask(request, {});
        if (!answer)
            return std::unexpected(answer.error());
        return std::get<TimingAnswer>(std::move(*answer));
    }

    static inline std::unique_ptr<RunnerPool> pool_;
    static inline std::string reason_;
};

} // namespace kernelskill::engine::gpu
