#include "analysis/source/json.h"
#include "engine/timeline/timeline_summary.h"
#include "engine/timeline/trace_json.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

DeviceActivity kernel(std::uint64_t begin, std::uint64_t end, std::string name = "_Z1kv",
                      std::uint32_t device = 0) {
    DeviceActivity activity;
    activity.name = std::move(name);
    activity.begin = begin;
    activity.end = end;
    activity.device = device;
    return activity;
}

DeviceActivity copy(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
    DeviceActivity activity = kernel(begin, end, "HtoD");
    activity.kind = ActivityKind::Copy;
    activity.bytes = bytes;
    return activity;
}

/// `count` kernels of `length` ns with `gap` ns between them, from `begin` on.
std::vector<DeviceActivity> train(std::uint64_t begin, int count, std::uint64_t length,
                                  std::uint64_t gap) {
    std::vector<DeviceActivity> activities;
    for (int i = 0; i < count; ++i) {
        activities.push_back(kernel(begin, begin + length));
        begin += length + gap;
    }
    return activities;
}

TEST(TimelineSummary, CountsTimeWithOverlapOnce) {
    const std::vector<DeviceActivity> activities = {kernel(100, 300), kernel(200, 250),
                                                    copy(250, 400, 32), kernel(600, 700)};
    const auto summary = summaryOf(activities);
    ASSERT_EQ(summary.devices.size(), 1u);
    const auto& device = summary.devices[0];
    EXPECT_EQ(device.end - device.begin, 600u);
    EXPECT_EQ(device.busy, 400u);
    EXPECT_EQ(device.kernels, 350u);
    EXPECT_EQ(device.copies, 150u);
    EXPECT_EQ(device.copiedBytes, 32u);
}

TEST(TimelineSummary, RanksKernelsByTheirTime) {
    const std::vector<DeviceActivity> activities = {
        kernel(0, 10, "_Z5shortPf"), kernel(10, 40, "_Z5shortPf"), kernel(40, 60, "_Z5shortPf"),
        kernel(60, 1060, "_Z4longIfEvPT_")};
    const auto summary = summaryOf(activities);
    ASSERT_EQ(summary.kernels.size(), 2u);
    EXPECT_EQ(summary.kernels[0].name, "void long<float>(float*)");
    const auto& shorter = summary.kernels[1];
    EXPECT_EQ(shorter.name, "short(float*)");
    EXPECT_EQ(shorter.launches, 3u);
    EXPECT_EQ(shorter.total, 60u);
    EXPECT_EQ(shorter.shortest, 10u);
    EXPECT_EQ(shorter.median, 20u);
    EXPECT_EQ(shorter.longest, 30u);
}

TEST(TimelineSummary, FindsRowsOfShortLaunches) {
    auto activities = train(1000, 20, 3000, 4000);
    const auto summary = summaryOf(activities);
    const auto& worst = summary.devices[0].worst;
    EXPECT_EQ(worst.launches, 20u);
    EXPECT_EQ(worst.idle, 19u * 4000);
    EXPECT_EQ(worst.end - worst.begin, 20u * 3000 + 19u * 4000);
}

TEST(TimelineSummary, DoesNotBlameLaunchesForWhatTheyDoNotCost) {
    // Too few; too long; too far apart; back to back.
    EXPECT_EQ(summaryOf(train(0, 9, 3000, 4000)).devices[0].worst.launches, 0u);
    EXPECT_EQ(summaryOf(train(0, 50, 20'000, 4000)).devices[0].worst.launches, 0u);
    EXPECT_EQ(summaryOf(train(0, 50, 3000, 400'000)).devices[0].worst.launches, 0u);
    EXPECT_EQ(summaryOf(train(0, 50, 3000, 0)).devices[0].worst.launches, 0u);
}

TEST(TimelineSummary, KeepsDevicesApart) {
    const std::vector<DeviceActivity> activities = {kernel(0, 10, "a", 1), kernel(5, 10, "a", 0)};
    const auto summary = summaryOf(activities);
    ASSERT_EQ(summary.devices.size(), 2u);
    EXPECT_EQ(summary.devices[0].busy, 5u);
    EXPECT_EQ(summary.devices[1].busy, 10u);
    EXPECT_EQ(summary.kernels[0].launches, 2u);
}

TEST(TimelineSummary, OfNothingIsEmpty) {
    const auto summary = summaryOf({});
    EXPECT_TRUE(summary.devices.empty());
    EXPECT_TRUE(summary.kernels.empty());
}

TEST(TraceJson, IsWhatTracingPagesRead) {
    const std::vector<DeviceActivity> activities = {copy(1000, 3000, 4096),
                                                    kernel(4000, 9000, "_Z5scalePf")};
    const auto trace = nlohmann::json::parse(traceJson(activities));
    const auto& events = trace.at("traceEvents");
    ASSERT_EQ(events.size(), 4u); // the names of device and stream come first
    EXPECT_EQ(events[2].at("name"), "memcpy HtoD");
    EXPECT_EQ(events[3].at("name"), "scale(float*)");
    EXPECT_EQ(events[3].at("ph"), "X");
    EXPECT_DOUBLE_EQ(events[3].at("ts"), 3.0);
    EXPECT_DOUBLE_EQ(events[3].at("dur"), 5.0);
}

} // namespace
} // namespace kernelskill::engine
