#include "engine/graph/torch/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::HasSubstr;

Result<TorchRequest> parsed(const std::vector<const char*>& words) {
    return requestFrom(words);
}

TEST(TorchCommandLine, ReadsWhatToJudge) {
    const auto request =
        parsed({"--judge=/a.pt2", "--library=/libmodel.so", "--device=cuda:1", "--seed=7",
                "--seeds=2", "--rounds=30", "--gate-seconds=9", "--tf32", "--no-times"});
    ASSERT_TRUE(request) << request.error().describe();
    const auto& judge = std::get<TorchJudgeRequest>(*request);
    EXPECT_EQ(judge.subject.archive, "/a.pt2");
    EXPECT_EQ(judge.library, "/libmodel.so");
    EXPECT_EQ(judge.subject.device, "cuda:1");
    EXPECT_EQ(judge.subject.seed, 7u);
    EXPECT_TRUE(judge.subject.allowsTf32);
    EXPECT_EQ(judge.seeds, 2u);
    EXPECT_EQ(judge.rounds, 30u);
    EXPECT_EQ(judge.longestGate, std::chrono::seconds(9));
    EXPECT_FALSE(judge.wantsTimes);
}

TEST(TorchCommandLine, ReadsWhatToTime) {
    const auto request = parsed({"--time=a.pt2", "--device=cpu"});
    ASSERT_TRUE(request) << request.error().describe();
    const auto& timing = std::get<TorchTimingRequest>(*request);
    EXPECT_TRUE(timing.subject.archive.is_absolute());
    EXPECT_EQ(timing.subject.device, "cpu");
    EXPECT_EQ(timing.rounds, 100u);
}

TEST(TorchCommandLine, RefusesOtherWordsByName) {
    const auto reason = [](const std::vector<const char*>& words) {
        const auto request = parsed(words);
        return request ? std::string("it was taken") : request.error().describe();
    };
    EXPECT_THAT(reason({"--nonsense"}), HasSubstr("'--nonsense'"));
    EXPECT_THAT(reason({"--judge"}), HasSubstr("'--judge'"));
    EXPECT_THAT(reason({"--seed=3x"}), HasSubstr("'--seed=3x' needs a whole number"));
    EXPECT_THAT(reason({"--rounds=99999999999"}), HasSubstr("needs a whole number"));
    EXPECT_THAT(reason({"--judge=a.pt2"}), HasSubstr("--library"));
    EXPECT_THAT(reason({"--judge=a.pt2", "--time=a.pt2"}), HasSubstr("--judge or --time"));
    EXPECT_THAT(reason({}), HasSubstr("--judge or --time"));
}

TEST(TorchCommandLine, AnswersWithJsonAndAStatus) {
    Judgement right;
    right.trials.resize(1);
    right.trials[0].isWithinLoose = true;
    EXPECT_EQ(exitStatus(right), 0);
    EXPECT_THAT(jsonOf(right), HasSubstr("\"within1e-2\":true"));
    Judgement refused = right;
    refused.refusals = {"the candidate cheats"};
    EXPECT_EQ(exitStatus(refused), 1);
    EXPECT_THAT(jsonOf(refused), HasSubstr("\"refused\":true"));
    EXPECT_EQ(exitStatus(Judgement{}), 1);
    EXPECT_THAT(jsonOf(TorchTiming{{3, 1, 2}, true}), HasSubstr("\"median\":2.0"));
    const TorchFailure failure{{ErrorKind::Missing, "no device", {}, {}}, false};
    EXPECT_EQ(jsonOf(failure), R"({"error":"no device"})");
    EXPECT_EQ(exitStatus(failure), 3);
}

} // namespace
} // namespace kernelskill::engine::graph
