/// Changes that are tried in a program that is held on the stand-in of driver and CUPTI.
#include "engine/workbench/program_trials.h"
#include "tests/engine/workbench/held_program_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <utility>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

// The stand-in multiplies by `factor` if the module has it, and counts in `launches`.
const std::string text = R"(__device__ float factor = 3.0f;
__device__ int launches;
__global__ void scale(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) ++launches;
    if (i < n) y[i] = a * factor * x[i];
}
// kernelskill: launch scale<<<4, 64, 64>>>(a=2, x=rand[250], y=zero[250], n=250)
)";

std::string replaced(std::string whole, const std::string& what, const std::string& by) {
    return whole.replace(whole.find(what), what.size(), by);
}

class ProgramTrialsTest : public kernelskill::testing::HeldProgramFixture {
protected:
    void SetUp() override {
        HeldProgramFixture::SetUp();
        if (!IsSkipped())
            workbench_ = std::make_unique<Workbench>(options(), toolchain_);
    }

    [[nodiscard]] ProgramTrial trialOf(const std::string& after, KernelChange change = {}) const {
        change.name = "scale";
        auto trial =
            tryInProgram(workbench_->machines(), program(text), program(after), change, trial_, {});
        EXPECT_TRUE(trial) << trial.error().describe();
        return trial ? std::move(*trial) : ProgramTrial{};
    }
};

TEST_F(ProgramTrialsTest, ARightChangeIsTriedWhereItIsRight) {
    const auto now = program(replaced(text, "a * factor * x[i]", "x[i] * factor * a"));
    auto before = now;
    before.text = text;
    VerifyOptions options;
    options.program = trial_;
    const auto done = workbench_->verifier().verify(before, now, options, {}, {});
    ASSERT_TRUE(done) << done.error().describe();
    ASSERT_EQ(done->kernels.size(), 1u);
    ASSERT_TRUE(done->kernels[0].verdict);
    ASSERT_TRUE(done->kernels[0].inProgram) << done->kernels[0].verdict->summary;
    const ProgramTrial& trial = *done->kernels[0].inProgram;
    EXPECT_EQ(trial.outcome, ChangeOutcome::Right) << trial.sentence;
    EXPECT_THAT(trial.sentence, HasSubstr("same memory as before (3 allocations, 480 kB)"));
    EXPECT_THAT(trial.program, HasSubstr("kernelskill_replay_fake_program launch launch"));
    EXPECT_EQ(trial.notes, std::vector<std::string>());
    EXPECT_EQ(done->outcome(), ChangeOutcome::Right);
}

TEST_F(ProgramTrialsTest, AChangeThatIsWrongInTheProgramIsWrong) {
    const auto trial = trialOf(replaced(text, "a * factor", "a * 3.0f"));
    EXPECT_EQ(trial.outcome, ChangeOutcome::Wrong) << trial.sentence;
    EXPECT_THAT(trial.sentence, HasSubstr("parameter 3"));
}

TEST_F(ProgramTrialsTest, LetsTheProgramGoOnIfAVersionCannotBeTried) {
    const auto path = folder_.path() / "output";
    const FileDescriptor output(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    trial_.program.output = output.get();
    const auto trial = trialOf(replaced(text, "++launches;", "undeclared();"));
    EXPECT_EQ(trial.outcome, ChangeOutcome::NotJudged);
    EXPECT_THAT(trial.sentence, HasSubstr("compile"));
    EXPECT_THAT(trial.notes, ::testing::IsEmpty());
    EXPECT_GT(std::filesystem::file_size(path), 0u) << "the program was ended";
}

TEST_F(ProgramTrialsTest, SaysWhyItDidNotTry) {
    // These do not need the program.
    const auto words = std::exchange(trial_.program.words, {"/nowhere/program"});
    KernelChange signature;
    signature.isSignatureChanged = true;
    const auto other = trialOf(replaced(text, "int n)", "int n, float* m)"), signature);
    EXPECT_EQ(other.outcome, ChangeOutcome::NotJudged);
    EXPECT_THAT(other.sentence, HasSubstr("other parameters"));
    EXPECT_THAT(trialOf("__global__ void other() {}\n").sentence,
                HasSubstr("has no kernel 'scale'"));
    trial_.program.words = words;
    trial_.program.words.resize(1);
    const auto never = trialOf(text);
    EXPECT_EQ(never.outcome, ChangeOutcome::NotJudged);
    EXPECT_THAT(never.sentence, HasSubstr("before the launch"));
    std::stop_source stop;
    stop.request_stop();
    KernelChange change;
    change.name = "scale";
    const auto cancelled = tryInProgram(workbench_->machines(), program(text), program(text),
                                        change, trial_, stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::Cancelled);
    trial_.program.words[0] = "/nowhere/program";
    EXPECT_THAT(trialOf(text).sentence, HasSubstr("cannot be started"));
}

} // namespace
} // namespace kernelskill::engine
