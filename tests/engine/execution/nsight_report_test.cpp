#include "engine/execution/nsight_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

/// The output of `ncu --page raw --csv` without most of its columns: messages of the tool, a row of
/// names, a row of units, and a row for each launch.
constexpr const char* table =
    "==PROF== Connected to process 4711\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\","
    "\"gpu__time_duration.sum\",\"launch__func_cache_config\",\"sm__warps_active.avg.pct_of_peak_"
    "sustained_active\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"\",\"%\"\r\n"
    "\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void scale<float>(float *, \"\"x\"\", int)\",\"1\","
    "\"7\",\"(256, 1, 1)\",\"(4096, 2, 1)\",\"0\",\"9.0\",\"1,033.5\",\"12.25\",\"CachePrefer"
    "None\",\"87.5\"\n"
    "\"1\",\"4711\",\"app\",\"127.0.0.1\",\"fill(float *)\",\"1\",\"7\",\"(32, 8, 1)\",\"(7, 1, "
    "1)\",\"0\",\"9.0\",\"0\",\"2\",\"CachePreferNone\",\"n/a\"\n";

TEST(NsightReport, IsReadWithItsUnits) {
    const auto kernels = readNsightTable(table, "run.ncu-rep");
    ASSERT_TRUE(kernels) << kernels.error().describe();
    ASSERT_EQ(kernels->size(), 2U);
    const ImportedKernel& first = kernels->front();
    EXPECT_EQ(first.name, "void scale<float>(float *, \"x\", int)");
    EXPECT_EQ(first.block, (Dim3{256, 1, 1}));
    EXPECT_EQ(first.capability, "9.0");
    EXPECT_DOUBLE_EQ(first.metrics.at("dram__bytes_read.sum"), 1033.5e6);
    EXPECT_DOUBLE_EQ(first.metrics.at("gpu__time_duration.sum"), 12250) << "nanoseconds";
    EXPECT_DOUBLE_EQ(first.metrics.at("sm__warps_active.avg.pct_of_peak_sustained_active"), 87.5);
    EXPECT_FALSE(first.metrics.contains("launch__func_cache_config")) << "is no number";
    const ImportedKernel& second = kernels->back();
    EXPECT_EQ(second.block, (Dim3{32, 8, 1}));
    EXPECT_EQ(second.grid, (Dim3{7, 1, 1}));
    EXPECT_EQ(second.metrics.size(), 2U);
}

TEST(NsightReport, OfNoKernelIsAnError) {
    const auto nothing = readNsightTable("==WARNING== No kernels were profiled.\n", "run.ncu-rep");
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(nothing.error().describe(), HasSubstr("run.ncu-rep"));
}

TEST(NsightReport, ThatIsNotThereIsAnError) {
    const auto missing = importNsightReport("/nowhere/run.ncu-rep", {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::InvalidInput);
}

} // namespace
} // namespace kernelskill::engine
