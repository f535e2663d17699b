#include "engine/process/patient_lock.h"
#include "engine/workbench/gpu_access.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

class GpuAccessTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto found = analysis::findToolchain({});
        ASSERT_TRUE(found) << found.error().describe();
        if (!found->toolkit)
            GTEST_SKIP() << "no CUDA toolkit, whose compiler a GPU needs";
        toolkit_ = found->toolkit;
    }

    [[nodiscard]] GpuOptions optionsOf(const char* runner) const {
        GpuOptions options;
        options.runner.executable = runner;
        options.runner.prefix = {"/usr/bin/env", "GPUS=H100 9.0"};
        options.compile.toolkit = toolkit_;
        return options;
    }

private:
    std::optional<analysis::CudaToolkit> toolkit_;
};

TEST(GpuAccess, OffersNothingWithoutARunner) {
    GpuAccess access(GpuOptions{});
    EXPECT_FALSE(access.isOffered());
    const auto gpu = access.open({}, {});
    ASSERT_FALSE(gpu);
    EXPECT_EQ(gpu.error().kind, ErrorKind::Missing);
    EXPECT_EQ(access.opened(), nullptr);
}

TEST_F(GpuAccessTest, OpensOnceForAll) {
    GpuAccess access(optionsOf(paths::testRunner));
    EXPECT_EQ(access.opened(), nullptr);
    auto other = std::async(std::launch::async, [&] { return access.open({}, {}); });
    const auto gpu = access.open({}, {});
    ASSERT_TRUE(gpu) << gpu.error().describe();
    EXPECT_TRUE(access.isOffered());
    EXPECT_EQ(access.opened(), *gpu);
    const auto same = other.get();
    ASSERT_TRUE(same);
    EXPECT_EQ(*same, *gpu);
}

TEST_F(GpuAccessTest, IsNoLongerOfferedOnceItFailed) {
    GpuAccess access(optionsOf("/nowhere/kernelskill-runner"));
    const auto gpu = access.open({}, {});
    ASSERT_FALSE(gpu);
    EXPECT_THAT(gpu.error().what, HasSubstr("runner"));
    EXPECT_FALSE(access.isOffered());
}

TEST(PatientLock, IsGivenUpByTheOneWhoWaits) {
    std::timed_mutex mutex;
    const std::scoped_lock held(mutex);
    std::stop_source stop;
    auto waiting =
        std::async(std::launch::async, [&] { return lockUnlessStopped(mutex, stop.get_token()); });
    stop.request_stop();
    const auto lock = waiting.get();
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().kind, ErrorKind::Cancelled);
}

} // namespace
} // namespace kernelskill::engine
