#include "tests/engine/replay/replay_session_fixture.h"

namespace kernelskill::engine {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ReplaySessionTest = ReplaySessionFixture;

TEST_F(ReplaySessionTest, DescribesTheLaunch) {
    const auto session = open("launch");
    ASSERT_TRUE(session) << session.error().describe();
    const HeldDescription& held = (*session)->held();
    EXPECT_EQ(held.launch.symbol, symbol);
    EXPECT_EQ(held.launch.ordinal, 1u);
    EXPECT_EQ(held.launch.grid, (std::array<std::uint32_t, 3>{157, 1, 1}));
    EXPECT_EQ(held.launch.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
    EXPECT_EQ(held.launch.sharedBytes, 64u);
    EXPECT_EQ(held.launch.device, "Fake GPU");
    ASSERT_THAT(held.launch.parameters, SizeIs(4));
    EXPECT_EQ(held.launch.parameters[1].buffer->bytes, bytes);
    EXPECT_FALSE(held.launch.parameters[3].buffer);
    EXPECT_EQ(held.allocations, 3u);
    EXPECT_EQ(held.allocatedBytes, 3 * bytes + 4);
    EXPECT_EQ(held.variables, 2u);
    EXPECT_EQ(held.capabilityMajor, 9u);
    // All of it once, and once more what the kernel writes: y and a variable.
    EXPECT_EQ(held.savedBytes, 4 * bytes + 4 + 8 + 4);
    EXPECT_EQ(held.writtenBytes, bytes + 4);
    EXPECT_THAT(held.variation, IsEmpty());
}

TEST_F(ReplaySessionTest, TriesARightCandidate) {
    const auto trial = trialOf("launch launch", "right");
    EXPECT_EQ(trial.outcome, TrialOutcome::Same) << trial.sentence;
    EXPECT_THAT(trial.original, SizeIs(20));
    EXPECT_THAT(trial.candidate, SizeIs(20));
    EXPECT_THAT(trial.original, Each(::testing::DoubleNear(20, 0.01)));
    EXPECT_THAT(trial.candidate, Each(::testing::DoubleNear(10, 0.01)));
    EXPECT_THAT(trial.notes, IsEmpty());
}

TEST_F(ReplaySessionTest, SavesToTheHostWhereTheDeviceHasNoRoom) {
    target_.deviceBytes = bytes + 1;
    auto session = open("launch");
    ASSERT_TRUE(session) << session.error().describe();
    EXPECT_GT((*session)->held().savedBytes, target_.deviceBytes);
    EXPECT_EQ(trialIn(**session, "launch", "right").outcome, TrialOutcome::Same);
    auto again = open("launch");
    ASSERT_TRUE(again);
    EXPECT_EQ(trialIn(**again, "launch", "writes elsewhere").outcome, TrialOutcome::Different);
}

TEST_F(ReplaySessionTest, FindsAWrongValue) {
    const auto trial = trialOf("launch", "wrong", false);
    EXPECT_EQ(trial.outcome, TrialOutcome::Different);
    ASSERT_THAT(trial.differences, SizeIs(1));
    const auto& difference = trial.differences[0];
    EXPECT_EQ(difference.firstOffset / 4, 30'007u);
    EXPECT_LE(difference.differingBytes, 4u);
    EXPECT_EQ(difference.element, MemoryElement::Float32);
    EXPECT_NEAR(difference.maxRelative, 1'000 / (6.0 * 30'008 + 1'000), 1e-6);
    EXPECT_THAT(trial.sentence, HasSubstr("parameter 3"));
}

TEST_F(ReplaySessionTest, KnowsRoundingFromAnotherResult) {
    EXPECT_EQ(trialOf("launch", "rounded", false).outcome, TrialOutcome::Rounded);
    EXPECT_EQ(trialOf("launch", "rounded", true).outcome, TrialOutcome::Different);
}

TEST_F(ReplaySessionTest, FindsWritesToOtherMemory) {
    for (const char* name : {"writes input", "writes elsewhere"}) {
        const auto trial = trialOf("launch", name, false);
        EXPECT_EQ(trial.outcome, TrialOutcome::Different) << name;
        ASSERT_THAT(trial.differences, SizeIs(1)) << name;
        EXPECT_EQ(trial.differences[0].strayBytes, trial.differences[0].differingBytes) << name;
    }
}

TEST_F(ReplaySessionTest, DoesNotBlameCandidatesForWhatTheHostMayHaveWritten) {
    // A thread of the program fills page-locked memory meanwhile and reads it later.
    const auto meanwhile = trialOf("launch load", "right while loading");
    EXPECT_EQ(meanwhile.outcome, TrialOutcome::NotJudged);
    EXPECT_THAT(meanwhile.sentence, HasSubstr("the kernel or a thread of the program"));
    // The arguments point to that memory, so the change counts as the kernel's.
    const auto passed = trialOf("locked-input launch", "writes input");
    EXPECT_EQ(passed.outcome, TrialOutcome::NotJudged) << passed.sentence;
    EXPECT_EQ(trialOf("locked-input launch", "right").outcome, TrialOutcome::Same);
    const auto refused = open("locked-output launch");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("page-locked memory of the host changed"));
}

TEST_F(ReplaySessionTest, FindsResultsThatAnEarlierLaunchHasLeft) {
    target_.ordinal = 2;
    const auto trial = trialOf("launch launch", "half");
    EXPECT_EQ(trial.outcome, TrialOutcome::Different);
    EXPECT_THAT(trial.sentence, HasSubstr("an earlier launch"));
    EXPECT_EQ(trialOf("launch change launch", "half").outcome, TrialOutcome::Different);
}

TEST_F(ReplaySessionTest, FindsARaceThatShowsSometimes) {
    EXPECT_EQ(trialOf("launch", "sometimes").outcome, TrialOutcome::Different);
}

TEST_F(ReplaySessionTest, ComparesVariablesOfTheModule) {
    // It computes with the factor 1, and counts nothing, if it lacks the module's variables.
    auto session = open("launch");
    ASSERT_TRUE(session);
    auto request = requestOf({candidate("right")});
    testing::CubinImage image;
    image.kernels = {{"right", {}}};
    image.variables = {{"launches", 4}};
    request.candidates[0].cubin = imageOf(image);
    auto trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Different);
    image.variables = {{"factor", 4}};
    request.candidates[0].cubin = imageOf(image);
    trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials);
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Different);
    EXPECT_THAT(trials->at(0).sentence, HasSubstr("the variable 'launches'"));
    image.variables = {{"factor", 4}, {"launches", 4}, {"unknown", 4}};
    request.candidates[0].cubin = imageOf(image);
    trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials);
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
    EXPECT_THAT(trials->at(0).notes, ::testing::ElementsAre(HasSubstr("'unknown'")));
}

TEST_F(ReplaySessionTest, RefusesCandidatesThatCannotBeRun) {
    for (const auto& [name, why] :
         {std::pair{"does not load", "does not load"}, std::pair{"three parameters", "parameters"},
          std::pair{"prints", "printf()"}, std::pair{"nobody knows it", "no kernel"}}) {
        const auto trial = trialOf("launch", name);
        EXPECT_EQ(trial.outcome, TrialOutcome::NotLoaded) << name;
        EXPECT_THAT(trial.sentence, HasSubstr(why));
    }
    auto session = open("launch");
    ASSERT_TRUE(session);
    auto request = requestOf({candidate("right")});
    request.candidates[0].block = {2'048, 1, 1};
    const auto trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials);
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::NotLoaded);
    request.candidates[0].cubin = "no cubin";
    const auto others = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(others);
    EXPECT_THAT(others->at(0).sentence, HasSubstr("no cubin"));
}

TEST_F(ReplaySessionTest, PassesWhatCandidatesTakeBehindTheLaunchesParameters) {
    auto session = open("launch");
    ASSERT_TRUE(session);
    auto request = requestOf({candidate("counts blocks"), candidate("counts blocks"),
                              candidate("counts blocks"), candidate("right")});
    request.candidates[0].added = {{157, 0, 0, 0}};
    request.candidates[1].added = {{158, 0, 0, 0}};
    request.candidates[3].added = {{157, 0, 0, 0}}; // One more than it takes.
    const auto trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
    EXPECT_EQ(trials->at(1).outcome, TrialOutcome::Different);
    for (const std::size_t other : {2, 3}) {
        EXPECT_EQ(trials->at(other).outcome, TrialOutcome::NotLoaded);
        EXPECT_THAT(trials->at(other).sentence, HasSubstr("parameters"));
    }
    EXPECT_EQ((*session)->resume(milliseconds(20'000), {}).value_or(-1), 0);
    EXPECT_EQ(said(), alone("launch"));
}

TEST_F(ReplaySessionTest, GivesCandidatesFourTimesTheOriginalsTime) {
    target_.kernel = "takesLong";
    auto session = open("long");
    ASSERT_TRUE(session) << session.error().describe();
    EXPECT_EQ((*session)->held().originalTime, milliseconds(200));
    const auto trials = (*session)->tryAll(requestOf({candidate("hangs")}), true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_THAT(trials->at(0).sentence, HasSubstr("did not end within 800 ms"));
}

TEST_F(ReplaySessionTest, TimesAFarSlowerCandidateNoLongerThanNeeded) {
    auto session = open("launch");
    ASSERT_TRUE(session) << session.error().describe();
    const auto trials =
        (*session)->tryAll(requestOf({candidate("slow"), candidate("right")}), true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same);
    EXPECT_THAT(trials->at(0).candidate, SizeIs(3));
    EXPECT_THAT(trials->at(1).candidate, SizeIs(20));
    EXPECT_THAT(trials->at(1).original, SizeIs(20));
    const auto alone = trialIn(**session, "launch", "slow");
    EXPECT_THAT(alone.candidate, SizeIs(3));
    EXPECT_THAT(alone.original, SizeIs(3));
}

TEST_F(ReplaySessionTest, RunsACandidateOnceThatCrawls) {
    for (const bool isAlone : {true, false}) {
        auto session = open("launch");
        ASSERT_TRUE(session) << session.error().describe();
        std::vector<ReplayCandidate> candidates{candidate("crawls")};
        if (!isAlone)
            candidates.push_back(candidate("right"));
        const auto trials = (*session)->tryAll(requestOf(candidates), true, {});
        ASSERT_TRUE(trials) << trials.error().describe();
        EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same);
        EXPECT_THAT(trials->at(0).candidate, ElementsAre(::testing::Gt(1'000'000)));
        EXPECT_THAT(trials->at(0).original, SizeIs(isAlone ? 1 : 20));
        EXPECT_THAT(trials->back().candidate, SizeIs(isAlone ? 1 : 20));
    }
}

TEST_F(ReplaySessionTest, WaitsLessForLaterRuns) {
    // The first run shows how long one takes, so that 10 s are not spent on one that does not end.
    for (const char* name : {"hangs later", "hangs on other contents"}) {
        auto session = open("launch launch");
        ASSERT_TRUE(session) << session.error().describe();
        auto request = requestOf({candidate("right"), candidate(name)});
        request.limit = milliseconds(60'000);
        request.onlyWritten = {(*session)->held().launch.parameters.at(2).buffer->address};
        const auto trials = (*session)->tryAll(request, true, {});
        ASSERT_TRUE(trials) << trials.error().describe();
        EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
        EXPECT_EQ(trials->at(1).outcome, TrialOutcome::Failed) << name;
        EXPECT_THAT(trials->at(1).sentence, HasSubstr("did not end within 2000 ms")) << name;
        EXPECT_THAT((*session)->restarts(), SizeIs(1)) << name;
    }
}

TEST_F(ReplaySessionTest, FollowsAllocationsOfEveryKind) {
    for (const char* words : {"managed launch", "async launch", "pitch launch", "free launch",
                              "async launch free-async", "own-stream"}) {
        EXPECT_EQ(trialOf(words, "right").outcome, TrialOutcome::Same) << words;
        EXPECT_EQ(trialOf(words, "wrong").outcome, TrialOutcome::Different) << words;
    }
}

TEST_F(ReplaySessionTest, HoldsTheLaunchThatWasAskedFor) {
    target_.ordinal = 3;
    const std::string words = "launch change launch first change launch change launch";
    auto session = open(words);
    ASSERT_TRUE(session) << session.error().describe();
    EXPECT_EQ((*session)->held().launch.ordinal, 3u);
    EXPECT_EQ(trialIn(**session, words, "right").outcome, TrialOutcome::Same);
    target_.ordinal = 1;
    target_.kernel = "_Z5firstfPKfPfi";
    auto other = open(words);
    ASSERT_TRUE(other) << other.error().describe();
    EXPECT_EQ((*other)->held().launch.symbol, target_.kernel);
}

TEST_F(ReplaySessionTest, LeavesLaunchesAloneThatAreCaptured) {
    const std::string words = "capture own-stream end-capture change launch";
    auto session = open(words);
    ASSERT_TRUE(session) << session.error().describe();
    EXPECT_EQ(trialIn(**session, words, "right").outcome, TrialOutcome::Same);
    const auto never = open("capture own-stream end-capture");
    ASSERT_FALSE(never);
    EXPECT_THAT(never.error().what, HasSubstr("ended with status 0 before the launch"));
}

TEST_F(ReplaySessionTest, KnowsWhenACaptureEnds) {
    // The first EndCapture has no Begin. The launch during the capture is not held.
    const auto session = open("end-capture capture launch end-capture async launch");
    ASSERT_TRUE(session) << session.error().describe();
    EXPECT_EQ((*session)->held().allocations, 4u);
}

TEST_F(ReplaySessionTest, HoldsTheNextLaunchIfTwoAreMadeAtOnce) {
    target_.ordinal = 2;
    const auto session = open("overlapping launch launch");
    ASSERT_TRUE(session) << session.error().describe();
}

TEST_F(ReplaySessionTest, ForgetsMemoryOfAContextThatHasEnded) {
    EXPECT_EQ(trialOf("ended-context launch", "right").outcome, TrialOutcome::Same);
}

TEST_F(ReplaySessionTest, LetsOtherThreadsWait) {
    EXPECT_EQ(trialOf("threads", "right").outcome, TrialOutcome::Same);
    EXPECT_EQ(trialOf("threads", "wrong").outcome, TrialOutcome::Different);
}

TEST_F(ReplaySessionTest, DoesNotBlameCandidatesForResultsThatVary) {
    target_.kernel = "varies";
    auto session = open("varies");
    ASSERT_TRUE(session);
    EXPECT_THAT((*session)->held().variation, SizeIs(1));
    const auto trials =
        (*session)->tryAll(requestOf({candidate("right"), candidate("writes input")}), true, {});
    ASSERT_TRUE(trials);
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::NotJudged) << trials->at(0).sentence;
    EXPECT_EQ(trials->at(1).outcome, TrialOutcome::Different);
    // A variation of one number does not explain a difference of thousands.
    const auto half = (*session)->tryAll(requestOf({candidate("half")}), true, {});
    ASSERT_TRUE(half);
    EXPECT_EQ(half->at(0).outcome, TrialOutcome::Different);
}

TEST_F(ReplaySessionTest, RefusesByName) {
    const auto refusal = [&](const std::string& words) {
        const auto session = open(words);
        EXPECT_EQ(said(), alone(words)) << "it goes on all the same";
        return session ? std::string("held") : session.error().describe();
    };
    EXPECT_THAT(refusal("map launch"), HasSubstr("cuMemMap"));
    EXPECT_THAT(refusal("graph-memory launch"), HasSubstr("memory that a graph allocates"));
    EXPECT_THAT(refusal("capture async end-capture launch"),
                HasSubstr("memory that a graph allocates"));
    EXPECT_THAT(refusal("calls-printf launch"), HasSubstr("printf()"));
    EXPECT_THAT(refusal("unloaded launch"), HasSubstr("was not seen"));
    EXPECT_THAT(refusal("hidden-variable launch"), HasSubstr("managed variable 'hidden'"));
    target_.waitMilliseconds = 200;
    EXPECT_THAT(refusal("blocked launch"), HasSubstr("did not end in 200 ms"));
    target_.waitMilliseconds = 2'000;
    target_.deviceBytes = 1'000;
    target_.hostBytes = 400'000;
    EXPECT_THAT(refusal("launch"), HasSubstr("the pause needs"));
    target_.hostBytes = 3 * bytes + 100; // Enough to save it, not for the result.
    EXPECT_THAT(refusal("launch"), HasSubstr("the pause needs"));
}

TEST_F(ReplaySessionTest, SaysWhyNothingIsHeld) {
    auto program = programOf("launch says");
    program.words[0] = "/nowhere/program";
    auto session = ReplaySession::open(program, target_, {});
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().kind, ErrorKind::Missing);

    target_.kernel = "another";
    session = open("launch says fail");
    ASSERT_FALSE(session);
    EXPECT_THAT(session.error().what, HasSubstr("status 7 before the launch"));
    EXPECT_THAT(session.error().what, HasSubstr("it is what it is"));

    target_.kernel = "scale";
    target_.cupti = "/nowhere/libcupti.so";
    EXPECT_TRUE(open("launch")) << "the loader finds another one";

    const std::string temporary = ::getenv("TMPDIR") == nullptr ? "" : ::getenv("TMPDIR");
    const auto longPath = folder_.path() / std::string(120, 'a');
    std::filesystem::create_directory(longPath);
    ::setenv("TMPDIR", longPath.c_str(), 1);
    const auto unreachable = open("launch");
    temporary.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", temporary.c_str(), 1);
    ASSERT_FALSE(unreachable);
    EXPECT_THAT(unreachable.error().what, HasSubstr("File name too long"));

    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = ReplaySession::open(programOf("launch"), target_, stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::Cancelled);
}

TEST_F(ReplaySessionTest, RefusesAKernelThatDoesNotEndByItself) {
    target_.kernel = "hangs";
    target_.originalMilliseconds = 300;
    const auto begin = std::chrono::steady_clock::now();
    const auto session = open("hangs");
    ASSERT_FALSE(session);
    EXPECT_THAT(session.error().what, HasSubstr("did not end within 300 ms"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
}

TEST_F(ReplaySessionTest, RestoresMemoryAfterAnException) {
    const std::string words = "alarm launch";
    const auto held = HeldProgram::start(programWithOutput(words), target_, {});
    ASSERT_TRUE(held) << held.error().describe();
    const auto answer =
        (*held)->ask(requestOf({candidate("leaves no memory")}), milliseconds(10'000), {});
    ASSERT_FALSE(answer) << "no exception was thrown";
    EXPECT_EQ((*held)->resume(milliseconds(20'000), {}).value_or(-1), 0);
    EXPECT_EQ(said(), alone(words));
}

TEST_F(ReplaySessionTest, TriesOtherContentsAgainAfterAnError) {
    const auto session = open("refuse-fill launch");
    ASSERT_TRUE(session) << session.error().describe();
    auto request = requestOf({candidate("right")});
    // A run with other contents shows that the kernel reads the memory.
    request.onlyWritten = {(*session)->held().launch.parameters.at(1).buffer->address};
    const auto refused = (*session)->tryAll(request, true, {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("write other contents"));
    const auto trials = (*session)->tryAll(request, true, {});
    ASSERT_TRUE(trials) << trials.error().describe();
    EXPECT_EQ(trials->at(0).outcome, TrialOutcome::Same) << trials->at(0).sentence;
    EXPECT_THAT(trials->at(0).notes, Each(HasSubstr("reads memory that its text only writes")));
    EXPECT_THAT(trials->at(0).notes, SizeIs(1));
}

TEST_F(ReplaySessionTest, KnowsTheProgramsModulesFromItsOwn) {
    target_.kernel = "differ_pages";
    for (const char* words : {"helper", "lazy helper"}) {
        const auto session = open(words);
        ASSERT_TRUE(session) << words << ": " << session.error().describe();
        EXPECT_EQ((*session)->held().variables, 2u) << words;
    }
}

} // namespace
} // namespace kernelskill::engine
