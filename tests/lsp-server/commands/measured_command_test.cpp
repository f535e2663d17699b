// The command line on a GPU and on a Slurm cluster, as a user types it, with a runner that needs no
// GPU. Skips where no CUDA toolkit compiles for GPUs.
#include "analysis/source/json.h"
#include "tests/paths.h"
#include "tests/slurm_cluster.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::SlurmCluster;
namespace fs = std::filesystem;

constexpr const char* twice = "__global__ void twice(const float* in, float* out, int n) {\n"
                              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    if (i < n)\n"
                              "        out[i] = 2.0f * in[i];\n"
                              "}\n"
                              "void launch(const float* in, float* out) {\n"
                              "    twice<<<4096, 256>>>(in, out, 1 << 20);\n"
                              "}\n";

struct Outcome {
    int status = -1;
    std::string output;
    std::string messages;
    [[nodiscard]] json document() const { return json::parse(output, nullptr, false); }
};

/// kernelskill with the runner that a test wants beside it.
class MeasuredCommand : public ::testing::Test {
protected:
    void SetUp() override {
        fs::create_directory(folder_.path() / "bin");
        fs::copy_file(fs::path(paths::buildFolder) / "bin/kernelskill",
                      folder_.path() / "bin/kernelskill");
        std::ofstream(folder_.path() / "twice.cu") << twice;
        const auto doctor = run("doctor --json").document();
        ASSERT_TRUE(doctor.is_object());
        if (check(doctor, "cuda-toolkit").at("status") != "ok")
            GTEST_SKIP() << "no CUDA toolkit, whose compiler a GPU needs";
    }

    static json check(const json& doctor, const std::string& name) {
        for (const auto& each : doctor.at("checks")) {
            if (each.at("name") == name)
                return each;
        }
        return {{"status", "not there"}};
    }

    /// `variables` as test_runner_main.cpp has them.
    void putRunner(const std::string& variables) const {
        const auto runner = folder_.path() / "bin/kernelskill-runner";
        std::ofstream(runner) << "#!/bin/sh\nexec env " << variables << " STARTED='"
                              << started().string() << "' '" << paths::testRunner << "' \"$@\"\n";
        fs::permissions(runner, fs::perms::owner_all);
    }
    [[nodiscard]] fs::path started() const { return folder_.path() / "started"; }

    [[nodiscard]] Outcome run(const std::string& arguments,
                              const std::string& environment = {}) const {
        const auto folder = folder_.path().string();
        const auto command = "cd '" + folder + "' && " + environment + " XDG_DATA_HOME='" + folder +
                             "/data' XDG_CACHE_HOME='" + folder + "/cache' KERNELSKILL_DATA_DIR='" +
                             paths::buildFolder + "/share/kernelskill' bin/kernelskill " +
                             arguments + " 2>messages";
        Outcome outcome;
        std::FILE* pipe = ::popen(command.c_str(), "r"); // NOLINT: a test's own words
        for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
            outcome.output += static_cast<char>(c);
        outcome.status = WEXITSTATUS(::pclose(pipe));
        std::ifstream messages(folder_.path() / "messages");
        outcome.messages.assign(std::istreambuf_iterator<char>(messages), {});
        return outcome;
    }

    testing::TemporaryFolder folder_;
};

TEST_F(MeasuredCommand, ProfilesOnTheGpu) {
    putRunner("GPUS='H100 9.0' TIMES=50 METRICS='dram__bytes_read.sum=4194304' "
              "STALLS='3 long_scoreboard 300' STALLS_FILE='" +
              (folder_.path() / "twice.cu").string() + "'");
    const auto outcome = run("profile twice.cu --kernel twice --on gpu --json");
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    const auto profile = outcome.document();
    EXPECT_EQ(profile.at("executor"), "gpu");
    EXPECT_EQ(profile.at("metrics").at("dram__bytes_read.sum"), 4194304);
    json stalled;
    for (const auto& line : profile.at("lines")) {
        if (line.at("line") == 3)
            stalled = line.at("metrics");
    }
    EXPECT_EQ(stalled.at("smsp__pcsamp_warps_issue_stalled_long_scoreboard"), 300);
    const auto text = run("profile twice.cu --on gpu --kernel twice");
    EXPECT_EQ(text.status, 0) << text.messages;
    EXPECT_THAT(text.output, HasSubstr("H100"));
    EXPECT_THAT(text.output, HasSubstr("stall %"));
}

TEST_F(MeasuredCommand, TimesAnEdit) {
    putRunner("GPUS='H100 9.0' TIMES=200,100");
    const auto outcome = run("apply restrict-and-const twice.cu:1 --json");
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    EXPECT_EQ(outcome.document().at("verdict").at("status"), "faster") << outcome.output;
}

TEST_F(MeasuredCommand, StartsNoRunnerWhereNothingIsToBeMeasured) {
    putRunner("GPUS='H100 9.0' TIMES=200,100");
    const auto outcome = run("apply restrict-and-const twice.cu:1 --on emulator --json");
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    EXPECT_EQ(outcome.document().at("verdict").at("status"), "unmeasured") << outcome.output;
    EXPECT_EQ(run("profile twice.cu --json").status, 0);
    EXPECT_FALSE(fs::exists(started()));
}

TEST_F(MeasuredCommand, IsMissingWithoutARunner) {
    const auto outcome = run("profile twice.cu --kernel twice --on gpu --json");
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.messages, HasSubstr("kernelskill-runner"));
}

class SlurmCommand : public MeasuredCommand {
protected:
    static void SetUpTestSuite() {
        if (SlurmCluster::whyNot().empty())
            cluster_ = std::make_unique<SlurmCluster>();
    }
    static void TearDownTestSuite() { cluster_.reset(); }
    void SetUp() override {
        if (!cluster_)
            GTEST_SKIP() << "no Slurm to test on: " << SlurmCluster::whyNot();
        ASSERT_EQ(cluster_->problem(), "");
        MeasuredCommand::SetUp();
    }
    [[nodiscard]] Outcome onCluster(const std::string& arguments) const {
        return run(arguments, "SLURM_CONF='" + cluster_->configuration().string() + "'");
    }

    static inline std::unique_ptr<SlurmCluster> cluster_;
};

TEST_F(SlurmCommand, ProfilesOnANode) {
    putRunner("TIMES=50 METRICS='dram__bytes_read.sum=4194304'");
    const auto outcome = onCluster("profile twice.cu --kernel twice --on slurm --json");
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    const auto profile = outcome.document();
    EXPECT_EQ(profile.at("executor"), "slurm");
    EXPECT_EQ(profile.at("metrics").at("dram__bytes_read.sum"), 4194304);
    EXPECT_TRUE(fs::exists(started()));
    EXPECT_EQ(cluster_->jobs("kernelskill"), 0) << "the job is given back";
}

TEST_F(SlurmCommand, TimesAnEditOnANode) {
    putRunner("TIMES=200,100");
    const auto outcome = onCluster("apply restrict-and-const twice.cu:1 --on slurm --json");
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    EXPECT_EQ(outcome.document().at("verdict").at("status"), "faster") << outcome.output;
}

TEST_F(SlurmCommand, NamesThePartitionThatIsNotThere) {
    putRunner("TIMES=50");
    const auto outcome = onCluster("profile twice.cu --on slurm --partition nowhere");
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.messages, HasSubstr("Slurm has no partition 'nowhere'"));
    EXPECT_FALSE(fs::exists(started()));
}

TEST_F(SlurmCommand, IsExaminedByTheDoctor) {
    const auto found = check(onCluster("doctor --json").document(), "slurm");
    EXPECT_EQ(found.at("status"), "ok") << found;
    EXPECT_THAT(found.at("detail").get<std::string>(), HasSubstr("tests* (1 nodes, gpu:2)"));
    const auto lost =
        check(run("doctor --json", "SLURM_CONF=/nowhere/slurm.conf").document(), "slurm");
    EXPECT_EQ(lost.at("status"), "absent") << lost;
}

TEST_F(SlurmCommand, LeavesTheQueueAtCtrlC) {
    putRunner("TIMES=50");
    static_cast<void>(cluster_->output("sh -c 'srun --job-name=occupant --gres=gpu:2 sleep 60 "
                                       ">/dev/null 2>&1 </dev/null &'"));
    for (int i = 0; i < 50 && cluster_->jobs("occupant") == 0; ++i)
        ::usleep(100'000);
    // timeout sends what Ctrl-C sends.
    const auto outcome =
        run("profile twice.cu --on slurm", "SLURM_CONF='" + cluster_->configuration().string() +
                                               "' timeout --signal=INT --kill-after=20 2 env");
    EXPECT_THAT(outcome.messages, HasSubstr("waiting in Slurm's queue"));
    EXPECT_THAT(outcome.messages, HasSubstr("stopping"));
    // Slurm takes a moment to forget a job that was cancelled; on a busy machine, several seconds.
    for (int i = 0; i < 300 && cluster_->jobs("kernelskill") != 0; ++i)
        ::usleep(100'000);
    EXPECT_EQ(cluster_->jobs("kernelskill"), 0);
    static_cast<void>(cluster_->output("scancel --name=occupant"));
}

} // namespace
} // namespace kernelskill::lsp
