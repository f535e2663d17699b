#include "engine/review/trial_run.h"
#include "tests/engine/comparison/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {
namespace {

/// Answers each image with the result it was given, which prints its seed, and keeps the jobs.
class FakeExecutor final : public Executor {
public:
    [[nodiscard]] std::string_view name() const override { return "fake"; }
    [[nodiscard]] Result<std::shared_ptr<const Image>> build(KernelRef, const LaunchSpec&,
                                                             std::stop_token) override {
        return std::make_shared<const Image>();
    }
    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token asked) override {
        while (job.seed == endlessSeed && !asked.stop_requested())
            std::this_thread::yield();
        const std::scoped_lock lock(mutex_);
        jobs[&image].push_back(job);
        if (&image == stopsAt)
            stop.request_stop();
        auto result = results.at(&image);
        if (result)
            result->printed = "seed " + std::to_string(job.seed);
        return result;
    }
    [[nodiscard]] Result<TimedRun> runOrRecall(const Image& image, const Job& job,
                                               std::stop_token asked) override {
        {
            const std::scoped_lock lock(mutex_);
            mayBeRecalled.insert(&image);
        }
        auto result = run(image, job, std::move(asked));
        if (!result)
            return std::unexpected(result.error());
        return TimedRun{std::move(*result), took};
    }

    std::set<const Image*> mayBeRecalled;
    std::chrono::milliseconds took{0};
    std::map<const Image*, Result<RunResult>> results;
    std::map<const Image*, std::vector<Job>> jobs;
    std::optional<std::uint64_t> endlessSeed; ///< Its runs end by a stop alone.
    const Image* stopsAt = nullptr;           ///< The run of this image requests a stop.
    std::stop_source stop;

private:
    std::mutex mutex_;
};

class TrialRunTest : public ::testing::Test {
protected:
    TrialRunTest() {
        for (ImagePointer* image : {&original_, &candidate_, &reference_, &wideCandidate_})
            *image = std::make_shared<const Image>();
        images_.original = original_;
        images_.candidate = candidate_;
        images_.referenceNote = "it has no double form";
        RunResult result;
        result.outputs = {kernelskill::testing::floats({1})};
        result.profile.extents = {{"x", 37, true, false}};
        for (const ImagePointer& image : {original_, candidate_, reference_, wideCandidate_})
            executor_.results.emplace(image.get(), result);
        BufferSpec buffer;
        buffer.name = "x";
        trial_.original.arguments = {buffer};
        trial_.candidate.arguments = {buffer};
    }

    [[nodiscard]] Runs run(skills::Numerics numerics, int seedNumber = 1) {
        const TrialRunner runner(executor_, {file_, kernel_}, {file_, kernel_}, images_, {},
                                 numerics, {});
        return runner.run({&trial_, 0, seedNumber, 99});
    }
    [[nodiscard]] const Job& jobOf(const ImagePointer& image) {
        return executor_.jobs[image.get()].at(0);
    }

    FakeExecutor executor_;
    analysis::FileModel file_;
    analysis::KernelModel kernel_;
    ImagePointer original_;
    ImagePointer candidate_;
    ImagePointer reference_;
    ImagePointer wideCandidate_;
    ReviewImages images_;
    Trial trial_;
};

TEST_F(TrialRunTest, TheCandidateGetsTheSameInputAndNoElementMoreThanTheOriginalTouched) {
    const Runs runs = run(skills::Numerics::Exact);
    ASSERT_TRUE(runs.original && runs.candidate && *runs.candidate);
    EXPECT_FALSE(runs.truth);
    EXPECT_EQ(jobOf(candidate_).seed, 99u);
    EXPECT_EQ(std::get<BufferSpec>(jobOf(candidate_).launch.arguments[0]).elements, 37u);
    EXPECT_FALSE(std::get<BufferSpec>(jobOf(original_).launch.arguments[0]).elements);
    EXPECT_TRUE(jobOf(candidate_).wantHazards);
}

TEST_F(TrialRunTest, OnlyRunsOfTheOriginalMayBeRecalled) {
    images_.reference = reference_;
    images_.wideCandidate = wideCandidate_;
    (void)run(skills::Numerics::Reassociates);
    EXPECT_EQ(executor_.mayBeRecalled, (std::set{original_.get(), reference_.get()}));
    EXPECT_EQ(executor_.jobs.size(), 4u);
}

TEST_F(TrialRunTest, TheCandidateMayTakeAMultipleOfWhatTheOriginalTookWhenItWasRun) {
    executor_.took = std::chrono::milliseconds(400);
    (void)run(skills::Numerics::Exact);
    EXPECT_EQ(jobOf(candidate_).limits.time, std::chrono::milliseconds(8000));
}

TEST_F(TrialRunTest, TheCandidateHasItselfToBlameOutsideOfWhatTheOriginalTouched) {
    (void)run(skills::Numerics::Exact);
    EXPECT_EQ(jobOf(original_).launch.origin, LaunchOrigin::Guessed);
    EXPECT_EQ(jobOf(candidate_).launch.origin, LaunchOrigin::Evaluated);
    executor_.jobs.clear();
    std::get<BufferSpec>(trial_.original.arguments.at(0)).elements = 30;
    (void)run(skills::Numerics::Exact);
    EXPECT_EQ(jobOf(candidate_).launch.origin, LaunchOrigin::Guessed) << "a length was guessed";
}

TEST_F(TrialRunTest, AGuessedLaunchExcusesWhatABlockOrMadeUpIndicesDo) {
    const auto isCertain = [&](HazardKind kind, const std::string& object) {
        Hazard hazard;
        hazard.kind = kind;
        hazard.details.object = object;
        executor_.results.at(candidate_.get())->profile.hazards = {hazard};
        const Runs runs = run(skills::Numerics::Exact);
        return (*runs.candidate)->profile.hazards.at(0).certain;
    };
    EXPECT_TRUE(isCertain(HazardKind::OutOfBounds, "x"));
    EXPECT_FALSE(isCertain(HazardKind::OutOfBounds, "tile"));
    EXPECT_FALSE(isCertain(HazardKind::OutOfBounds, "")) << "dynamic shared memory has no name";
    EXPECT_FALSE(isCertain(HazardKind::Race, "x"));
    EXPECT_TRUE(isCertain(HazardKind::Race, "tile"));
    trial_.original.origin = LaunchOrigin::Evaluated;
    EXPECT_TRUE(isCertain(HazardKind::OutOfBounds, "tile"));
    EXPECT_TRUE(isCertain(HazardKind::Race, "x"));
}

TEST_F(TrialRunTest, AGuessedNumberExcusesWhatItDoesInFrontOfABufferInBothVersions) {
    const auto isCertain = [&](std::int64_t element, std::int64_t elementOfOriginal) {
        const auto outOfBounds = [](std::int64_t at) {
            Hazard hazard;
            hazard.kind = HazardKind::OutOfBounds;
            hazard.details.object = "x";
            hazard.details.element = at;
            return hazard;
        };
        executor_.results.at(candidate_.get())->profile.hazards = {outOfBounds(element)};
        executor_.results.at(original_.get())->profile.excused = {outOfBounds(elementOfOriginal)};
        const Runs runs = run(skills::Numerics::Exact);
        return (*runs.candidate)->profile.hazards.at(0).certain;
    };
    EXPECT_FALSE(isCertain(-1, -2));
    EXPECT_TRUE(isCertain(-1, 37));
    EXPECT_TRUE(isCertain(37, -1));
}

TEST_F(TrialRunTest, AGuessedBlockExcusesNoOverrunOfAnArrayThatTheOriginalKeepsTo) {
    analysis::Variable tile;
    tile.name = "tile";
    kernel_.body.variables = {tile};
    kernel_.sharedArrays = {{.variable = 0, .bytes = 64}};
    Hazard hazard;
    hazard.kind = HazardKind::OutOfBounds;
    hazard.details.object = "tile";
    executor_.results.at(candidate_.get())->profile.hazards = {hazard};
    const auto isCertain = [&] {
        const Runs runs = run(skills::Numerics::Exact);
        return (*runs.candidate)->profile.hazards.at(0).certain;
    };
    EXPECT_TRUE(isCertain());
    executor_.results.at(original_.get())->profile.excused = {hazard};
    EXPECT_FALSE(isCertain());
}

TEST_F(TrialRunTest, TheCandidateIsGivenATimeThatFollowsFromTheOriginals) {
    (void)run(skills::Numerics::Exact);
    EXPECT_EQ(jobOf(candidate_).limits.time, std::chrono::milliseconds(3000));
    EXPECT_EQ(jobOf(original_).limits.time, Limits{}.time);
}

TEST_F(TrialRunTest, OnlyTheFirstSeedIsProfiled) {
    (void)run(skills::Numerics::Exact, 1);
    (void)run(skills::Numerics::Exact, 2);
    EXPECT_TRUE(executor_.jobs[original_.get()].at(0).wantProfile);
    EXPECT_FALSE(executor_.jobs[original_.get()].at(1).wantProfile);
}

TEST_F(TrialRunTest, AnOriginalThatFailsStartsNoCandidate) {
    executor_.results.at(original_.get()) =
        std::unexpected(Error{ErrorKind::Failed, "it crashed", "", ""});
    const Runs runs = run(skills::Numerics::Reassociates);
    EXPECT_FALSE(runs.original);
    EXPECT_FALSE(runs.candidate);
    EXPECT_TRUE(executor_.jobs[candidate_.get()].empty());
}

TEST_F(TrialRunTest, WithoutAReferenceTheTruthIsTheReasonThatThereIsNone) {
    const Runs runs = run(skills::Numerics::Reassociates);
    ASSERT_TRUE(runs.truth);
    ASSERT_FALSE(*runs.truth);
    EXPECT_EQ(runs.truth->error().what, "it has no double form");
}

TEST_F(TrialRunTest, TheCandidateRunsInFloat64AsWellWithItsOwnLaunch) {
    images_.reference = reference_;
    images_.wideCandidate = wideCandidate_;
    std::get<BufferSpec>(trial_.original.arguments.at(0)).element = analysis::ScalarKind::Float;
    trial_.candidate = trial_.original;
    trial_.candidate.block.x = 64;
    const Runs runs = run(skills::Numerics::Reassociates);
    ASSERT_TRUE(runs.wideCandidate);
    const Job& job = jobOf(wideCandidate_);
    EXPECT_EQ(job.launch.block.x, 64u);
    EXPECT_EQ(job.seed, 99u);
    const auto& buffer = std::get<BufferSpec>(job.launch.arguments[0]);
    EXPECT_EQ(buffer.element, analysis::ScalarKind::Double);
    EXPECT_EQ(buffer.elements, 37u);
    EXPECT_NE(jobOf(reference_).launch.block.x, 64u);
}

TEST_F(TrialRunTest, TheCandidateDoesNotRunInFloat64WhereThatTellsNothing) {
    images_.wideCandidate = wideCandidate_;
    const auto isRun = [&](const Schedule& schedule) {
        const TrialRunner runner(executor_, {file_, kernel_}, {file_, kernel_}, images_, {},
                                 skills::Numerics::Reassociates, {});
        return runner.run({&trial_, 0, 1, 99, schedule}).wideCandidate.has_value();
    };
    EXPECT_FALSE(isRun({})) << "without a reference";
    images_.reference = reference_;
    EXPECT_TRUE(isRun({}));
    EXPECT_FALSE(isRun({.order = Schedule::Order::Reverse}));
    trial_.maxBlocks = 2;
    EXPECT_FALSE(isRun({}));
    trial_.maxBlocks.reset();
    trial_.onlyFiniteness = true;
    EXPECT_FALSE(isRun({}));
    trial_.onlyFiniteness = false;
    executor_.results.at(wideCandidate_.get()) =
        std::unexpected(Error{ErrorKind::Failed, "it crashed", "", ""});
    EXPECT_FALSE(isRun({}));
}

TEST_F(TrialRunTest, AReferenceThatDoesNotRunIsNoTruth) {
    images_.reference = reference_;
    executor_.results.at(reference_.get()) =
        std::unexpected(Error{ErrorKind::Failed, "it crashed", "", ""});
    trial_.original.arguments.clear();
    const Runs runs = run(skills::Numerics::Reassociates);
    ASSERT_TRUE(runs.truth);
    ASSERT_FALSE(*runs.truth);
    EXPECT_EQ(runs.truth->error().what, "its double-precision form does not run");
}

TEST_F(TrialRunTest, AfterAStopTheTruthIsAnError) {
    images_.reference = reference_;
    executor_.stopsAt = candidate_.get();
    const TrialRunner runner(executor_, {file_, kernel_}, {file_, kernel_}, images_, {},
                             skills::Numerics::Reassociates, executor_.stop.get_token());
    const Runs runs = runner.run({&trial_, 0, 1, 99});
    ASSERT_TRUE(runs.truth);
    ASSERT_FALSE(*runs.truth);
    EXPECT_EQ(runs.truth->error().kind, ErrorKind::Cancelled);
}

TEST_F(TrialRunTest, ABatchKeepsItsOrder) {
    const TrialRunner runner(executor_, {file_, kernel_}, {file_, kernel_}, images_, {},
                             skills::Numerics::Exact, {});
    const std::vector<Runs> results =
        runner.runAll({{&trial_, 0, 1, 7}, {&trial_, 0, 2, 5}, {&trial_, 1, 1, 6}});
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0].original->printed, "seed 7");
    EXPECT_EQ(results[1].original->printed, "seed 5");
    EXPECT_EQ(results[2].original->printed, "seed 6");
}

TEST_F(TrialRunTest, RunsAreJudgedInOrderUntilOneIsWrong) {
    const TrialRunner runner(executor_, {file_, kernel_}, {file_, kernel_}, images_, {},
                             skills::Numerics::Exact, {});
    std::vector<Comparand> comparands;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        comparands.push_back({&trial_, 0, 1, seed});
    std::vector<std::uint64_t> judged;
    const auto judgeUpTo = [&](std::uint64_t last) {
        judged.clear();
        return runner.judgeEach(comparands, [&](const Comparand& comparand, const Runs& runs) {
            EXPECT_EQ(runs.original->printed, "seed " + std::to_string(comparand.seed));
            judged.push_back(comparand.seed);
            return comparand.seed != last;
        });
    };
    EXPECT_TRUE(judgeUpTo(0));
    EXPECT_EQ(judged.size(), 20u);
    EXPECT_TRUE(std::ranges::is_sorted(judged));
    EXPECT_FALSE(judgeUpTo(3));
    EXPECT_EQ(judged, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(TrialRunTest, RunsThatNobodyWaitsForAreStopped) {
    const TrialRunner runner(executor_, {file_, kernel_}, {file_, kernel_}, images_, {},
                             skills::Numerics::Exact, {});
    executor_.endlessSeed = 2;
    EXPECT_FALSE(runner.judgeEach({{&trial_, 0, 1, 1}, {&trial_, 0, 1, 2}},
                                  [](const Comparand&, const Runs&) { return false; }));
}

} // namespace
} // namespace kernelskill::engine
