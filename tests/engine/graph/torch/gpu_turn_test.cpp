#include "engine/graph/torch/gpu_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>

namespace kernelskill::engine::graph {
namespace {

class GpuTurnTest : public ::testing::Test {
protected:
    ~GpuTurnTest() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
};

TEST_F(GpuTurnTest, IsOfTheGpuThatIsVisibleThere) {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(GpuTurn::fileFor("cpu"), "");
    EXPECT_EQ(GpuTurn::fileFor("cuda").filename(), "kernelskill-gpu-0.lock");
    EXPECT_EQ(GpuTurn::fileFor("cuda:3").filename(), "kernelskill-gpu-3.lock");
    ::setenv("CUDA_VISIBLE_DEVICES", "2,5", 1);
    EXPECT_EQ(GpuTurn::fileFor("cuda").filename(), "kernelskill-gpu-2.lock");
    EXPECT_EQ(GpuTurn::fileFor("cuda:1").filename(), "kernelskill-gpu-5.lock");
    ::setenv("CUDA_VISIBLE_DEVICES", "GPU-1a2b", 1);
    EXPECT_EQ(GpuTurn::fileFor("cuda").filename(), "kernelskill-gpu-GPU-1a2b.lock");
}

TEST_F(GpuTurnTest, IsHadByOneAtATime) {
    ::setenv("CUDA_VISIBLE_DEVICES", ("test" + std::to_string(::getpid())).c_str(), 1);
    std::atomic<bool> isSecond = false;
    std::jthread second;
    {
        const GpuTurn first("cuda");
        second = std::jthread([&] {
            const GpuTurn turn("cuda");
            isSecond = true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_FALSE(isSecond);
    }
    second.join();
    EXPECT_TRUE(isSecond);
    std::filesystem::remove(GpuTurn::fileFor("cuda"));
}

} // namespace
} // namespace kernelskill::engine::graph
