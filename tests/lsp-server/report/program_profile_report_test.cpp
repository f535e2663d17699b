#include "analysis/source/json.h"
#include "lsp-server/report/program_profile_report.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

ProgramProfileReport reportOfTwo() {
    ProgramProfileReport report;
    report.profile.kernels.resize(2);
    report.profile.kernels[0].times.symbol = "first";
    report.profile.kernels[0].times.median = 4'200;
    report.profile.kernels[1].times.symbol = "second";
    report.details.resize(2);
    return report;
}

TEST(ProgramProfileReport, HasAColumnOfDurationsAloneWhereTheyWereMeasured) {
    ProgramProfileReport report = reportOfTwo();
    EXPECT_THAT(programProfileTable(report, 2).front(), Not(Contains("alone")));
    EXPECT_TRUE(programProfileJson(report).at("kernels").at(0).at("alone_microseconds").is_null());

    report.alone["first"] = 5.06;
    const auto rows = programProfileTable(report, 2);
    EXPECT_THAT(rows.at(0), ElementsAre("share", "at most", "total", "launches", "median", "alone",
                                        "roofline", "bottleneck", "kernel"));
    EXPECT_EQ(rows.at(1).at(4), "4.2 µs");
    EXPECT_EQ(rows.at(1).at(5), "5.06 µs");
    EXPECT_EQ(rows.at(2).at(5), "") << "no launch of it was measured";
    const auto kernels = programProfileJson(report).at("kernels");
    EXPECT_EQ(kernels.at(0).at("alone_microseconds"), 5.06);
    EXPECT_TRUE(kernels.at(1).at("alone_microseconds").is_null());
}

} // namespace
} // namespace kernelskill::lsp
