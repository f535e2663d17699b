#include "analysis/source/json.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/process/framing.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::valuesOf;

template <typename Message>
std::vector<std::byte> payloadOf(const Message& message) {
    auto frame = encode(message);
    frame.erase(frame.begin(), frame.begin() + wire::frameHeaderBytes);
    return frame;
}

TEST(TorchWire, CarriesRuns) {
    TorchRunRequest run;
    run.subject.archive = "/models/a.pt2";
    run.subject.inputs.emplace();
    auto input = floats({2, 1}, {1, 2, 3});
    input.type.strides[0].value = 2;
    run.subject.inputs->push_back(input);
    run.subject.precision = Precision::Float64;
    run.subject.device = "cuda:1";
    run.subject.seed = 7;
    run.subject.allowsTf32 = true;
    run.keep = {"relu"};
    run.keepsAll = true;
    run.time = std::chrono::milliseconds(5);
    const auto read = decodeTorchRequest(payloadOf(TorchRequest(run)));
    ASSERT_TRUE(read) << read.error().describe();
    const auto& back = std::get<TorchRunRequest>(*read);
    EXPECT_EQ(back.subject.archive, run.subject.archive);
    EXPECT_EQ(back.subject.precision, run.subject.precision);
    EXPECT_EQ(back.subject.device, run.subject.device);
    EXPECT_EQ(back.subject.seed, 7u);
    EXPECT_TRUE(back.subject.allowsTf32);
    EXPECT_EQ(back.keep, run.keep);
    EXPECT_TRUE(back.keepsAll);
    EXPECT_EQ(timeLimit(*read), run.time);
    ASSERT_EQ(back.subject.inputs->size(), 1u);
    const TensorData& tensor = back.subject.inputs->front();
    EXPECT_EQ(tensor.type.element, ElementType::Float32);
    EXPECT_EQ(tensor.type.strides.at(0).value, 2);
    EXPECT_THAT(valuesOf<float>(tensor), ElementsAre(1, 2, 3));
}

TEST(TorchWire, CarriesTimingsAndVersions) {
    TorchTimingRequest timing;
    timing.rounds = 3;
    timing.warmUpRounds = 2;
    timing.longest = std::chrono::milliseconds(9);
    const auto request = decodeTorchRequest(payloadOf(TorchRequest(timing)));
    const auto& back = std::get<TorchTimingRequest>(request.value());
    EXPECT_EQ(back.rounds, 3u);
    EXPECT_EQ(back.warmUpRounds, 2u);
    EXPECT_EQ(back.longest, timing.longest);
    EXPECT_FALSE(back.subject.inputs);

    const auto answer =
        decodeTorchAnswer(payloadOf(TorchAnswer(TorchTiming{{4, 1, 2, 3, 5}, true})));
    const auto& times = std::get<TorchTiming>(answer.value());
    EXPECT_TRUE(times.areDeviceTimes);
    EXPECT_EQ(times.median(), 3);
    EXPECT_DOUBLE_EQ(times.spread(), 2.0 / 3);

    const TorchVersion version{"2.11.0", true, {"H100"}, {{"aten.x.default", "why"}}, {"y"}};
    const auto read = decodeTorchAnswer(payloadOf(TorchAnswer(version)));
    const auto& known = std::get<TorchVersion>(read.value());
    EXPECT_EQ(known.version, "2.11.0");
    EXPECT_TRUE(known.isBuiltWithCuda);
    EXPECT_EQ(known.devices, version.devices);
    EXPECT_EQ(known.lacking, version.lacking);
    EXPECT_EQ(known.decomposed, version.decomposed);
}

TEST(TorchWire, CarriesJudgements) {
    TorchJudgeRequest judge;
    judge.subject.archive = "/models/a.pt2";
    judge.subject.device = "cuda";
    judge.library = "/models/libmodel.so";
    judge.seeds = 3;
    judge.longestGate = std::chrono::milliseconds(7);
    judge.wantsTimes = false;
    judge.rounds = 30;
    judge.time = std::chrono::milliseconds(8);
    const auto request = decodeTorchRequest(payloadOf(TorchRequest(judge)));
    ASSERT_TRUE(request) << request.error().describe();
    EXPECT_EQ(timeLimit(*request), judge.time);
    const auto& back = std::get<TorchJudgeRequest>(*request);
    EXPECT_EQ(back.subject.archive, judge.subject.archive);
    EXPECT_EQ(back.library, judge.library);
    EXPECT_EQ(back.seeds, 3u);
    EXPECT_EQ(back.longestGate, judge.longestGate);
    EXPECT_FALSE(back.wantsTimes);
    EXPECT_EQ(back.rounds, 30u);

    Judgement judgement;
    judgement.refusals = {"it cheats"};
    judgement.plannedTrials = 4;
    judgement.libraryNodes = {"linear"};
    judgement.isOutputConstant = true;
    judgement.device = "H100";
    TrialResult trial;
    trial.seed = 9;
    trial.distribution = Distribution::WithZeros;
    trial.symbols = {{"s0", 5}};
    trial.isOnDefaultStream = true;
    trial.isFloat64 = false;
    trial.error = std::numeric_limits<double>::infinity();
    trial.eagerError = 0.25;
    trial.isWithinLoose = true;
    trial.worst = "output 0";
    judgement.trials = {trial};
    judgement.times = JudgedTimes{{{1, 2, 3}, true}, TorchTiming{{4}, true}, "", {{5}, true}, 6, 2};
    const auto answer = decodeTorchAnswer(payloadOf(TorchAnswer(judgement)));
    ASSERT_TRUE(answer) << answer.error().describe();
    const auto& read = std::get<Judgement>(*answer);
    EXPECT_EQ(read.refusals, judgement.refusals);
    EXPECT_EQ(read.plannedTrials, 4u);
    EXPECT_EQ(read.libraryNodes, judgement.libraryNodes);
    EXPECT_TRUE(read.isOutputConstant);
    EXPECT_EQ(read.device, "H100");
    ASSERT_EQ(read.trials.size(), 1u);
    EXPECT_EQ(read.trials[0].seed, 9u);
    EXPECT_EQ(read.trials[0].distribution, Distribution::WithZeros);
    EXPECT_EQ(read.trials[0].symbols, trial.symbols);
    EXPECT_TRUE(read.trials[0].isOnDefaultStream);
    EXPECT_FALSE(read.trials[0].isFloat64);
    EXPECT_EQ(read.trials[0].error, trial.error);
    EXPECT_EQ(read.trials[0].eagerError, trial.eagerError);
    EXPECT_TRUE(read.trials[0].isWithinLoose);
    EXPECT_FALSE(read.trials[0].isWithinTight);
    EXPECT_EQ(read.trials[0].worst, "output 0");
    ASSERT_TRUE(read.times);
    EXPECT_EQ(read.times->candidate.median(), 2);
    EXPECT_EQ(read.times->replayed->median(), 4);
    EXPECT_EQ(read.times->eager.median(), 5);
    EXPECT_EQ(read.times->wallMicroseconds, 6);
    EXPECT_EQ(read.times->inputCopies, 2u);
    EXPECT_FALSE(read.isWithinLoose()) << "it is refused";
}

TEST(TorchWire, CarriesOutputsAndErrors) {
    TorchRun run;
    run.outputs = {floats({0}, {}), std::nullopt};
    run.values.emplace("relu", floats({1}, {3}));
    const auto answer = decodeTorchAnswer(payloadOf(TorchAnswer(run)));
    const auto& back = std::get<TorchRun>(answer.value());
    ASSERT_EQ(back.outputs.size(), 2u);
    EXPECT_EQ(back.outputs[0]->type.sizes.at(0).value, 0);
    EXPECT_FALSE(back.outputs[1]);
    EXPECT_THAT(valuesOf<float>(back.values.at("relu")), ElementsAre(3));

    const auto error = decodeTorchAnswer(payloadOf(
        TorchAnswer(TorchFailure{{ErrorKind::Unsupported, "what", "where", "remedy"}, true})));
    const auto& failure = std::get<TorchFailure>(error.value());
    EXPECT_EQ(failure.error.describe(), "what (where). remedy");
    EXPECT_EQ(failure.error.kind, ErrorKind::Unsupported);
    EXPECT_TRUE(failure.isFatal);
}

TEST(TorchWire, CarriesMixes) {
    TorchMixRequest mix;
    mix.subject.archive = "/models/a.pt2";
    mix.libraries = {{ProgramPart{{"mm"}, {"mm"}}, "/models/a.so"}, {std::nullopt, "/models/b.so"}};
    mix.mixes = {{0}, {1, 0}, {}};
    mix.share = 0.75;
    mix.longest = std::chrono::milliseconds(7);
    mix.time = std::chrono::milliseconds(8);
    const auto request = decodeTorchRequest(payloadOf(TorchRequest(mix)));
    ASSERT_TRUE(request) << request.error().describe();
    EXPECT_EQ(timeLimit(*request), mix.time);
    const auto& back = std::get<TorchMixRequest>(*request);
    EXPECT_EQ(back.subject.archive, mix.subject.archive);
    EXPECT_EQ(back.libraries.at(0).part, mix.libraries[0].part);
    EXPECT_EQ(back.libraries.at(0).library, "/models/a.so");
    EXPECT_EQ(back.libraries.at(1).part, std::nullopt);
    EXPECT_EQ(back.mixes, mix.mixes);
    EXPECT_EQ(back.share, 0.75);
    EXPECT_EQ(back.longest, mix.longest);
    mix.mixes = {{2}};
    EXPECT_FALSE(decodeTorchRequest(payloadOf(TorchRequest(mix)))) << "there are two libraries";

    const TorchMixes mixes{
        {{MixVerdict::Outcome::Wrong, std::numeric_limits<double>::infinity(), "output 0", ""},
         {MixVerdict::Outcome::NotCompared, 0, "", "the time was up", {1}}}};
    const auto answer = decodeTorchAnswer(payloadOf(TorchAnswer(mixes)));
    ASSERT_TRUE(answer) << answer.error().describe();
    const auto& verdicts = std::get<TorchMixes>(*answer).verdicts;
    EXPECT_EQ(verdicts.at(0).outcome, MixVerdict::Outcome::Wrong);
    EXPECT_EQ(verdicts.at(0).error, std::numeric_limits<double>::infinity());
    EXPECT_EQ(verdicts.at(0).worst, "output 0");
    EXPECT_EQ(verdicts.at(1).outcome, MixVerdict::Outcome::NotCompared);
    EXPECT_EQ(verdicts.at(1).why, "the time was up");
    EXPECT_THAT(verdicts.at(1).leftOut, ElementsAre(1u));
}

TEST(TorchWire, RefusesWhatIsCutOffOrStrange) {
    TorchRunRequest run;
    run.subject.inputs.emplace(1, floats({2}, {1, 2}));
    const auto payload = payloadOf(TorchRequest(run));
    for (std::size_t length = 0; length < payload.size(); ++length)
        EXPECT_FALSE(decodeTorchRequest(std::span(payload).first(length))) << length;
    for (const auto& text : {nlohmann::json{{"do", "dance"}}, nlohmann::json(3),
                             nlohmann::json{{"do", "run"}}, nlohmann::json{{"run", 1}}}) {
        auto frame = wire::frame(text);
        frame.erase(frame.begin(), frame.begin() + wire::frameHeaderBytes);
        EXPECT_FALSE(decodeTorchRequest(frame)) << text;
        EXPECT_FALSE(decodeTorchAnswer(frame)) << text;
    }
}

} // namespace
} // namespace kernelskill::engine::graph
