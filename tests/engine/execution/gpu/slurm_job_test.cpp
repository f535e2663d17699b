#include "engine/execution/gpu/slurm_job.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::engine::gpu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SlurmJob jobOfEverySetting() {
    SlurmJob job;
    job.partition = "debug";
    job.gres = "gpu:h100:1";
    job.timeLimit = "0:30:00";
    job.account = "physics";
    return job;
}

class SlurmJobTest : public ::testing::Test {
protected:
    SlurmJobTest() {
        std::ofstream(srun()) << "#!/bin/sh\n";
        std::filesystem::permissions(srun(), std::filesystem::perms::owner_all);
    }
    [[nodiscard]] std::filesystem::path srun() const { return folder_.path() / "srun"; }

    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(SlurmJobTest, AsksSrunForWhatIsSet) {
    auto job = jobOfEverySetting();
    job.srun = srun();
    job.arguments = {"--constraint=fast", "--exclusive"};
    const auto words = srunWords(job);
    ASSERT_TRUE(words) << words.error().describe();
    EXPECT_EQ(words->front(), srun());
    for (const char* word : {"--unbuffered", "--partition=debug", "--gres=gpu:h100:1",
                             "--time=0:30:00", "--account=physics"})
        EXPECT_THAT(*words, Contains(word));
    EXPECT_EQ(words->back(), "--exclusive");
}

TEST_F(SlurmJobTest, LeavesToTheClusterWhatIsNotSet) {
    SlurmJob job;
    job.srun = srun();
    const auto words = srunWords(job);
    ASSERT_TRUE(words) << words.error().describe();
    for (const char* option : {"--partition", "--gres", "--time", "--account"})
        EXPECT_THAT(*words, Not(Contains(StartsWith(option))));
}

TEST_F(SlurmJobTest, IsMissingWithoutSrun) {
    SlurmJob job;
    job.srun = "/nowhere/srun";
    const auto words = srunWords(job);
    ASSERT_FALSE(words);
    EXPECT_EQ(words.error().kind, ErrorKind::Missing);
    EXPECT_THAT(words.error().remedy, HasSubstr("kernelskill.slurm.srun"));
}

TEST(SlurmQueue, IsToldFromWhatSrunSays) {
    EXPECT_EQ(queueState("srun: job 12 queued and waiting for resources"),
              "waiting in Slurm's queue, job 12");
    EXPECT_EQ(queueState("srun: job 12 has been allocated resources"), "Slurm starts job 12");
    EXPECT_EQ(queueState("srun: Job 7 step creation temporarily disabled, retrying (Requested "
                         "nodes are busy)"),
              "waiting for other steps of Slurm's job 7");
    EXPECT_EQ(queueState("srun: error: vm: task 0: Killed"), std::nullopt);
    EXPECT_EQ(queueState(""), std::nullopt);
}

// Messages of Slurm 22.05.
TEST(SlurmErrors, NameTheTimeLimit) {
    const auto error = slurmError(
        jobOfEverySetting(),
        "srun: job 15 queued and waiting for resources\n"
        "srun: job 15 has been allocated resources\n"
        "slurmstepd-vm: error: *** STEP 15.0 ON vm CANCELLED AT 2026-11-22T03:57:21 DUE TO TIME "
        "LIMIT ***\n"
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
        "srun: error: vm: task 0: Terminated\n");
    EXPECT_EQ(error.kind, ErrorKind::Failed);
    EXPECT_EQ(error.what, "the Slurm job has reached its time limit of 0:30:00");
    EXPECT_THAT(error.remedy, HasSubstr("kernelskill.slurm.timeLimit"));
}

TEST(SlurmErrors, TellEndsByTheClusterFromThoseByTheRunner) {
    EXPECT_TRUE(wasEndedBySlurm(
        "slurmstepd-vm: error: *** STEP 11.0 ON vm CANCELLED AT 2026-11-22T03:56:21 ***\n"));
    EXPECT_FALSE(wasEndedBySlurm("srun: error: vm: task 0: Killed\n"));
}

// On a busy machine the node's message is lost in about one of ten cancellations.
TEST(SlurmErrors, TellAnEndWhoseReasonWasLost) {
    constexpr std::string_view said =
        "srun: job 3 has been allocated resources\n"
        "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.\n"
        "srun: error: vm: task 0: Terminated\n";
    EXPECT_TRUE(wasEndedBySlurm(said));
    const auto error = slurmError({}, said);
    EXPECT_EQ(error.kind, ErrorKind::Failed);
    EXPECT_EQ(error.what, "Slurm ended the job without a reason");
    EXPECT_THAT(error.remedy, HasSubstr("cancelled"));
}

TEST(SlurmErrors, NameTheAccount) {
    const auto error = slurmError(jobOfEverySetting(),
                                  "srun: error: Unable to allocate resources: Invalid account or "
                                  "account/partition combination specified\n");
    EXPECT_EQ(error.kind, ErrorKind::Missing);
    EXPECT_THAT(error.what, HasSubstr("physics"));
}

TEST(SlurmErrors, RepeatWhatNobodyForesaw) {
    const auto error = slurmError({}, "/tmp/runner: error while loading shared libraries: "
                                      "libstdc++.so.6: cannot open shared object file\n"
                                      "srun: error: vm: task 0: Exited with exit code 127\n");
    EXPECT_EQ(error.kind, ErrorKind::Failed);
    EXPECT_THAT(error.what, HasSubstr("libstdc++.so.6"));
    EXPECT_THAT(slurmError({}, "").what, HasSubstr("without a message"));
}

} // namespace
} // namespace kernelskill::engine::gpu
