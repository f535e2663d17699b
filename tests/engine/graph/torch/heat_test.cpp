#include "engine/graph/read_program.h"
#include "engine/graph/reference/torch_reference.h"
#include "engine/graph/torch/heat.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::HasSubstr;
using testing::sampleProgram;
using ::testing::SizeIs;

class HeatTest : public ::testing::Test {
protected:
    ~HeatTest() override { ::unsetenv("KERNELSKILL_TEST_CHEAT"); }

    /// A copy of the model: libraries stay loaded.
    std::filesystem::path copyOf(const std::filesystem::path& library) {
        const auto copy = folder_.path() / ("lib" + std::to_string(++copies_) + ".so");
        std::filesystem::copy_file(library, copy);
        return copy;
    }
    Result<TorchHeat> heatOf(std::vector<std::filesystem::path> libraries) {
        auto program = readProgram(sampleProgram("mlp-dynamic").archive);
        EXPECT_TRUE(program) << program.error().describe();
        TorchHeatRequest request;
        request.subject.archive = sampleProgram("mlp-dynamic").archive;
        request.libraries = std::move(libraries);
        request.rounds = 7;
        return runHeat(std::make_shared<const Program>(*std::move(program)), request);
    }

    kernelskill::testing::TemporaryFolder folder_;
    int copies_ = 0;
};

TEST_F(HeatTest, TimesAllModelsThatAreRight) {
    const auto heat = heatOf({copyOf(KERNELSKILL_TEST_LIBRARY_MLP), folder_.path() / "absent.so",
                              copyOf(KERNELSKILL_TEST_LIBRARY_MLP)});
    ASSERT_TRUE(heat) << heat.error().describe();
    ASSERT_THAT(heat->lanes, SizeIs(3));
    EXPECT_EQ(heat->device, "cpu");
    for (const std::size_t lane : {0, 2}) {
        ASSERT_TRUE(heat->lanes[lane].timing) << heat->lanes[lane].why;
        EXPECT_THAT(heat->lanes[lane].timing->microseconds, SizeIs(7));
        EXPECT_GT(heat->lanes[lane].timing->median(), 0);
    }
    EXPECT_FALSE(heat->lanes[1].timing);
    EXPECT_THAT(heat->lanes[1].why, HasSubstr("absent.so"));
}

TEST_F(HeatTest, DoesNotTimeAModelThatFails) {
    ::setenv("KERNELSKILL_TEST_CHEAT", "unknown node", 1);
    const auto heat = heatOf({copyOf(KERNELSKILL_TEST_LIBRARY_MLP)});
    ASSERT_TRUE(heat) << heat.error().describe();
    EXPECT_FALSE(heat->lanes.at(0).timing);
    EXPECT_THAT(heat->lanes.at(0).why, HasSubstr("linear_7"));
}

TEST_F(HeatTest, DoesNotTimeAModelWithOtherResults) {
    ::setenv("KERNELSKILL_TEST_CHEAT", "no softmax", 1);
    const auto heat = heatOf({copyOf(KERNELSKILL_TEST_LIBRARY_MLP)});
    ASSERT_TRUE(heat) << heat.error().describe();
    EXPECT_FALSE(heat->lanes.at(0).timing);
    EXPECT_THAT(heat->lanes.at(0).why, HasSubstr("instead of"));
}

TEST_F(HeatTest, RunsInTheChildAndAgainAfterAFailure) {
    TorchReference torch(paths::torchProgram);
    TorchHeatRequest request;
    request.subject.archive = folder_.path() / "absent.pt2";
    request.libraries = {copyOf(KERNELSKILL_TEST_LIBRARY_MLP)};
    EXPECT_FALSE(torch.runHeat(request));
    request.subject.archive = sampleProgram("mlp-dynamic").archive;
    const auto heat = torch.runHeat(request);
    ASSERT_TRUE(heat) << heat.error().describe();
    EXPECT_TRUE(heat->lanes.at(0).timing) << heat->lanes.at(0).why;
}

} // namespace
} // namespace kernelskill::engine::graph
