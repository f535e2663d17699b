// Ends of a held program: by a candidate, by a cancelled trial, by a signal, and without its
// server.
#include "engine/process/stop_clock.h"
#include "tests/engine/replay/replay_session_fixture.h"

#include <chrono>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using HeldProgramEnds = ReplaySessionFixture;

TEST_F(HeldProgramEnds, StartsTheProgramAgainIfACandidateBreaksIt) {
    for (const char* name : {"faults", "hangs"}) {
        auto session = open("launch launch");
        ASSERT_TRUE(session);
        const auto trials = (*session)->tryAll(
            requestOf({candidate("right"), candidate(name), candidate("wrong")}), true, {});
        ASSERT_TRUE(trials) << trials.error().describe();
        EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same);
        EXPECT_EQ(trials->at(1).outcome, TrialOutcome::Failed) << name;
        EXPECT_EQ(trials->at(2).outcome, TrialOutcome::Different);
        EXPECT_THAT(trials->at(0).candidate, SizeIs(20)) << "it is timed all the same";
        EXPECT_THAT((*session)->restarts(), SizeIs(1));
        // The output of the first start is that of a program that was ended.
        EXPECT_EQ((*session)->resume(milliseconds(20'000), {}).value_or(-1), 0);
        EXPECT_EQ(said(), alone("launch launch"));
    }
}

TEST_F(HeldProgramEnds, KeepsResultsOfAProgramThatIsNotHeldAgain) {
    const std::string mark = (folder_.path() / "mark").string();
    auto session = open("once:" + mark + " launch");
    ASSERT_TRUE(session) << session.error().describe();
    const auto trials = (*session)->tryAll(
        requestOf({candidate("right"), candidate("faults"), candidate("wrong")}), true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
    EXPECT_THAT(trials->at(0).candidate, IsEmpty());
    EXPECT_EQ(trials->at(1).outcome, TrialOutcome::Failed);
    EXPECT_EQ(trials->at(2).outcome, TrialOutcome::NotJudged);
    EXPECT_THAT(trials->at(2).sentence, HasSubstr("it was not tried: the program"));
    EXPECT_FALSE((*session)->tryAll(requestOf({candidate("right")}), true, {}));
}

TEST_F(HeldProgramEnds, DoesNotWaitForAProgramThatIsCancelled) {
    for (const char* words : {"launch launch", "ends-late launch launch"}) {
        auto session = open(words);
        ASSERT_TRUE(session) << session.error().describe();
        auto request = requestOf({candidate("hangs")});
        request.limit = milliseconds(60'000);
        std::stop_source stop;
        const std::jthread clock =
            stopAt(std::chrono::steady_clock::now() + milliseconds(300), stop);
        const pid_t program = (*session)->process();
        const auto begin = std::chrono::steady_clock::now();
        const auto trials = (*session)->tryAll(request, true, stop.get_token());
        ASSERT_FALSE(trials);
        EXPECT_EQ(trials.error().kind, ErrorKind::Cancelled);
        session->reset();
        EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2'000)) << words;
        EXPECT_FALSE(runs(program)) << words;
    }
}

TEST_F(HeldProgramEnds, StartsTheProgramAgainAfterATrialThatWasCancelled) {
    auto session = open("launch launch");
    ASSERT_TRUE(session) << session.error().describe();
    auto request = requestOf({candidate("hangs")});
    request.limit = milliseconds(60'000);
    std::stop_source stop;
    const std::jthread clock = stopAt(std::chrono::steady_clock::now() + milliseconds(100), stop);
    ASSERT_FALSE((*session)->tryAll(request, true, stop.get_token()));
    EXPECT_EQ((*session)->process(), -1);
    EXPECT_EQ(trialIn(**session, "launch launch", "right").outcome, TrialOutcome::Same);
    EXPECT_THAT((*session)->restarts(), ElementsAre(HasSubstr("cancelled")));
}

TEST_F(HeldProgramEnds, WaitsUntilAProgramIsGoneBeforeItIsStartedAgain) {
    auto session = open("ends-late launch launch");
    ASSERT_TRUE(session) << session.error().describe();
    const auto begin = std::chrono::steady_clock::now();
    const auto trials = (*session)->tryAll(requestOf({candidate("hangs")}), true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Failed);
    EXPECT_GT(std::chrono::steady_clock::now() - begin, milliseconds(3'000));
}

TEST_F(HeldProgramEnds, FindsTheCandidateThatEndsTheProgram) {
    auto session = open("launch launch");
    ASSERT_TRUE(session);
    const auto trials = (*session)->tryAll(
        requestOf({candidate("right"), candidate("ends"), candidate("wrong")}), true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same);
    EXPECT_THAT(trials->at(0).candidate, IsEmpty()) << "alone, nothing is timed";
    EXPECT_EQ(trials->at(1).outcome, TrialOutcome::Failed);
    EXPECT_THAT(trials->at(1).sentence, ::testing::StartsWith("the program '"));
    EXPECT_THAT(trials->at(1).sentence, HasSubstr("ended while it was held, with status 3"));
    EXPECT_EQ(trials->at(2).outcome, TrialOutcome::Different);
    EXPECT_THAT((*session)->restarts(), SizeIs(3)) << "twice with all of them, once alone";
    EXPECT_EQ(trialIn(**session, "launch launch", "right").outcome, TrialOutcome::Same);
}

TEST_F(HeldProgramEnds, StartsAKilledProgramAgain) {
    auto session = open("launch launch");
    ASSERT_TRUE(session);
    ASSERT_EQ(::kill(-(*session)->process(), SIGKILL), 0);
    const auto trial = trialIn(**session, "launch launch", "right");
    EXPECT_EQ(trial.outcome, TrialOutcome::Same) << trial.sentence;
    EXPECT_THAT(trial.candidate, SizeIs(20)) << "it is timed all the same";
    EXPECT_THAT(trial.notes, ::testing::ElementsAre(HasSubstr("status 137; it was started again")));
    EXPECT_THAT((*session)->restarts(), SizeIs(1));
}

TEST_F(HeldProgramEnds, SaysThatAKilledProgramIsNotHeldAgain) {
    const std::string mark = (folder_.path() / "mark").string();
    auto session = open("once:" + mark + " launch");
    ASSERT_TRUE(session) << session.error().describe();
    ASSERT_EQ(::kill(-(*session)->process(), SIGKILL), 0);
    const auto trials = (*session)->tryAll(requestOf({candidate("right")}), true, {});
    ASSERT_FALSE(trials);
    EXPECT_THAT(trials.error().what, HasSubstr("with status 137"));
    EXPECT_THAT(trials.error().what, HasSubstr("and was not held again: the program"));
}

TEST_F(HeldProgramEnds, TheProgramGoesOnWithoutItsServer) {
    const std::string words = "alarm launch change launch";
    const auto program = programWithOutput(words);
    runServer([&] {
        auto session = ReplaySession::open(program, target_, {});
        if (session && (*session)->tryAll(requestOf({candidate("wrong")}), true, {}))
            die();
    });
    EXPECT_EQ(endOfProgram(), 0);
    EXPECT_EQ(said(), alone(words));
}

TEST_F(HeldProgramEnds, AProgramWithoutItsServerEndsIfItsContextIsLost) {
    for (const char* name : {"faults", "hangs"}) {
        const auto program = programWithOutput("alarm launch");
        runServer([&] {
            ::setenv("TMPDIR", folder_.path().c_str(), 1);
            const auto held = HeldProgram::start(program, target_, {});
            if (!held)
                return;
            const auto answer =
                (*held)->ask(requestOf({candidate(name)}), milliseconds(10'000), {});
            const auto* failure = answer ? std::get_if<ReplayFailure>(&*answer) : nullptr;
            if (failure != nullptr && failure->isFatal)
                die();
        });
        EXPECT_EQ(endOfProgram(), 1) << name;
        EXPECT_THAT(messagesBelow(folder_.path()),
                    HasSubstr("its memory on the GPU cannot be restored"))
            << name;
        EXPECT_EQ(said(), "") << "it goes on without its GPU";
    }
}

} // namespace
} // namespace kernelskill::engine
