#include "engine/graph/operators.h"
#include "engine/graph/reference/torch_reference.h"
#include "tests/engine/execution/gpu/child_processes.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using std::chrono::milliseconds;
using testing::floats;
using ::testing::HasSubstr;
using testing::sampleProgram;
using testing::SampleProgram;
using testing::valuesOf;

class TorchReferenceTest : public ::testing::Test {
protected:
    static TorchRunRequest requestFor(const SampleProgram& sample,
                                      Precision precision = Precision::Float32) {
        TorchRunRequest request;
        request.subject.archive = sample.archive;
        request.subject.inputs = sample.inputs;
        request.subject.precision = precision;
        return request;
    }

    /// The only output.
    TensorData outputOf(const TorchRunRequest& request) {
        auto run = reference_.run(request);
        if (run && run->outputs.size() == 1 && run->outputs[0])
            return std::move(*run->outputs[0]);
        ADD_FAILURE() << (run ? "not one output" : run.error().describe());
        return {};
    }

    TorchReference reference_{paths::torchProgram};
};

template <typename T>
double largestDifference(const std::vector<T>& found, const std::vector<float>& expected) {
    EXPECT_EQ(found.size(), expected.size());
    double largest = 0;
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
        const double difference = std::abs(static_cast<double>(found[i]) - expected[i]);
        largest = std::max(largest, difference / std::max(1.0, std::abs(double{expected[i]})));
    }
    return largest;
}

TEST_F(TorchReferenceTest, SaysWhatItHas) {
    TorchVersionRequest request;
    for (const Operator& known : knownOperators())
        request.operators.emplace_back(known.target);
    request.operators.emplace_back("aten.nonsense.default");
    const auto version = reference_.version(request);
    ASSERT_TRUE(version) << version.error().describe();
    EXPECT_FALSE(version->version.empty());
    EXPECT_EQ(version->lacking.size(), 1u);
    EXPECT_THAT(version->lacking.at("aten.nonsense.default"), HasSubstr("unknown"));
}

TEST_F(TorchReferenceTest, ComputesWhatPyTorchComputed) {
    for (const char* name :
         {"attention", "conv", "lstm", "mlp", "mlp-dynamic", "unusual-operators"}) {
        const auto sample = sampleProgram(name);
        const auto output = outputOf(requestFor(sample));
        EXPECT_EQ(output.type.element, ElementType::Float32) << name;
        EXPECT_EQ(graph::valuesOf(output.type.sizes), sample.outputSizes) << name;
        EXPECT_LT(largestDifference(valuesOf<float>(output), sample.output), 1e-5) << name;
    }
}

TEST_F(TorchReferenceTest, RoundsBetweenNodesAsWritten) {
    const auto sample = sampleProgram("bf16-product");
    const auto exact = outputOf(requestFor(sample, Precision::Float64));
    const double roundedAway = largestDifference(valuesOf<double>(exact), sample.output);
    EXPECT_GT(roundedAway, 1e-5);
    EXPECT_LT(roundedAway, 0.05);
    const auto written = outputOf(requestFor(sample, Precision::AsWritten));
    const auto asFloats = [&] {
        if (written.type.element == ElementType::Float32)
            return valuesOf<float>(written);
        std::vector<float> values;
        for (const std::uint16_t bits : valuesOf<std::uint16_t>(written))
            values.push_back(std::bit_cast<float>(std::uint32_t{bits} << 16));
        return values;
    }();
    EXPECT_LT(largestDifference(asFloats, sample.output), 0.01);
}

TEST_F(TorchReferenceTest, ComputesInFloat64CloseToFloat32) {
    const auto sample = sampleProgram("mlp");
    const auto wide = outputOf(requestFor(sample, Precision::Float64));
    EXPECT_EQ(wide.type.element, ElementType::Float64);
    const double difference = largestDifference(valuesOf<double>(wide), sample.output);
    EXPECT_GT(difference, 0);
    EXPECT_LT(difference, 1e-5);
}

TEST_F(TorchReferenceTest, KeepsEveryValue) {
    auto request = requestFor(sampleProgram("mlp"));
    request.keepsAll = true;
    const auto run = reference_.run(request);
    ASSERT_TRUE(run) << run.error().describe();
    EXPECT_GE(run->values.size(), 3u);
    request.keepsAll = false;
    request.keep = {run->values.begin()->first};
    const auto one = reference_.run(request);
    ASSERT_TRUE(one) << one.error().describe();
    EXPECT_EQ(valuesOf<float>(one->values.begin()->second),
              valuesOf<float>(run->values.begin()->second));
}

TEST_F(TorchReferenceTest, TakesAnotherExtentOfADynamicProgram) {
    const auto sample = sampleProgram("mlp-dynamic");
    auto request = requestFor(sample);
    const auto rowsOf = [](std::size_t rows) {
        return floats({static_cast<std::int64_t>(rows), 64}, std::vector<float>(rows * 64, 0.5f));
    };
    request.subject.inputs = std::vector{rowsOf(3)};
    EXPECT_EQ(outputOf(request).type.sizes.at(0).value, 3);
}

TEST_F(TorchReferenceTest, NamesWhatItDoesNotRun) {
    for (const auto& [name, target] : {std::pair{"control-flow", "higher_order.cond"},
                                       std::pair{"mutates", "aten.add_.Tensor"}}) {
        const auto run = reference_.run(requestFor(sampleProgram(name)));
        ASSERT_FALSE(run) << name;
        EXPECT_EQ(run.error().kind, ErrorKind::Unsupported) << name;
        EXPECT_THAT(run.error().what, HasSubstr(target));
        EXPECT_THAT(run.error().where, HasSubstr("node "));
    }
}

TEST_F(TorchReferenceTest, GoesOnAfterARequestThatFails) {
    const auto sample = sampleProgram("mlp");
    auto wrong = requestFor(sample);
    wrong.subject.inputs = std::vector{floats({7, 63}, std::vector<float>(7 * 63))};
    const auto shape = reference_.run(wrong);
    ASSERT_FALSE(shape);
    EXPECT_EQ(shape.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(shape.error().what, HasSubstr("has the shape [7, 63] instead of [7, 64]"));
    wrong = requestFor(sample);
    wrong.subject.archive = "/nowhere/model.pt2";
    const auto archive = reference_.run(wrong);
    ASSERT_FALSE(archive);
    EXPECT_THAT(archive.error().describe(), HasSubstr("/nowhere/model.pt2"));
    wrong = requestFor(sample);
    wrong.subject.device = "cuda:99";
    EXPECT_EQ(reference_.run(wrong).error().kind, ErrorKind::Missing);
    EXPECT_LT(largestDifference(valuesOf<float>(outputOf(requestFor(sample))), sample.output),
              1e-5);
}

/// Many rounds of a program, which take longer than any test.
TorchTimingRequest endless() {
    TorchTimingRequest request;
    request.subject.archive = sampleProgram("mlp").archive;
    request.rounds = 1'000'000'000;
    request.longest = milliseconds(600'000);
    request.time = milliseconds(600'000);
    return request;
}

TEST_F(TorchReferenceTest, TimesAProgram) {
    auto request = endless();
    request.rounds = 20;
    const auto timing = reference_.time(request);
    ASSERT_TRUE(timing) << timing.error().describe();
    EXPECT_EQ(timing->microseconds.size(), 20u);
    EXPECT_GT(timing->median(), 0);
    EXPECT_FALSE(timing->areDeviceTimes);
}

TEST_F(TorchReferenceTest, ComputesAndTimesOnAGpu) {
    const auto version = reference_.version({});
    ASSERT_TRUE(version) << version.error().describe();
    if (version->devices.empty())
        GTEST_SKIP() << "LibTorch sees no GPU";
    EXPECT_FALSE(version->devices.front().empty());
    for (const char* name : {"attention", "conv", "lstm", "mlp"}) {
        const auto sample = sampleProgram(name);
        auto request = requestFor(sample);
        request.subject.device = "cuda";
        EXPECT_LT(largestDifference(valuesOf<float>(outputOf(request)), sample.output), 1e-4)
            << name;
    }
    auto request = endless();
    request.rounds = 20;
    request.subject.device = "cuda:0";
    const auto timing = reference_.time(request);
    ASSERT_TRUE(timing) << timing.error().describe();
    EXPECT_EQ(timing->microseconds.size(), 20u);
    EXPECT_TRUE(timing->areDeviceTimes);
    EXPECT_GT(timing->median(), 1);
}

TEST_F(TorchReferenceTest, EndsARequestThatTakesTooLong) {
    auto request = endless();
    request.time = milliseconds(1'500);
    const auto timing = reference_.time(request);
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().kind, ErrorKind::Failed);
    EXPECT_THAT(timing.error().what, HasSubstr("did not end within 1500 ms"));
    EXPECT_TRUE(reference_.version({}));
}

TEST_F(TorchReferenceTest, LivesOnWhenItsChildIsKilled) {
    ASSERT_TRUE(reference_.version({}));
    const std::jthread killer([] {
        std::this_thread::sleep_for(milliseconds(300));
        for (const pid_t child : kernelskill::testing::childProcesses())
            ::kill(child, SIGKILL);
    });
    const auto timing = reference_.time(endless());
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().kind, ErrorKind::Failed);
    EXPECT_THAT(timing.error().what, HasSubstr("ended without an answer"));
    EXPECT_TRUE(reference_.version({}));
}

TEST_F(TorchReferenceTest, IsCancelled) {
    ASSERT_TRUE(reference_.version({}));
    std::stop_source stop;
    const std::jthread canceller([&] {
        std::this_thread::sleep_for(milliseconds(200));
        stop.request_stop();
    });
    const auto timing = reference_.time(endless(), stop.get_token());
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().kind, ErrorKind::Cancelled);
    EXPECT_TRUE(reference_.version({}));
}

} // namespace
} // namespace kernelskill::engine::graph
