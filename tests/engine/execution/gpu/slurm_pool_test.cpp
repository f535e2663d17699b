/// Runners on a real Slurm, by the program that stands in for one with a GPU.
#include "engine/execution/gpu/runner_pool.h"
#include "tests/engine/execution/gpu/child_processes.h"
#include "tests/paths.h"
#include "tests/slurm_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace kernelskill::engine::gpu {
namespace {

using kernelskill::testing::SlurmCluster;
using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class SlurmPoolTest : public ::testing::Test {
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
        ::setenv("SLURM_CONF", cluster_->configuration().c_str(), 1);
    }
    void TearDown() override { ::unsetenv("SLURM_CONF"); }

    /// Uses one of the cluster's two GPUs.
    static RunnerCommand command() {
        RunnerCommand command;
        command.executable = paths::testRunner;
        command.prefix = {"/usr/bin/env", "GPUS=H100 9.0,H100 9.0"};
        command.slurm.emplace();
        command.slurm->gres = "gpu:1";
        return command;
    }
    static std::unique_ptr<RunnerPool> open(RunnerCommand wanted = command()) {
        auto pool = RunnerPool::open(std::move(wanted), {});
        EXPECT_TRUE(pool) << pool.error().describe();
        return pool ? std::move(*pool) : nullptr;
    }
    static Error problemOf(const RunnerCommand& wanted) {
        const auto pool = RunnerPool::open(wanted, {});
        EXPECT_FALSE(pool);
        return pool ? Error{} : pool.error();
    }

    static Result<RunAnswer> ask(RunnerPool& pool, RunRequest request) {
        auto answer = pool.ask(request, {});
        if (!answer)
            return std::unexpected(answer.error());
        return std::get<RunAnswer>(std::move(*answer));
    }
    static Result<std::string> order(RunnerPool& pool, std::string what) {
        RunRequest request;
        request.subject.symbol = std::move(what);
        auto answer = ask(pool, std::move(request));
        if (!answer)
            return std::unexpected(answer.error());
        return answer->printed;
    }

    static bool isSrun(pid_t process) {
        std::ifstream name("/proc/" + std::to_string(process) + "/comm");
        std::string text;
        return std::getline(name, text) && text == "srun";
    }

    /// Whether it comes to so many jobs within some seconds.
    static bool comesTo(int jobs, const std::string& name = "kernelskill") {
        for (int i = 0; i < 100; ++i) {
            if (cluster_->jobs(name) == jobs)
                return true;
            std::this_thread::sleep_for(milliseconds(100));
        }
        return false;
    }

    static inline std::unique_ptr<SlurmCluster> cluster_;
};

/// Takes all GPUs of the cluster until it goes.
class Occupant {
public:
    explicit Occupant(SlurmCluster& cluster)
        : cluster_(cluster), job_([this] {
              static_cast<void>(
                  cluster_.output("timeout 60 srun --job-name=occupant --gres=gpu:2 sleep 60"));
          }) {}
    ~Occupant() { static_cast<void>(cluster_.output("scancel --name=occupant")); }

private:
    SlurmCluster& cluster_;
    std::jthread job_;
};

TEST_F(SlurmPoolTest, AsksARunnerOnANode) {
    const auto pool = open();
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->device().name, "H100");
    // Slurm has set $CUDA_VISIBLE_DEVICES: the job sees the GPU that it was given.
    EXPECT_EQ(pool->device().devices, 1);
    const auto answer = order(*pool, "hello");
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_THAT(*answer, HasSubstr("hello by "));
}

TEST_F(SlurmPoolTest, GivesItsJobBack) {
    auto pool = open();
    EXPECT_TRUE(comesTo(1));
    pool.reset();
    EXPECT_TRUE(comesTo(0));
}

TEST_F(SlurmPoolTest, CarriesEveryByteBothWays) {
    RunRequest request;
    request.subject.symbol = "twice";
    BufferSpec in;
    in.elements = 1 << 20;
    BufferSpec out = in;
    out.isOutput = true;
    ScalarSpec size;
    const std::int32_t elements = 1 << 20;
    size.bytes.resize(sizeof elements);
    std::memcpy(size.bytes.data(), &elements, sizeof elements);
    request.subject.launch.arguments = {in, out, size};
    request.subject.cubin.resize(1 << 20);
    for (std::size_t i = 0; i < request.subject.cubin.size(); ++i)
        request.subject.cubin[i] = static_cast<char>(i * 31 + i / 251);
    request.wantOutputs = true;
    auto local = command();
    local.slurm.reset();
    const auto expected = ask(*open(local), request);
    ASSERT_TRUE(expected) << expected.error().describe();
    ASSERT_EQ(expected->outputs.at(0).bytes.size(), 4u << 20);
    const auto pool = open();
    const auto actual = ask(*pool, request);
    ASSERT_TRUE(actual) << actual.error().describe();
    EXPECT_TRUE(actual->outputs.at(0).bytes == expected->outputs.at(0).bytes);
}

TEST_F(SlurmPoolTest, RunsJobsSideBySide) {
    auto wanted = command();
    wanted.slurm->slots = 2;
    const auto pool = open(wanted);
    std::multiset<std::string> gpus;
    std::mutex mutex;
    std::vector<std::jthread> askers;
    for (int i = 0; i < 2; ++i)
        askers.emplace_back([&] {
            const auto gpu = order(*pool, "gpu:1000");
            ASSERT_TRUE(gpu) << gpu.error().describe();
            const std::scoped_lock lock(mutex);
            gpus.insert(*gpu);
        });
    askers.clear();
    EXPECT_EQ(gpus, (std::multiset<std::string>{"GPU-0", "GPU-1"}));
}

TEST_F(SlurmPoolTest, WaitsInTheQueueAndSaysSo) {
    auto occupant = std::make_unique<Occupant>(*cluster_);
    ASSERT_TRUE(comesTo(1, "occupant"));
    std::vector<std::string> said;
    const auto pool = RunnerPool::open(command(), {}, [&](std::string_view what) {
        said.emplace_back(what);
        occupant.reset();
    });
    ASSERT_TRUE(pool) << pool.error().describe();
    EXPECT_THAT(said, Contains(HasSubstr("waiting in Slurm's queue, job ")));
    EXPECT_TRUE(order(**pool, "hello"));
}

TEST_F(SlurmPoolTest, LeavesTheQueueWhenCancelled) {
    const Occupant occupant(*cluster_);
    ASSERT_TRUE(comesTo(1, "occupant"));
    std::stop_source source;
    const auto pool = RunnerPool::open(command(), source.get_token(),
                                       [&](std::string_view) { source.request_stop(); });
    ASSERT_FALSE(pool);
    EXPECT_EQ(pool.error().kind, ErrorKind::Cancelled);
    EXPECT_TRUE(comesTo(0));
}

TEST_F(SlurmPoolTest, SaysWhatTheClusterLacks) {
    auto wanted = command();
    wanted.slurm->partition = "nowhere";
    auto error = problemOf(wanted);
    EXPECT_EQ(error.kind, ErrorKind::Missing);
    EXPECT_EQ(error.what, "Slurm has no partition 'nowhere'");
    EXPECT_THAT(error.remedy, HasSubstr("kernelskill.slurm.partition"));

    wanted = command();
    wanted.slurm->gres = "quantum:1";
    error = problemOf(wanted);
    EXPECT_EQ(error.kind, ErrorKind::Missing);
    EXPECT_EQ(error.what, "Slurm has no 'quantum:1' to give");

    wanted = command();
    wanted.slurm->timeLimit = "a while";
    EXPECT_EQ(problemOf(wanted).kind, ErrorKind::InvalidInput);

    wanted = command();
    wanted.slurm->arguments = {"--nonsense"};
    EXPECT_EQ(problemOf(wanted).kind, ErrorKind::InvalidInput);

    wanted = command();
    wanted.slurm->arguments = {"--nodelist=nowhere"};
    EXPECT_THAT(problemOf(wanted).what, HasSubstr("Invalid node name"));
}

TEST_F(SlurmPoolTest, SaysThatTheNodeHasNoRunner) {
    auto wanted = command();
    wanted.prefix.clear();
    wanted.slurm->runner = "/nowhere/kernelskill-runner";
    const auto error = problemOf(wanted);
    EXPECT_EQ(error.kind, ErrorKind::Missing);
    EXPECT_THAT(error.what, HasSubstr("the node cannot start the runner"));
    EXPECT_THAT(error.where, HasSubstr("/nowhere/kernelskill-runner"));
    EXPECT_THAT(error.remedy, HasSubstr("kernelskill.slurm.runner"));
}

TEST_F(SlurmPoolTest, SendsTheRunnerAlongIfAsked) {
    const kernelskill::testing::TemporaryFolder folder;
    auto wanted = command();
    wanted.prefix.clear();
    wanted.slurm->arguments = {"--bcast=" + folder.path().string() + "/"};
    const auto pool = open(wanted);
    ASSERT_TRUE(pool);
    EXPECT_TRUE(order(*pool, "hello"));
    EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
}

TEST_F(SlurmPoolTest, AsksForAGpuWhereTheJobGotNone) {
    auto wanted = command();
    wanted.slurm->gres.clear();
    // Like a node that hides its GPUs from jobs that did not request any.
    wanted.prefix.push_back("CUDA_VISIBLE_DEVICES=");
    const auto error = problemOf(wanted);
    EXPECT_EQ(error.kind, ErrorKind::Missing);
    EXPECT_THAT(error.remedy, HasSubstr("kernelskill.slurm.gres"));
}

TEST_F(SlurmPoolTest, SaysThatAJobWasCancelled) {
    const auto pool = open();
    const std::jthread canceller([] {
        std::this_thread::sleep_for(milliseconds(500));
        static_cast<void>(cluster_->output("scancel --name=kernelskill"));
    });
    const auto answer = order(*pool, "sleep:20000");
    ASSERT_FALSE(answer);
    // The node's word may be lost; that Slurm has ended the job is known either way.
    EXPECT_THAT(answer.error().what,
                AnyOf("the Slurm job was cancelled", "Slurm ended the job without a reason"));
    EXPECT_TRUE(order(*pool, "next"));
}

TEST_F(SlurmPoolTest, AsksAgainWhenARunnerDies) {
    const kernelskill::testing::TemporaryFolder folder;
    const auto pool = open();
    const auto answer = order(*pool, "die-once:" + (folder.path() / "died").string());
    ASSERT_TRUE(answer) << answer.error().describe();
}

TEST_F(SlurmPoolTest, AsksAgainWhenSrunDies) {
    const auto pool = open();
    std::atomic<int> kills = 0;
    const std::jthread killer([&] {
        std::this_thread::sleep_for(milliseconds(300));
        for (const pid_t child : kernelskill::testing::childProcesses())
            kills += isSrun(child) && ::kill(child, SIGKILL) == 0 ? 1 : 0;
    });
    const auto answer = order(*pool, "sleep:1000");
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(kills, 1);
}

TEST_F(SlurmPoolTest, GivesBackWhatNobodyUses) {
    auto wanted = command();
    wanted.slurm->idleTime = std::chrono::seconds(1);
    const auto pool = open(wanted);
    ASSERT_TRUE(order(*pool, "hello"));
    EXPECT_TRUE(comesTo(0));
    const auto answer = order(*pool, "hello again");
    ASSERT_TRUE(answer) << answer.error().describe();
}

TEST_F(SlurmPoolTest, RefusesAGpuOfAnotherModel) {
    auto wanted = command();
    wanted.slurm->slots = 2;
    wanted.prefix = {"/usr/bin/env", "GPUS=H100 9.0,T4 7.5"};
    const auto pool = open(wanted);
    EXPECT_EQ(pool->device().name, "H100");
    std::jthread first([&] { EXPECT_TRUE(order(*pool, "sleep:2000")); });
    std::this_thread::sleep_for(milliseconds(300));
    const auto second = order(*pool, "hello");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().what, HasSubstr("got a T4, those before a H100"));
}

} // namespace
} // namespace kernelskill::engine::gpu
