#include "engine/graph/read_program.h"
#include "engine/graph/reference/torch_reference.h"
#include "engine/graph/torch/cuda_devices.h"
#include "engine/graph/torch/judge.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramBuilder;
using testing::sampleProgram;
using ::testing::SizeIs;
using testing::value;

/// The program that candidates/perceptron.cpp computes.
ProgramBuilder perceptron() {
    ProgramBuilder builder;
    builder.dynamicInput("x", {6, 8}, "s0", {1, 64})
        .parameter("w", {4, 8})
        .parameter("b", {4})
        .node("linear", "aten.linear.default",
              {value("input", "x"), value("weight", "w"), value("bias", "b")})
        .type("linear", {6, 4})
        .node("y", "aten.relu.default", {value("self", "linear")})
        .type("y", {6, 4})
        .node("sums", "aten.sum.dim_IntList",
              {value("self", "y"), {"dim", std::vector<std::int64_t>{1}}})
        .type("sums", {6})
        .output("y")
        .output("sums");
    for (const char* name : {"linear", "y", "sums"})
        builder.program().values[name].sizes.front().expression = "s0";
    return builder;
}

class JudgeTest : public ::testing::Test {
protected:
    ~JudgeTest() override { ::unsetenv("KERNELSKILL_TEST_CHEAT"); }

    /// A request for a library that nothing has loaded before: a copy, for libraries stay loaded.
    TorchJudgeRequest requestFor(const std::filesystem::path& library, const std::string& cheat) {
        ::setenv("KERNELSKILL_TEST_CHEAT", cheat.c_str(), 1);
        TorchJudgeRequest request;
        request.library = folder_.path() / ("lib" + std::to_string(++copies_) + ".so");
        std::filesystem::copy_file(library, request.library);
        request.rounds = 20;
        return request;
    }

    Judgement judgementOf(const std::string& cheat, bool wantsTimes = false) {
        auto request = requestFor(KERNELSKILL_TEST_PERCEPTRON, cheat);
        request.wantsTimes = wantsTimes;
        const auto judgement = judge(perceptron().build(), request);
        EXPECT_TRUE(judgement) << judgement.error().describe();
        return judgement.value_or(Judgement{});
    }

    kernelskill::testing::TemporaryFolder folder_;
    int copies_ = 0;
};

TEST_F(JudgeTest, AcceptsAnHonestCandidate) {
    const Judgement judgement = judgementOf("", true);
    EXPECT_THAT(judgement.refusals, ElementsAre());
    EXPECT_TRUE(judgement.isWithinLoose());
    EXPECT_TRUE(judgement.isWithinTight());
    EXPECT_FALSE(judgement.isOutputConstant);
    EXPECT_EQ(judgement.plannedTrials, 36u);
    EXPECT_THAT(judgement.trials, SizeIs(36));
    std::set<std::int64_t> rows;
    std::set<std::uint64_t> seeds;
    std::map<Distribution, int> distributions;
    for (const TrialResult& trial : judgement.trials) {
        rows.insert(trial.symbols.at("s0"));
        seeds.insert(trial.seed);
        ++distributions[trial.distribution];
        EXPECT_TRUE(trial.isFloat64);
        EXPECT_LT(trial.error, 1e-4);
    }
    EXPECT_THAT(rows, ElementsAre(6, 7));
    EXPECT_THAT(seeds, SizeIs(30));
    EXPECT_THAT(distributions, SizeIs(6));
    ASSERT_TRUE(judgement.times);
    EXPECT_THAT(judgement.times->candidate.microseconds, SizeIs(20));
    EXPECT_THAT(judgement.times->eager.microseconds, SizeIs(20));
    EXPECT_EQ(judgement.times->inputCopies, 4u);
    EXPECT_GT(judgement.times->wallMicroseconds, 0);
    EXPECT_FALSE(judgement.times->replayed);
    EXPECT_THAT(judgement.times->whyNotReplayed, HasSubstr("CPU"));
}

struct Cheat {
    std::string name;
    /// A part of it; empty: its results are wrong; nullopt: the one or the other, by chance.
    std::optional<std::string> refusal;
};

void PrintTo(const Cheat& cheat, std::ostream* stream) {
    *stream << cheat.name;
}

class Cheats : public JudgeTest, public ::testing::WithParamInterface<Cheat> {};

TEST_P(Cheats, AreRefused) {
    const Judgement judgement = judgementOf(GetParam().name);
    EXPECT_FALSE(judgement.isWithinLoose());
    EXPECT_FALSE(judgement.times);
    if (!GetParam().refusal)
        return;
    if (GetParam().refusal->empty()) {
        EXPECT_THAT(judgement.refusals, ElementsAre());
        EXPECT_TRUE(std::ranges::any_of(judgement.trials, [](const TrialResult& trial) {
            return !trial.isWithinLoose && trial.error > looseTolerance &&
                   trial.worst.starts_with("output ");
        }));
    } else {
        EXPECT_THAT(judgement.refusals, ElementsAre(HasSubstr(*GetParam().refusal)));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Judge, Cheats,
    ::testing::Values(Cheat{"caches results", ""},
                      Cheat{"works once", "gives other results for the same inputs"},
                      Cheat{"works elsewhere", "gives other results"},
                      Cheat{"writes nothing", "gives other results"},
                      Cheat{"copies the workspace", "gives other results"},
                      Cheat{"copies freed memory", std::nullopt}, Cheat{"usual inputs only", ""},
                      Cheat{"constant", ""}, Cheat{"coarse", ""},
                      Cheat{"changes its input", "changes its input x"},
                      Cheat{"changes its weight", "changes its weight w"},
                      Cheat{"writes beside its output", "writes beside its output sums"},
                      Cheat{"writes beside its workspace", "writes beside its workspace"},
                      Cheat{"differs later", "gives other results for the same inputs"},
                      Cheat{"fails", "forward ends with error 700"}));

TEST_F(JudgeTest, TellsLowerPrecisionFromFloat32) {
    const Judgement judgement = judgementOf("tf32");
    EXPECT_TRUE(judgement.isWithinLoose());
    EXPECT_FALSE(judgement.isWithinTight());
}

TEST_F(JudgeTest, SeesRestInTimedCalls) {
    EXPECT_THAT(judgementOf("rests when it is timed", true).refusals,
                ElementsAre(HasSubstr("timed")));
}

TEST_F(JudgeTest, KeepsItsOwnClock) {
    const Judgement judgement = judgementOf("stops the clock", true);
    ASSERT_TRUE(judgement.times);
    EXPECT_GE(judgement.times->candidate.median(), 3000);
    EXPECT_GE(judgement.times->wallMicroseconds, 3000);
}

TEST_F(JudgeTest, NamesAConstantOutput) {
    auto builder = perceptron();
    builder.program().nodes[1] = {"y",
                                  "aten.clamp.default",
                                  {value("self", "linear"), {"min", 0.5}, {"max", 0.5}},
                                  {{"y"}},
                                  {}};
    auto request = requestFor(KERNELSKILL_TEST_PERCEPTRON, "constant");
    request.wantsTimes = false;
    const auto judgement = judge(builder.build(), request);
    ASSERT_TRUE(judgement) << judgement.error().describe();
    EXPECT_TRUE(judgement->isWithinTight());
    EXPECT_TRUE(judgement->isOutputConstant);
}

TEST_F(JudgeTest, RefusesZerosInPlaceOfSmallOutputs) {
    auto builder = perceptron();
    builder.program().nodes[1] = {
        "y", "aten.mul.Tensor", {value("self", "linear"), {"other", 1e-6}}, {{"y"}}, {}};
    auto request = requestFor(KERNELSKILL_TEST_PERCEPTRON, "zeros");
    const auto judgement = judge(builder.build(), request);
    ASSERT_TRUE(judgement) << judgement.error().describe();
    EXPECT_FALSE(judgement->isWithinLoose());
    EXPECT_FALSE(judgement->isOutputConstant);
}

TEST_F(JudgeTest, NamesANodeThatIsNone) {
    auto request = requestFor(KERNELSKILL_TEST_LIBRARY_MLP, "unknown node");
    auto program = readProgram(sampleProgram("mlp-dynamic").archive);
    ASSERT_TRUE(program) << program.error().describe();
    const auto judgement = judge(std::make_shared<const Program>(std::move(*program)), request);
    ASSERT_TRUE(judgement) << judgement.error().describe();
    EXPECT_THAT(judgement->refusals, ElementsAre(HasSubstr("no such node (node linear_7)")));
}

TEST_F(JudgeTest, HasImagesOfALibraryInChannelsLastOrderWhereTheModelSaysSo) {
    ProgramBuilder builder;
    builder.input("x", {2, 3, 5, 7})
        .parameter("w", {4, 3, 3, 3})
        .node("conv", "aten.conv2d.default", {value("input", "x"), value("weight", "w")})
        .type("conv", {2, 4, 3, 5})
        .output("conv");
    const auto judged = [&](const std::string& cheat) {
        auto request = requestFor(KERNELSKILL_TEST_TURNED_CONVOLUTION, cheat);
        request.wantsTimes = false;
        const auto judgement = judge(builder.build(), request);
        EXPECT_TRUE(judgement) << judgement.error().describe();
        return judgement.value_or(Judgement{});
    };
    for (const char* memory : {"", "own memory"}) {
        const Judgement right = judged(memory);
        EXPECT_THAT(right.refusals, ElementsAre()) << memory;
        EXPECT_TRUE(right.isWithinTight()) << memory;
    }
    EXPECT_FALSE(judged("not named").isWithinLoose());
}

TEST_F(JudgeTest, RefusesLibrariesThatAreNone) {
    auto request = requestFor(KERNELSKILL_TEST_PERCEPTRON, "another version");
    const auto version = judge(perceptron().build(), request);
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(version.error().what, HasSubstr("version 3 instead of 1 or 2"));
    request.library = "/nowhere/libmodel.so";
    const auto absent = judge(perceptron().build(), request);
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().kind, ErrorKind::Missing);
    EXPECT_THAT(absent.error().where, HasSubstr("/nowhere/libmodel.so"));
}

TEST_F(JudgeTest, StopsWhenTheTimeIsUp) {
    auto request = requestFor(KERNELSKILL_TEST_PERCEPTRON, "");
    request.longestGate = std::chrono::milliseconds(0);
    request.wantsTimes = false;
    const auto judgement = judge(perceptron().build(), request);
    ASSERT_TRUE(judgement) << judgement.error().describe();
    EXPECT_TRUE(judgement->isWithinTight());
    EXPECT_THAT(judgement->trials, SizeIs(12));
    EXPECT_EQ(judgement->plannedTrials, 36u);
}

TEST_F(JudgeTest, RunsNodesThatAreLeftToALibraryInAChild) {
    auto request = requestFor(KERNELSKILL_TEST_LIBRARY_MLP, "");
    request.subject.archive = sampleProgram("mlp-dynamic").archive;
    const auto judgement = TorchReference(paths::torchProgram).judge(request);
    ASSERT_TRUE(judgement) << judgement.error().describe();
    EXPECT_THAT(judgement->refusals, ElementsAre());
    EXPECT_TRUE(judgement->isWithinTight());
    EXPECT_THAT(
        judgement->libraryNodes,
        ::testing::UnorderedElementsAre("linear", "layer_norm", "gelu", "linear_1", "softmax"));
    ASSERT_TRUE(judgement->times);
    EXPECT_GT(judgement->times->candidate.median(), 0);
}

/// On a GPU. Work on other streams, waits that are missing, and captured graphs are nowhere else.
class GpuJudgeTest : public JudgeTest {
protected:
    void SetUp() override {
        if (cudaDevices().empty())
            GTEST_SKIP() << "LibTorch sees no GPU";
        library_ = folder_.path() / "perceptron.so";
        const std::string command = "PATH=$PATH:/usr/local/cuda/bin nvcc -O2 -std=c++17 "
                                    "-arch=native -shared -cudart shared "
                                    "-Xcompiler -fPIC -o " +
                                    library_.string() + " " + std::string(paths::sourceFolder) +
                                    "/tests/engine/graph/torch/candidates/perceptron.cu";
        if (std::system(command.c_str()) != 0)
            GTEST_SKIP() << "nvcc does not run";
    }

    Judgement gpuJudgementOf(const std::string& cheat) {
        auto request = requestFor(library_, cheat);
        request.subject.device = "cuda";
        const auto judgement = judge(perceptron().build(), request);
        EXPECT_TRUE(judgement) << judgement.error().describe();
        return judgement.value_or(Judgement{});
    }

    std::filesystem::path library_;
};

TEST_F(GpuJudgeTest, AcceptsAnHonestCandidate) {
    const Judgement judgement = gpuJudgementOf("");
    EXPECT_THAT(judgement.refusals, ElementsAre());
    EXPECT_TRUE(judgement.isWithinTight());
    EXPECT_THAT(judgement.trials, SizeIs(36));
    ASSERT_TRUE(judgement.times);
    EXPECT_TRUE(judgement.times->candidate.areDeviceTimes);
    EXPECT_GT(judgement.times->candidate.median(), 1);
    EXPECT_LT(judgement.times->candidate.median(), 1000);
    EXPECT_EQ(judgement.times->whyNotReplayed, "");
    ASSERT_TRUE(judgement.times->replayed);
    EXPECT_THAT(judgement.times->replayed->microseconds, SizeIs(20));
}

TEST_F(GpuJudgeTest, RefusesWorkOnOtherStreams) {
    for (const char* cheat : {"own stream", "own stream, waited for", "default stream"}) {
        const Judgement judgement = gpuJudgementOf(cheat);
        EXPECT_FALSE(judgement.isWithinLoose()) << cheat;
        EXPECT_FALSE(judgement.times) << cheat;
    }
}

TEST_F(GpuJudgeTest, RefusesWorkBesideTheStreamThatIsTimed) {
    EXPECT_THAT(gpuJudgementOf("spins beside").refusals,
                ElementsAre(HasSubstr("beside its stream")));
    const Judgement honest = gpuJudgementOf("spins");
    EXPECT_THAT(honest.refusals, ElementsAre());
    ASSERT_TRUE(honest.times);
    EXPECT_GT(honest.times->candidate.median(), 1500);
}

TEST_F(GpuJudgeTest, KeepsItsOwnClock) {
    const Judgement judgement = gpuJudgementOf("stops the clock");
    ASSERT_TRUE(judgement.times);
    EXPECT_GT(judgement.times->candidate.median(), 1500);
}

TEST_F(GpuJudgeTest, SaysWhatCannotBeCaptured) {
    const Judgement judgement = gpuJudgementOf("waits");
    EXPECT_THAT(judgement.refusals, ElementsAre());
    ASSERT_TRUE(judgement.times);
    EXPECT_FALSE(judgement.times->replayed);
    EXPECT_NE(judgement.times->whyNotReplayed, "");
}

TEST_F(GpuJudgeTest, AnswersWhenTheCandidateBreaksTheGpu) {
    ::setenv("KERNELSKILL_TEST_CHEAT", "illegal address", 1);
    const auto answer = folder_.path() / "answer.json";
    const std::string command = std::string(paths::torchProgram) +
                                " --judge=" + sampleProgram("mlp-dynamic").archive.string() +
                                " --library=" + library_.string() + " >" + answer.string();
    EXPECT_NE(std::system(command.c_str()), 0);
    std::ifstream stream(answer);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_THAT(text, HasSubstr("\"refused\":true"));
    EXPECT_THAT(text, HasSubstr("illegal memory access"));
}

} // namespace
} // namespace kernelskill::engine::graph
