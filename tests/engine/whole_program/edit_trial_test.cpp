#include "engine/whole_program/edit_trial.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The edit of kernel `at` puts its name at offset 10 * at of one file.
KernelEdits kernelAt(std::uint32_t at, double gain) {
    const std::string name = "k" + std::to_string(at);
    return {name, {{"a.cu", {{{10 * at, 10 * at + 5}, name}}}}, gain};
}

/// Passes unless `failure` says otherwise for the names of the edited kernels.
class FakeProgram final : public TrialProgram {
public:
    using Names = std::vector<std::string>;
    std::function<std::optional<std::string>(const Names&)> failure = [](const Names&) {
        return std::nullopt;
    };
    std::function<std::optional<std::string>(const Names&)> failureInTime = [](const Names&) {
        return std::nullopt;
    };
    std::set<std::string> gone; ///< Kernels that an edit leaves no launch of.
    std::map<std::string, double>
        after; ///< Seconds of a kernel after the edit (0.5 by default); 1 before.
    std::vector<Names> tried;
    std::optional<Error> error;
    std::optional<Error> errorInTime;
    std::size_t mostAtOnce = 3;   ///< More kernels cost copies.
    std::uint64_t sameCopies = 0; ///< The time of the original's copies after the edit.
    bool isFasterAsAWhole = false;
    double span = 0.9; ///< The part of the time from the first work to the last that is left.
    int timed = 0;

    Result<std::optional<std::string>> tryEdits(const analysis::EditSet& edits) override {
        if (error)
            return std::unexpected(*error);
        Names names;
        for (const auto& [file, all] : edits)
            for (const auto& edit : all)
                names.push_back(edit.newText);
        std::ranges::sort(names);
        tried.push_back(names);
        return failure(names);
    }
    Result<TimedTurns> time() override {
        ++timed;
        if (errorInTime)
            return std::unexpected(*errorInTime);
        if (const auto failed = failureInTime(tried.back()))
            return TimedTurns{{}, failed};
        TimelineTurn turn;
        for (const std::string& name : {"k0", "k1", "k2"}) {
            KernelTimes times;
            times.symbol = name;
            times.total = 1'000'000'000;
            turn.before.kernels.push_back(times);
            const bool isEdited = std::ranges::find(tried.back(), name) != tried.back().end();
            const double seconds = after.contains(name) ? after.at(name) : 0.5;
            if (isEdited)
                times.total = static_cast<std::uint64_t>(seconds * 1e9);
            if (!isEdited || !gone.contains(name))
                turn.after.kernels.push_back(times);
        }
        turn.before.devices.resize(1);
        turn.before.devices.front().kernels = 3'000'000'000;
        turn.before.devices.front().end = 10'000'000'000;
        turn.after.devices = turn.before.devices;
        turn.after.devices.front().end = static_cast<std::uint64_t>(span * 10e9);
        turn.after.devices.front().copies = sameCopies;
        if (tried.back().size() > mostAtOnce) {
            turn.after.devices.front().copies = 2'000'000'000;
            turn.after.devices.front().copiedBytes = 1'000'000;
        }
        if (isFasterAsAWhole)
            turn.after.devices.front().kernels /= 2;
        return TimedTurns{{{}, {turn, turn, turn}}, {}};
    }
};

bool has(const FakeProgram::Names& names, const char* name) {
    return std::ranges::find(names, name) != names.end();
}

const std::vector<KernelEdits> three{kernelAt(0, 0.3), kernelAt(1, 0.2), kernelAt(2, 0.1)};

TEST(EditTrial, KeepsAllThatPassAtOnce) {
    FakeProgram program;
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0, 1, 2));
    EXPECT_THAT(outcome->takenBack, IsEmpty());
    EXPECT_EQ(outcome->turns.kernels.size(), 3u);
    EXPECT_EQ(program.tried.size(), 1u);
    EXPECT_EQ(program.timed, 1);
}

TEST(EditTrial, JudgesEditsOfTheHostByAllWorkAndItsSpan) {
    KernelEdits host = kernelAt(0, 0.1);
    host.subject = EditSubject::Host;
    FakeProgram program;
    const auto shorter = runTrial({host}, program);
    ASSERT_TRUE(shorter);
    EXPECT_THAT(shorter->kept, ElementsAre(0)) << "there is less idle time";
    EXPECT_DOUBLE_EQ(speedupByHost(shorter->turns), 1 / program.span);
    program.span = 0.99;
    const auto same = runTrial({host}, program);
    ASSERT_TRUE(same);
    ASSERT_EQ(same->takenBack.size(), 1u);
    EXPECT_THAT(same->takenBack.front().why, HasSubstr("1.01 times with the idle times"));
    program.isFasterAsAWhole = true;
    const auto less = runTrial({host}, program);
    ASSERT_TRUE(less);
    EXPECT_THAT(less->kept, ElementsAre(0));
    program.span = 0.1;
    EXPECT_DOUBLE_EQ(speedupByHost(runTrial({host}, program)->turns), 2) << "not the idle times'";
}

TEST(EditTrial, KeepsEditsOfTheHostThatHaveBeenShownToPay) {
    std::vector<KernelEdits> all{kernelAt(0, 0.3), kernelAt(1, 0.1)};
    all[1].subject = EditSubject::PayingHost;
    FakeProgram program;
    program.span = 1;
    const auto outcome = runTrial(all, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0, 1));
    program.mostAtOnce = 1; // With both there are copies.
    const auto slower = runTrial(all, program);
    ASSERT_TRUE(slower);
    EXPECT_THAT(slower->kept, ElementsAre(0));
}

TEST(EditTrial, KeepsWhatIsFasterThoughTheSameCopiesAreSlower) {
    FakeProgram program;
    program.sameCopies = 4'000'000'000;
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0, 1, 2));
}

TEST(EditTrial, TakesBackTheOneThatFailsAndNoOther) {
    for (const char* culprit : {"k0", "k1", "k2"}) {
        FakeProgram program;
        program.failure = [&](const FakeProgram::Names& names) {
            return has(names, culprit) ? std::optional<std::string>("does not build")
                                       : std::nullopt;
        };
        const auto outcome = runTrial(three, program);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(outcome->kept.size(), 2u) << culprit;
        ASSERT_EQ(outcome->takenBack.size(), 1u) << culprit;
        EXPECT_EQ(three[outcome->takenBack.front().at].kernel, culprit);
        EXPECT_EQ(outcome->takenBack.front().why, "does not build");
        EXPECT_FALSE(has(program.tried.back(), culprit)) << "what is timed has no failing edit";
        EXPECT_EQ(program.tried.back().size(), 2u);
    }
}

TEST(EditTrial, KeepsNothingThatNeverPasses) {
    FakeProgram program;
    program.failure = [](const FakeProgram::Names& names) {
        return std::optional(std::to_string(names.size()) + " fail");
    };
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, IsEmpty());
    EXPECT_THAT(outcome->takenBack, ElementsAre(TakenBack{0, "1 fail"}, TakenBack{1, "1 fail"},
                                                TakenBack{2, "1 fail"}));
    EXPECT_EQ(program.timed, 0);
    EXPECT_TRUE(outcome->turns.kernels.empty());
}

TEST(EditTrial, TwoThatOnlyFailTogetherLoseOne) {
    FakeProgram program;
    program.failure = [](const FakeProgram::Names& names) {
        return has(names, "k0") && has(names, "k1") ? std::optional<std::string>("together")
                                                    : std::nullopt;
    };
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0, 2));
    EXPECT_THAT(outcome->takenBack, ElementsAre(TakenBack{1, "together"}));
}

TEST(EditTrial, TakesBackWhatIsNotFasterInTheProgram) {
    FakeProgram program;
    program.after = {{"k1", 1.25}, {"k2", 1.0}};
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0));
    ASSERT_EQ(outcome->takenBack.size(), 2u);
    EXPECT_EQ(outcome->takenBack.front().at, 1u);
    EXPECT_THAT(outcome->takenBack.front().why, HasSubstr("0.80 times as fast"));
    EXPECT_THAT(outcome->takenBack.back().why, HasSubstr("1.00 times as fast"));
    EXPECT_THAT(outcome->takenBack.back().why, HasSubstr("no gain beyond the noise"));
    EXPECT_EQ(program.timed, 2) << "times are of what is kept";
    EXPECT_THAT(program.tried.back(), ElementsAre("k0"));
}

TEST(EditTrial, AKernelThatIsGoneIsJudgedByTheWhole) {
    FakeProgram program;
    program.gone = {"k1"};
    const auto taken = runTrial(three, program);
    ASSERT_TRUE(taken);
    EXPECT_THAT(taken->kept, ElementsAre(0, 2));
    EXPECT_THAT(taken->takenBack.front().why, HasSubstr("not launched"));
    program.isFasterAsAWhole = true;
    EXPECT_THAT(runTrial(three, program)->kept, ElementsAre(0, 1, 2));
}

TEST(EditTrial, AFailureWhileItIsTimedTakesBackTheLeast) {
    FakeProgram program;
    program.failureInTime = [](const FakeProgram::Names& names) {
        return has(names, "k2") ? std::optional<std::string>("now and then") : std::nullopt;
    };
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome) << outcome.error().describe();
    EXPECT_THAT(outcome->kept, ElementsAre(0, 1));
    EXPECT_THAT(outcome->takenBack, ElementsAre(TakenBack{2, "now and then"}));
    EXPECT_EQ(outcome->turns.kernels.size(), 3u);
    program.failureInTime = [](const FakeProgram::Names&) {
        return std::optional<std::string>("always");
    };
    const auto nothing = runTrial(three, program);
    ASSERT_TRUE(nothing);
    EXPECT_THAT(nothing->kept, IsEmpty());
    EXPECT_EQ(nothing->takenBack.size(), 3u);
    EXPECT_TRUE(nothing->turns.kernels.empty());
}

TEST(EditTrial, TakesBackTheLeastIfTheWholeIsSlower) {
    FakeProgram program;
    program.mostAtOnce = 2;
    const auto outcome = runTrial(three, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0, 1));
    ASSERT_EQ(outcome->takenBack.size(), 1u);
    EXPECT_EQ(outcome->takenBack.front().at, 2u);
    EXPECT_THAT(outcome->takenBack.front().why, HasSubstr("0.60 times as fast"));
}

/// Two instantiations of a template: the second search began from the text of the first.
class InstantiationTrial : public ::testing::Test {
protected:
    InstantiationTrial() {
        kernels_[0].edits["a.cu"].front() = {{10, 15}, first_};
        kernels_[1].edits["a.cu"].front() = {{10, 15}, second_};
        kernels_[0].symbol = first_;
        kernels_[1].symbol = second_;
        kernels_[0].others = {second_};
        kernels_[1].others = {first_};
        kernels_[1].base = 0;
    }
    [[nodiscard]] Result<EditOutcome> run() { return runTrial(kernels_, program_); }

    /// Edits with either text change both times.
    class Program final : public TrialProgram {
    public:
        std::map<std::string, std::map<std::string, double>> after; ///< Seconds by text and symbol.
        std::string failing;
        std::vector<std::string> tried;

        Result<std::optional<std::string>> tryEdits(const analysis::EditSet& edits) override {
            EXPECT_EQ(edits.at("a.cu").size(), 1u) << "one contains the other";
            tried.push_back(edits.at("a.cu").front().newText);
            return tried.back() == failing ? std::optional<std::string>("fails") : std::nullopt;
        }
        Result<TimedTurns> time() override {
            TimelineTurn turn;
            for (const auto& [symbol, seconds] : after[tried.back()]) {
                KernelTimes times;
                times.symbol = symbol;
                times.total = 1'000'000'000;
                turn.before.kernels.push_back(times);
                times.total = static_cast<std::uint64_t>(seconds * 1e9);
                turn.after.kernels.push_back(times);
            }
            return TimedTurns{{{}, {turn, turn, turn}}, {}};
        }
    };

    const std::string first_ = "_Z3sumIfEvPT_";
    const std::string second_ = "_Z3sumIdEvPT_";
    std::vector<KernelEdits> kernels_{kernelAt(0, 0.1), kernelAt(1, 0.3)};
    Program program_;
};

TEST_F(InstantiationTrial, KeepsBothByTheTextOfTheLast) {
    program_.after[second_] = {{first_, 0.5}, {second_, 0.5}};
    const auto outcome = run();
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(0, 1));
    EXPECT_THAT(program_.tried, ElementsAre(second_));
    EXPECT_EQ(joinedEdits(kernels_, outcome->kept)->at("a.cu").front().newText, second_);
    EXPECT_EQ(timesOf(kernels_[1], outcome->turns).front(), (TimePair{1, 0.5}));
}

TEST_F(InstantiationTrial, GoesBackToTheTextOfTheFirst) {
    program_.failing = second_;
    program_.after[first_] = {{first_, 0.5}, {second_, 1.0}};
    const auto failed = run();
    ASSERT_TRUE(failed);
    EXPECT_THAT(failed->kept, ElementsAre(0));
    EXPECT_THAT(failed->takenBack, ElementsAre(TakenBack{1, "fails"}));
    // The first gains nothing with the second's edits: these go, however much they gain.
    program_.failing.clear();
    program_.after[second_] = {{first_, 1.0}, {second_, 0.2}};
    const auto slower = run();
    ASSERT_TRUE(slower);
    EXPECT_THAT(slower->kept, ElementsAre(0));
    ASSERT_EQ(slower->takenBack.size(), 1u);
    EXPECT_THAT(slower->takenBack.front().why, HasSubstr("another instantiation's edits"));
}

TEST_F(InstantiationTrial, WhatBuildsOnATextThatFailsGoesWithIt) {
    program_.failing = first_;
    kernels_[1].edits["a.cu"].front().newText = first_;
    const auto outcome = run();
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, IsEmpty());
    ASSERT_EQ(outcome->takenBack.size(), 2u);
    EXPECT_EQ(outcome->takenBack.front().why, "fails");
    EXPECT_THAT(outcome->takenBack.back().why, HasSubstr("builds on"));
}

TEST_F(InstantiationTrial, TakesBackWhatSlowsAnotherHotOne) {
    kernels_.pop_back();
    program_.after[first_] = {{first_, 0.5}, {second_, 1.1}};
    const auto outcome = run();
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, IsEmpty());
    ASSERT_EQ(outcome->takenBack.size(), 1u);
    EXPECT_THAT(outcome->takenBack.front().why,
                ::testing::AllOf(HasSubstr("void sum<double>(double*)"), HasSubstr("0.91 times")));
    kernels_[0].others.clear();
    EXPECT_THAT(run()->kept, ElementsAre(0)) << "nobody asks about it";
}

TEST(EditTrial, OverlappingEditsLoseTheOneWithLessGain) {
    std::vector<KernelEdits> kernels{kernelAt(0, 0.1), kernelAt(1, 0.3)};
    kernels[0].edits["a.cu"].front().span = {12, 13};
    FakeProgram program;
    const auto outcome = runTrial(kernels, program);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->kept, ElementsAre(1));
    EXPECT_THAT(outcome->takenBack.front().why, HasSubstr("overlap"));
}

TEST(EditTrial, KeepsWhatNothingSpeaksAgainstWhenItIsStopped) {
    const Error stopped{ErrorKind::Cancelled, "stopped", {}, {}};
    FakeProgram program;
    program.error = stopped;
    const auto atOnce = runTrial(three, program);
    ASSERT_TRUE(atOnce);
    EXPECT_THAT(atOnce->kept, ElementsAre(0, 1, 2));
    EXPECT_EQ(atOnce->notDone, "the program was not built and checked with them");
    // k1 fails, and the stop comes in the second try, with k0 and k1.
    program.error.reset();
    program.failure = [&](const FakeProgram::Names& names) {
        program.error = stopped;
        return has(names, "k1") ? std::optional<std::string>("the check fails") : std::nullopt;
    };
    const auto between = runTrial(three, program);
    ASSERT_TRUE(between);
    EXPECT_THAT(between->kept, ElementsAre(0, 1));
    EXPECT_THAT(between->takenBack, ElementsAre(TakenBack{2, "the check fails"}));
    EXPECT_EQ(between->notDone, "the program was not built and checked with them");
    // The stop comes when k0 passes alone, and the others wait for another chance.
    program.error.reset();
    program.failure = [&](const FakeProgram::Names& names) {
        if (names.size() > 1)
            return std::optional<std::string>("the check fails");
        program.error = stopped;
        return std::optional<std::string>();
    };
    const auto late = runTrial(three, program);
    ASSERT_TRUE(late);
    EXPECT_THAT(late->kept, ElementsAre(0));
    EXPECT_THAT(late->takenBack,
                ElementsAre(TakenBack{1, "the check fails"}, TakenBack{2, "the check fails"}));
    // Everything passes, and the stop comes while it is timed.
    program.error.reset();
    program.failure = [](const FakeProgram::Names&) { return std::nullopt; };
    program.errorInTime = stopped;
    const auto timing = runTrial(three, program);
    ASSERT_TRUE(timing);
    EXPECT_THAT(timing->kept, ElementsAre(0, 1, 2));
    EXPECT_EQ(timing->notDone, "the program was not timed with them");
    EXPECT_TRUE(timing->turns.kernels.empty());
    program.errorInTime.reset();
    EXPECT_EQ(runTrial(three, program)->notDone, "");
}

TEST(EditTrial, ErrorsEndIt) {
    FakeProgram program;
    program.error = Error{ErrorKind::Missing, "no such command", {}, {}};
    const auto outcome = runTrial(three, program);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::Missing);
    int calls = 0;
    program.error.reset();
    program.failure = [&](const FakeProgram::Names&) {
        return ++calls == 3 ? std::nullopt : std::optional<std::string>("now and then");
    };
    const auto unsteady = runTrial(three, program);
    ASSERT_FALSE(unsteady);
    EXPECT_THAT(unsteady.error().what, HasSubstr("passes and fails"));
}

TEST(EditTrial, WhatTwoKernelsShareIsAppliedOnce) {
    std::vector<KernelEdits> kernels{kernelAt(0, 1), kernelAt(1, 1)};
    const analysis::TextEdit include{{0, 0}, "#include <cuda_pipeline.h>\n"};
    const analysis::TextEdit brace{{40, 40}, "}"};
    kernels[0].edits["a.cu"].insert(kernels[0].edits["a.cu"].begin(), {include, brace, brace});
    kernels[1].edits["a.cu"].insert(kernels[1].edits["a.cu"].begin(), include);
    const auto joined = joinedEdits(kernels, {0, 1});
    ASSERT_TRUE(joined);
    const auto& edits = joined->at("a.cu");
    EXPECT_EQ(std::ranges::count(edits, include), 1);
    EXPECT_EQ(std::ranges::count(edits, brace), 2) << "one kernel's own edits are all its";
}

} // namespace
} // namespace kernelskill::engine
