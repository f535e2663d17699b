// Compares results of corpus kernels on the emulator with the same computation here.
#include "analysis/command/compile_command.h"
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/inputs/launch_inference.h"
#include "tests/image_cache.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>

namespace kernelskill::engine {
namespace {

double fromHalf(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1f;
    const double fraction = bits & 0x3ff;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

class EmulatedResults : public testing::Test {
protected:
    void SetUp() override {
        auto toolchain = analysis::findToolchain({.cudaPath = {}, .ignoreToolkit = true});
        ASSERT_TRUE(toolchain) << toolchain.error().describe();
        toolchain_ = std::move(*toolchain);
        EmulatorOptions options;
        options.workerExecutable = paths::testWorker;
        options.cacheDirectory = imageCache();
        auto executor = makeEmulatorExecutor(std::move(options), toolchain_);
        ASSERT_TRUE(executor) << executor.error().describe();
        executor_ = std::move(*executor);
    }

    /// Runs the kernel of tests/corpus/`file` as `pin` says and keeps all its buffers.
    void run(const std::string& file, const std::string& kernel, const std::string& pin) {
        const auto path = std::filesystem::path(paths::sourceFolder) / "tests/corpus" / file;
        std::ostringstream contents;
        contents << std::ifstream(path, std::ios::binary).rdbuf();
        ProgramSource program;
        program.file = path.string();
        program.text = contents.str() + "\n// kernelskill: launch " + pin + "\n";
        program.command = analysis::CompileCommands().inferred(path, path.parent_path());
        auto model = analysis::analyzeFile(program.file, program.text, program.command, toolchain_);
        ASSERT_TRUE(model) << model.error().describe();
        program.model = std::make_shared<analysis::FileModel>(std::move(*model));
        const auto& kernels = program.model->kernels;
        const auto found = std::ranges::find(kernels, kernel, &analysis::KernelModel::name);
        ASSERT_NE(found, kernels.end());
        auto launches = inferLaunches(*program.model, *found);
        ASSERT_TRUE(launches) << launches.error().describe();
        Job job;
        job.launch = launches->front();
        ASSERT_EQ(job.launch.origin, LaunchOrigin::Pinned) << pin;
        for (auto& argument : job.launch.arguments) {
            if (auto* buffer = std::get_if<BufferSpec>(&argument))
                buffer->isOutput = true; // inputs too: the reference is computed from them
        }
        job.wantOutputs = true;
        job.limits.time = std::chrono::seconds{60};
        const auto image = executor_->build({program, *found}, job.launch, {});
        ASSERT_TRUE(image) << image.error().describe();
        auto result = executor_->run(**image, job, {});
        ASSERT_TRUE(result) << result.error().describe();
        for (const Hazard& hazard : result->profile.hazards)
            EXPECT_FALSE(hazard.certain) << "line " << hazard.line + 1 << ": " << hazard.message;
        buffers_ = std::move(result->outputs);
    }

    template <typename T>
    std::vector<T> buffer(const std::string& name) const {
        const auto found = std::ranges::find(buffers_, name, &BufferContents::name);
        if (found == buffers_.end()) {
            ADD_FAILURE() << "no buffer '" << name << "'";
            return {};
        }
        std::vector<T> values(found->bytes.size() / sizeof(T));
        std::memcpy(values.data(), found->bytes.data(), values.size() * sizeof(T));
        return values;
    }

    std::vector<double> halves(const std::string& name) const {
        std::vector<double> values;
        for (const auto bits : buffer<std::uint16_t>(name))
            values.push_back(fromHalf(bits));
        return values;
    }

    analysis::Toolchain toolchain_;
    std::unique_ptr<Executor> executor_;
    std::vector<BufferContents> buffers_;
};

/// Rungs of the ladder of reductions that take two elements a thread.
class EmulatedReduction : public EmulatedResults,
                          public testing::WithParamInterface<const char*> {};

TEST_P(EmulatedReduction, SumsEachBlock) {
    const std::string launch = GetParam();
    const auto name = launch.substr(0, launch.find('<'));
    const std::size_t perBlock = name == "reduce0" || name == "reduce1" ? 128 : 256;
    run("reduction_ladder.cu", name,
        launch + "<<<4, 128, 1024>>>(n=1000, g_idata=rand[1024, 0..1000], g_odata=zero[4])");
    const auto in = buffer<int>("g_idata");
    const auto out = buffer<int>("g_odata");
    ASSERT_EQ(in.size(), 1024u);
    ASSERT_EQ(out.size(), 4u);
    for (std::size_t block = 0; block < 4; ++block) {
        const auto end = std::min<std::size_t>(1000, (block + 1) * perBlock);
        EXPECT_EQ(out[block], std::accumulate(in.begin() + static_cast<long>(block * perBlock),
                                              in.begin() + static_cast<long>(end), 0));
    }
}

INSTANTIATE_TEST_SUITE_P(Ladder, EmulatedReduction,
                         testing::Values("reduce0<int>", "reduce1<int>", "reduce3<int>",
                                         "reduce6<int, 128, false>"));

TEST_F(EmulatedResults, CooperativeGroupsReduceAWarpAndAtomicsTheGrid) {
    run("reduction_ladder.cu", "reduceCooperative",
        "reduceCooperative<<<3, 96>>>(n=1000, in=rand[1000], out=zero[1])");
    const auto in = buffer<float>("in");
    EXPECT_NEAR(buffer<float>("out").at(0), std::accumulate(in.begin(), in.end(), 0.0), 1e-4);
}

TEST_F(EmulatedResults, AGridBarrierOrdersTheBlocks) {
    run("cooperative_grid.cu", "gridReduce",
        "gridReduce<<<4, 64, 512>>>(n=1000, in=rand[1000], partial=zero[4])");
    const auto in = buffer<float>("in");
    EXPECT_NEAR(buffer<float>("partial").at(0), std::accumulate(in.begin(), in.end(), 0.0), 1e-4);
}

TEST_F(EmulatedResults, AScanOfEachBlock) {
    run("scan_blelloch.cu", "scanBlock",
        "scanBlock<<<4, 64, 1024>>>(n=500, in=rand[500, 0..100], out=zero[500], "
        "blockSums=zero[4])");
    const auto in = buffer<int>("in");
    const auto out = buffer<int>("out");
    const auto sums = buffer<int>("blockSums");
    for (std::size_t i = 0, sum = 0; i < 500; ++i) {
        sum = i % 128 == 0 ? 0 : sum;
        EXPECT_EQ(out[i], static_cast<int>(sum)) << i;
        sum += static_cast<std::size_t>(in[i]);
        if (i % 128 == 127) {
            EXPECT_EQ(sums[i / 128], static_cast<int>(sum));
        }
    }
}

TEST_F(EmulatedResults, AProductOfTiles) {
    run("matmul_tiled.cu", "matmulTiled",
        "matmulTiled<16><<<{3, 3}, {16, 16}>>>(n=48, A=rand[48*48], B=rand[48*48], C=zero[48*48])");
    const auto a = buffer<float>("A");
    const auto b = buffer<float>("B");
    const auto c = buffer<float>("C");
    for (std::size_t i = 0; i < 48; ++i) {
        for (std::size_t j = 0; j < 48; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < 48; ++k)
                sum += static_cast<double>(a[i * 48 + k]) * b[k * 48 + j];
            ASSERT_NEAR(c[i * 48 + j], sum, 1e-4) << i << ", " << j;
        }
    }
}

TEST_F(EmulatedResults, AProductOfTensorCoreFragments) {
    run("wmma_gemm.cu", "wmmaGemm",
        "wmmaGemm<<<1, {128, 4}>>>(M=64, N=64, K=32, a=rand[64*32], b=rand[64*32], c=zero[64*64])");
    const auto a = halves("a");
    const auto b = halves("b");
    const auto c = buffer<float>("c");
    for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t j = 0; j < 64; ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < 32; ++k)
                sum += a[i * 32 + k] * b[j * 32 + k];
            ASSERT_NEAR(c[i * 64 + j], sum, 1e-4) << i << ", " << j;
        }
    }
}

TEST_F(EmulatedResults, AHistogramOfSharedAndGlobalAtomics) {
    run("histogram.cu", "histogramShared",
        "histogramShared<<<3, 64>>>(words=1000, data=rand[1000, 0..1<<31], histogram=zero[256])");
    std::vector<std::uint32_t> expected(256);
    for (const auto word : buffer<std::uint32_t>("data")) {
        for (int shift = 0; shift < 32; shift += 8)
            ++expected[(word >> shift) & 255];
    }
    EXPECT_EQ(buffer<std::uint32_t>("histogram"), expected);
}

TEST_F(EmulatedResults, CubReducesAndScansABlock) {
    run("cub_block.cu", "blockSumKernel",
        "blockSumKernel<128, 4><<<2, 128>>>(in=rand[1024, 0..100], out=zero[1026])");
    const auto in = buffer<int>("in");
    const auto out = buffer<int>("out");
    for (std::size_t block = 0; block < 2; ++block) {
        int sum = 0;
        for (std::size_t i = block * 512; i < (block + 1) * 512; ++i) {
            ASSERT_EQ(out[i], sum) << i;
            sum += in[i];
        }
        EXPECT_EQ(out[1024 + block], sum);
    }
}

TEST_F(EmulatedResults, HalfPairsAreMultipliedAndAddedAsOne) {
    run("half2_axpy.cu", "haxpy", "haxpy<<<2, 64>>>(n=501, a=2, x=iota[501], y=iota[501])");
    const auto y = halves("y");
    ASSERT_EQ(y.size(), 501u);
    for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(y[i], 3.0 * static_cast<double>(i)) << i;
}

} // namespace
} // namespace kernelskill::engine
