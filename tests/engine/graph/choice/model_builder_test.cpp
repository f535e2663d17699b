/// Models compiled by a stand-in of nvcc.
#include "engine/graph/choice/model_builder.h"
#include "engine/graph/choice/visible_gpu.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ModelBuilding : public ::testing::Test {
protected:
    fs::path script(const std::string& name, const std::string& text) {
        const fs::path file = folder_.path() / name;
        std::ofstream(file) << "#!/bin/sh\n" << text;
        fs::permissions(file, fs::perms::owner_all);
        return file;
    }
    fs::path modelsFolder() {
        const fs::path models = folder_.path() / "models";
        fs::create_directories(models);
        return models;
    }
    static std::string read(const fs::path& file) {
        std::ifstream stream(file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    kernelskill::testing::TemporaryFolder folder_;
};

/// Objects are the sources' texts, and a library all objects of its command; $log has all commands.
constexpr const char* joiningCompiler = R"(
echo "$*" >>"$(dirname "$0")/log"
mode=link all='' from='' to=''
while [ $# -gt 0 ]; do
    case $1 in
        -c) mode=compile; from=$2; shift ;;
        -o) to=$2; shift ;;
        *.o) all="$all $1" ;;
    esac
    shift
done
if [ $mode = compile ]; then
    grep -q broken "$from" && { echo "kernel.cu(3): error: broken" >&2; exit 2; }
    cat "$from" >"$to"
else
    cat $all >"$to"
fi
)";

TEST_F(ModelBuilding, CompilesEachFileAndLinksThem) {
    ModelBuilder builder(script("nvcc", joiningCompiler), "sm_90", modelsFolder(), 3);
    const std::size_t first = builder.begin({{"kernels/a.cu", "alpha\n"},
                                             {"kernels/b.cu", "beta\n"},
                                             {"model.cpp", "model\n"},
                                             {"model_abi.cpp", "abi\n"},
                                             {"torch_operator.cpp", "no part of it\n"}});
    const std::size_t broken = builder.begin({{"kernels/a.cu", "broken\n"}, {"model.cpp", "m\n"}});
    const auto library = builder.wait(first, {});
    ASSERT_TRUE(library) << library.error().describe();
    EXPECT_EQ(read(*library), "alpha\nbeta\nmodel\nabi\n");
    EXPECT_THAT(read(folder_.path() / "log"), HasSubstr("-arch=sm_90"));
    const auto failed = builder.wait(broken, {});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, ErrorKind::Failed);
    EXPECT_THAT(failed.error().what, HasSubstr("kernel.cu(3): error: broken"));
}

TEST_F(ModelBuilding, BuildsEqualFilesOnce) {
    ModelBuilder builder(script("nvcc", joiningCompiler), "sm_90", modelsFolder(), 1);
    const std::size_t first = builder.begin({{"model.cpp", "model\n"}});
    const std::size_t other = builder.begin({{"model.cpp", "model\n"}, {"model.h", "header\n"}});
    EXPECT_NE(other, first);
    EXPECT_EQ(builder.begin({{"model.cpp", "model\n"}}), first);
    ASSERT_TRUE(builder.wait(other, {}));
    ASSERT_TRUE(builder.wait(first, {}));
    const std::string log = read(folder_.path() / "log");
    EXPECT_EQ(std::ranges::count(log, '\n'), 4) << "two models are compiled and linked: " << log;
}

TEST_F(ModelBuilding, CompilesAKernelOfSeveralModelsOnce) {
    ModelBuilder builder(script("nvcc", joiningCompiler), "sm_90", modelsFolder(), 2);
    std::vector<std::size_t> models;
    for (const char* model : {"one\n", "two\n", "three\n"})
        models.push_back(
            builder.begin({{"kernels/a.cu", "alpha\n"}, {"model.cpp", std::string(model)}}));
    for (const std::size_t model : models) {
        const auto library = builder.wait(model, {});
        ASSERT_TRUE(library) << library.error().describe();
        EXPECT_THAT(read(*library), HasSubstr("alpha\n"));
    }
    // A later model uses the object without a compiler. A broken kernel fails all models that have
    // it.
    EXPECT_TRUE(builder.wait(builder.begin({{"kernels/a.cu", "alpha\n"}}), {}));
    const std::string log = read(folder_.path() / "log");
    EXPECT_EQ(std::ranges::count(log, '\n'), 1 + 3 + 4)
        << "a kernel, three hosts, four links: " << log;
    for (const char* model : {"one\n", "two\n"})
        EXPECT_FALSE(builder.wait(
            builder.begin({{"kernels/b.cu", "broken\n"}, {"model.cpp", std::string(model)}}), {}));
}

TEST_F(ModelBuilding, CompilesWhatIsUrgentBeforeWhatWasBegunEarlier) {
    ModelBuilder builder(script("nvcc", std::string(joiningCompiler) + "sleep 0.1\n"), "sm_90",
                         modelsFolder(), 1);
    const std::size_t usual = builder.begin({{"kernels/a.cu", "alpha\n"},
                                             {"kernels/b.cu", "beta\n"},
                                             {"kernels/c.cu", "gamma\n"},
                                             {"kernels/d.cu", "delta\n"}});
    const std::size_t urgent = builder.begin(
        {{"kernels/d.cu", "delta\n"}, {"kernels/e.cu", "epsilon\n"}}, ModelBuilder::Urgency::Next);
    ASSERT_TRUE(builder.wait(urgent, {}));
    ASSERT_TRUE(builder.wait(usual, {}));
    const std::string log = read(folder_.path() / "log");
    EXPECT_LT(log.find("kernels/d.cu"), log.find("kernels/c.cu")) << "also of the earlier model";
    EXPECT_LT(log.find("kernels/e.cu"), log.find("kernels/c.cu")) << log;
    EXPECT_EQ(log.find("kernels/d.cu -o"), log.rfind("kernels/d.cu -o")) << "compiled once";
}

TEST_F(ModelBuilding, EndsWhenItIsStopped) {
    const auto begin = std::chrono::steady_clock::now();
    {
        ModelBuilder builder(script("nvcc", "sleep 60\n"), "sm_90", modelsFolder(), 2);
        const std::size_t model = builder.begin({{"model.cpp", "model\n"}});
        std::stop_source stop;
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            stop.request_stop();
        });
        const auto library = builder.wait(model, stop.get_token());
        ASSERT_FALSE(library);
        EXPECT_EQ(library.error().kind, ErrorKind::Cancelled);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(ModelBuilding, NeedsACompiler) {
    ModelBuilder builder(folder_.path() / "absent", "sm_90", modelsFolder(), 1);
    const auto library = builder.wait(builder.begin({{"model.cpp", "model\n"}}), {});
    ASSERT_FALSE(library);
    EXPECT_EQ(library.error().kind, ErrorKind::Missing);
}

class VisibleGpuTest : public ModelBuilding {
protected:
    const fs::path smi_ = script("nvidia-smi", R"(
case "$*" in
    *--id=1*) echo "NVIDIA A100, 8.0, 580.1, [N/A]" ;;
    *) echo "NVIDIA H200, 9.0, 580.1, 1980"; echo "NVIDIA A100, 8.0, 580.1, [N/A]" ;;
esac
)");
};

TEST_F(VisibleGpuTest, IsTheFirstThatProgramsSee) {
    const auto gpu = visibleGpu(smi_, {}, {});
    ASSERT_TRUE(gpu) << gpu.error().describe();
    EXPECT_EQ(gpu->name, "NVIDIA H200");
    EXPECT_EQ(gpu->architecture, "sm_90");
    EXPECT_EQ(gpu->driver, "580.1");
    EXPECT_EQ(gpu->smMegahertz, 1980u);
    const auto second = visibleGpu(smi_, "1,0", {});
    ASSERT_TRUE(second) << second.error().describe();
    EXPECT_EQ(second->architecture, "sm_80");
    EXPECT_EQ(second->smMegahertz, 0u);
}

TEST_F(VisibleGpuTest, IsMissingWhereThereIsNone) {
    EXPECT_EQ(visibleGpu(smi_, "", {}).error().kind, ErrorKind::Missing);
    EXPECT_EQ(visibleGpu(script("none", "echo 'No devices were found'\n"), {}, {}).error().kind,
              ErrorKind::Missing);
    EXPECT_EQ(visibleGpu(folder_.path() / "absent", {}, {}).error().kind, ErrorKind::Missing);
}

TEST(VisibleDevices, AreThoseOfTheEnvironment) {
    ::setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    EXPECT_EQ(visibleDevices(), "1,0");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(visibleDevices(), std::nullopt);
}

} // namespace
} // namespace kernelskill::engine::graph
