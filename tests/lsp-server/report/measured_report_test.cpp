#include "engine/execution/metric_names.h"
#include "lsp-server/report/file_page.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/metric_explanation.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/roofline_plot.h"
#include "lsp-server/report/stall_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

engine::LineMetrics sampledLine(std::uint32_t line, engine::Metrics samples, double total) {
    double here = 0;
    for (const auto& [name, count] : samples)
        here += count;
    samples[engine::metric::stallSamples] = here;
    samples[engine::metric::stallPercent] = 100 * here / total;
    return {"/a.cu", line, std::move(samples)};
}

engine::Profile sampledProfile() {
    engine::Profile profile;
    profile.lines = {
        sampledLine(1, {{"smsp__pcsamp_warps_issue_stalled_long_scoreboard", 60}}, 100),
        sampledLine(2,
                    {{"smsp__pcsamp_warps_issue_stalled_long_scoreboard", 10},
                     {"smsp__pcsamp_warps_issue_stalled_barrier", 29.5},
                     {"smsp__pcsamp_warps_issue_stalled_misc", 0.5}},
                    100)};
    return profile;
}

engine::KernelReport measuredReport(double operations) {
    engine::Profile profile = sampledProfile();
    profile.metrics = {{engine::metric::medianTime, 100e3},
                       {"dram__bytes_read.sum", 250e6},
                       {"dram__bytes_write.sum", 50e6},
                       {engine::metric::floatingOperations, operations}};
    engine::KernelReport report;
    const engine::DeviceCeilings ceilings{"NVIDIA H200", 4e12, 60e12, 30e12, 9e12};
    report.measured = engine::measuredRooflineOf(profile, ceilings);
    report.measurement = std::make_shared<const engine::Measurement>(
        engine::Measurement{"GPU-1", "NVIDIA H200", "2026-01-02T03:04:05Z", ceilings});
    report.profile = std::make_shared<const engine::Profile>(std::move(profile));
    return report;
}

engine::KernelReport countedReport() {
    engine::KernelReport report;
    report.profile = std::make_shared<const engine::Profile>();
    const engine::Gpu& gpu = *engine::gpuNamed(*engine::builtinGpus(), "H200");
    engine::RooflineCounts counts;
    counts.uniqueBytes = 1e8;
    counts.movedBytes = 4e8;
    counts.operations.emplace().single = 2e8;
    counts.blocks = 1000;
    report.roofline = engine::rooflineOf(counts, gpu);
    return report;
}

TEST(Stalls, AreOfAllSamplesMostFirst) {
    const auto shares = stallShares(sampledProfile());
    ASSERT_EQ(shares.size(), 2u) << "half a percent is not worth a line";
    EXPECT_EQ(shares[0].reason, "long_scoreboard");
    EXPECT_DOUBLE_EQ(shares[0].percent, 70);
    EXPECT_EQ(shares[0].metric, "smsp__pcsamp_warps_issue_stalled_long_scoreboard");
    EXPECT_THAT(std::string(shares[0].meaning), HasSubstr("memory"));
    EXPECT_EQ(shares[1].reason, "barrier");
}

TEST(Stalls, OfALineAreOfTheKernelsTime) {
    const auto shares = stallShares(sampledProfile().lines[1]);
    ASSERT_EQ(shares.size(), 2u);
    EXPECT_EQ(shares[0].reason, "barrier");
    EXPECT_NEAR(shares[0].percent, 29.5, 1e-9);
    EXPECT_NEAR(shares[1].percent, 10, 1e-9);
}

TEST(Stalls, AreNoneWithoutSamples) {
    EXPECT_TRUE(stallShares(engine::Profile{}).empty());
    EXPECT_TRUE(stallShares(engine::LineMetrics{}).empty());
}

TEST(RooflinePlots, AMeasuredKernelIsAPointUnderMeasuredCeilings) {
    const auto report = measuredReport(3e9);
    const auto point = rooflinePoint(report, "k");
    ASSERT_TRUE(point);
    EXPECT_FALSE(point->isModel);
    EXPECT_EQ(point->intensity, (engine::Interval{10, 10}));
    EXPECT_EQ(point->perSecond, (engine::Interval{30e12, 30e12}));
    const auto ceilings = ceilingsOf(report);
    EXPECT_THAT(ceilings, ElementsAre(Field(&RooflineCeiling::name, "DRAM"),
                                      Field(&RooflineCeiling::name, "L2"),
                                      Field(&RooflineCeiling::name, "FP32"),
                                      Field(&RooflineCeiling::name, "FP64")));
    EXPECT_EQ(ceilings.front().origin, "measured");
}

TEST(RooflinePlots, ACountedKernelIsAnIntervalUnderTheDatasheets) {
    const auto report = countedReport();
    const auto point = rooflinePoint(report, "k");
    ASSERT_TRUE(point);
    EXPECT_TRUE(point->isModel);
    EXPECT_DOUBLE_EQ(point->intensity.low, 0.5);
    EXPECT_DOUBLE_EQ(point->intensity.high, 2);
    // Each end is the operations in the model's time.
    EXPECT_DOUBLE_EQ(point->perSecond.low * report.roofline->seconds.high, 2e8);
    EXPECT_DOUBLE_EQ(point->perSecond.high * report.roofline->seconds.low, 2e8);
    for (const RooflineCeiling& ceiling : ceilingsOf(report))
        EXPECT_EQ(ceiling.origin, "datasheet");
}

TEST(RooflinePlots, AKernelWithoutArithmeticHasNoPlace) {
    EXPECT_FALSE(rooflinePoint(measuredReport(0), "copy"));
    EXPECT_FALSE(rooflinePoint(engine::KernelReport{}, "unknown"));
}

TEST(MeasuredText, SaysTimeAndPartOfTheRoofline) {
    EXPECT_EQ(measuredHeadline(measuredReport(3e9)), "100 µs · 75 % of roofline");
    EXPECT_EQ(measuredHeadline(countedReport()), "");
    EXPECT_EQ(measuredWhere(measuredReport(0)), "on NVIDIA H200, 2026-01-02T03:04:05Z");
}

TEST(MeasuredText, AModelsTimeIsCalledOne) {
    EXPECT_EQ(timeText(measuredReport(0)), "100 µs");
    EXPECT_THAT(timeText(countedReport()), ::testing::StartsWith("at least "));
}

TEST(MetricTexts, OfAMeasurementComeWithUnits) {
    const auto sections = metricSections(measuredReport(3e9).profile->metrics);
    ASSERT_FALSE(sections.empty());
    EXPECT_EQ(sections.front().title, "Measured on the GPU");
    EXPECT_EQ(sections.front().metrics.front().value, "100 µs");
    const auto& read = sections.front().metrics.at(1);
    EXPECT_EQ(read.name, "dram__bytes_read.sum");
    EXPECT_EQ(read.value, "250 MB");
}

TEST(MetricTexts, WhatDecidesIsExplained) {
    for (const char* metric :
         {engine::metric::load.sectorsPerRequest, engine::metric::store.sharedConflicts,
          engine::metric::activeThreads, "dram__throughput.avg.pct_of_peak_sustained_elapsed"})
        EXPECT_FALSE(explanationOf(metric).empty()) << metric;
    EXPECT_TRUE(explanationOf("no__such.metric").empty());
}

} // namespace
} // namespace kernelskill::lsp
