#include "engine/execution/gpu/runner_wire.h"
#include "engine/process/framing.h"

#include <gtest/gtest.h>

#include <random>

namespace kernelskill::engine::gpu {
namespace {

std::span<const std::byte> payloadOf(const std::vector<std::byte>& frame) {
    return std::span(frame).subspan(wire::frameHeaderBytes);
}

Subject someSubject() {
    Subject subject;
    subject.cubin = std::string("\x7f"
                                "ELF\0\xff",
                                6);
    subject.symbol = "_Z5saxpyifPKfPf";
    subject.launch.grid = {7, 2, 1};
    subject.launch.block = {128, 1, 1};
    subject.launch.dynamicSharedBytes = 4096;
    BufferSpec buffer;
    buffer.name = "x";
    buffer.elements = 1000;
    buffer.isOutput = true;
    ScalarSpec scalar;
    scalar.name = "n";
    scalar.bytes = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}};
    subject.launch.arguments = {buffer, scalar};
    return subject;
}

TEST(RunnerWire, CarriesARun) {
    RunRequest sent;
    sent.subject = someSubject();
    sent.seed = 42;
    sent.wantOutputs = true;
    sent.launches = 3;
    sent.metrics = {"dram__bytes_read.sum"};
    sent.wantStalls = true;
    sent.timing = TimingPlan{.minRounds = 7, .budget = std::chrono::milliseconds(9)};
    sent.time = std::chrono::milliseconds(123);
    const auto frame = encode(Request(sent));
    const auto received = decodeRequest(payloadOf(frame));
    ASSERT_TRUE(received) << received.error().describe();
    const auto& run = std::get<RunRequest>(*received);
    EXPECT_EQ(run.subject.cubin, sent.subject.cubin);
    EXPECT_EQ(run.subject.symbol, sent.subject.symbol);
    EXPECT_EQ(run.subject.launch.grid, sent.subject.launch.grid);
    EXPECT_EQ(run.subject.launch.dynamicSharedBytes, 4096u);
    ASSERT_EQ(run.subject.launch.arguments.size(), 2u);
    EXPECT_EQ(std::get<BufferSpec>(run.subject.launch.arguments[0]).elements, 1000u);
    EXPECT_EQ(std::get<ScalarSpec>(run.subject.launch.arguments[1]).bytes.size(), 4u);
    EXPECT_EQ(run.seed, 42u);
    EXPECT_TRUE(run.wantOutputs);
    EXPECT_EQ(run.launches, 3u);
    EXPECT_TRUE(run.wantStalls);
    EXPECT_EQ(run.metrics, sent.metrics);
    ASSERT_TRUE(run.timing);
    EXPECT_EQ(run.timing->minRounds, 7u);
    EXPECT_EQ(run.timing->budget, sent.timing->budget);
    EXPECT_EQ(run.time, sent.time);
}

TEST(RunnerWire, CarriesATiming) {
    TimingRequest sent;
    sent.subjects = {someSubject(), someSubject()};
    sent.plan.maxRounds = 77;
    sent.plan.longest = std::chrono::milliseconds(88);
    sent.plan.sweepCache = false;
    sent.plan.clearRatio = 1.5;
    const auto received = decodeRequest(payloadOf(encode(Request(sent))));
    ASSERT_TRUE(received) << received.error().describe();
    const auto& timing = std::get<TimingRequest>(*received);
    EXPECT_EQ(timing.subjects.size(), 2u);
    EXPECT_EQ(timing.plan.maxRounds, 77u);
    EXPECT_EQ(timing.plan.longest, std::chrono::milliseconds(88));
    EXPECT_FALSE(timing.plan.sweepCache);
    EXPECT_EQ(timing.plan.clearRatio, 1.5);

    TimingAnswer answer{{{1.5, 2.5}, {3.5, 4.5}}, {1980, 3201, 40, 0}, {1965, 3201, 45, 4}, true};
    const auto back = decodeAnswer(payloadOf(encode(Answer(answer))));
    ASSERT_TRUE(back) << back.error().describe();
    EXPECT_EQ(std::get<TimingAnswer>(*back).microseconds, answer.microseconds);
    EXPECT_EQ(std::get<TimingAnswer>(*back).after.smMegahertz, 1965u);
    EXPECT_TRUE(std::get<TimingAnswer>(*back).areDurations);
}

TEST(RunnerWire, CarriesAnswers) {
    RunAnswer run;
    const BufferContents y{"y", analysis::ScalarKind::Float, 4, std::vector(8, std::byte{1})};
    BufferContents changed = y;
    changed.bytes[5] = std::byte{2};
    run.outputs = {y};
    run.otherOutputs = {{changed}, {y, changed}};
    run.printed = "block 0\xff\n";
    run.metrics = {{"dram__bytes_read.sum", 1e9}};
    run.passes = 3;
    run.stalls = {{"/a/kernel.cu", 4, {{"smsp__pcsamp_warps_issue_stalled_barrier", 12}}}};
    run.timing = TimingAnswer{{{1.5, 2.5}}, {1980, 3201, 40, 0}, {1980, 3201, 41, 4}, false};
    run.notes = {"a note"};
    const auto back = decodeAnswer(payloadOf(encode(Answer(run))));
    ASSERT_TRUE(back) << back.error().describe();
    const auto& read = std::get<RunAnswer>(*back);
    ASSERT_EQ(read.outputs.size(), 1u);
    EXPECT_EQ(read.outputs[0].bytes, y.bytes);
    ASSERT_EQ(read.otherOutputs.size(), 2u);
    EXPECT_EQ(read.otherOutputs[0].at(0).bytes, changed.bytes);
    EXPECT_EQ(read.otherOutputs[1].at(0).name, "y");
    EXPECT_EQ(read.otherOutputs[1].at(1).bytes, changed.bytes);
    EXPECT_EQ(read.printed, run.printed);
    EXPECT_EQ(read.metrics, run.metrics);
    EXPECT_EQ(read.stalls.at(0).samples, run.stalls.at(0).samples);
    EXPECT_EQ(read.notes, run.notes);
    ASSERT_TRUE(read.timing);
    EXPECT_EQ(read.timing->microseconds, run.timing->microseconds);
    EXPECT_EQ(read.timing->after.throttleReasons, 4u);

    DeviceDescription device;
    device.name = "NVIDIA H200";
    device.profilerProblem = Error{ErrorKind::Missing, "not allowed", {}, "ask"};
    const auto described = decodeAnswer(payloadOf(encode(Answer(device))));
    ASSERT_TRUE(described);
    EXPECT_EQ(std::get<DeviceDescription>(*described).profilerProblem->remedy, "ask");

    const auto failure = decodeAnswer(
        payloadOf(encode(Answer(FailureAnswer{{ErrorKind::Failed, "lost", {}, {}}, true}))));
    ASSERT_TRUE(failure);
    EXPECT_TRUE(std::get<FailureAnswer>(*failure).isFatal);

    const auto ceilings = decodeAnswer(payloadOf(encode(Answer(CeilingsAnswer{1, 2, 3, 4, 5}))));
    ASSERT_TRUE(ceilings);
    EXPECT_EQ(std::get<CeilingsAnswer>(*ceilings).float64PerSecond, 5);
}

TEST(RunnerWire, TakesNothingMalformed) {
    RunRequest request;
    request.subject = someSubject();
    request.wantOutputs = true;
    const auto whole = encode(Request(request));
    const auto payload = payloadOf(whole);
    for (std::size_t length = 0; length < payload.size(); ++length)
        EXPECT_FALSE(decodeRequest(payload.first(length))) << length;
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::byte> damaged(payload.begin(), payload.end());
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        static_cast<void>(decodeRequest(damaged)); // a value or an error, never an end
        static_cast<void>(decodeAnswer(damaged));
    }
}

} // namespace
} // namespace kernelskill::engine::gpu
