#include "analysis/source/json.h"
#include "lsp-server/report/regression_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

using engine::CountChange;
using engine::CountedKernelChange;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<CountedKernelChange> changes() {
    return {{"a.cu", "k<int>", CountChange::Worse, {{"sectors loaded", "x", 8, 32}}, ""},
            {"a.cu", "same", CountChange::Same, {}, ""},
            {"b|c.cu", "gone", CountChange::Removed, {}, ""},
            {"b|c.cu", "new", CountChange::New, {}, "it says \"<no>\" | `x`"}};
}

TEST(RegressionReport, TheSummaryNamesEachKind) {
    EXPECT_EQ(regressionSummary(countReport(changes())),
              "4 kernels: 1 worse, 1 same, 1 new, 1 removed");
    EXPECT_EQ(regressionSummary(countReport({})), "0 kernels");
}

TEST(RegressionReport, MarkdownHasATableOfWhatChanged) {
    const std::string text = regressionMarkdown(countReport(changes()));
    EXPECT_THAT(text, HasSubstr("| k\\<int> | a.cu | worse | sectors loaded 8 -> 32 (4x) |\n"));
    EXPECT_THAT(text, HasSubstr("| new | b\\|c.cu | new | it says \"\\<no>\" \\| \\`x\\` |"));
    EXPECT_THAT(text, Not(HasSubstr("| same |")));
    EXPECT_THAT(regressionMarkdown(countReport({changes()[1]})), Not(HasSubstr("|---|")));
}

TEST(RegressionReport, JunitCountsFailuresAndEscapes) {
    const std::string text = regressionJunit(countReport(changes()));
    EXPECT_THAT(text, HasSubstr("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\""));
    EXPECT_THAT(text, HasSubstr("name=\"k&lt;int&gt;\"><failure message=\"sectors loaded 8 -"));
    EXPECT_THAT(text, HasSubstr("<system-out>new: it says &quot;&lt;no&gt;&quot; | `x`<"));
}

engine::TimedComparison times() {
    using engine::TimeChange;
    return {{},
            {{"slow|er", TimeChange::Slower, 10, 12.5, 0.8, 0.79, 0.81, {}},
             {"fine", TimeChange::Same, 4, 4, 1, 0.999, 1.001, {}},
             {"few", TimeChange::Unsure, 4, 8, 0.5, 0.4, 0.6, "3 launches are compared"},
             {"old", TimeChange::Gone, 4, 0, 1, 1, 1, {}}},
            {"the driver was 1; it is 2"}};
}

TEST(RegressionReport, TimesAreReportedAsCountsAre) {
    auto report = timeReport(times(), {{"slow|er", "src/a.cu"}});
    report.subject = "./sums 64";
    EXPECT_EQ(regressionSummary(report), "4 kernels: 1 slower, 1 same, 1 unsure, 1 gone");
    EXPECT_EQ(report.regressions(), 1u);
    const std::string markdown = regressionMarkdown(report);
    EXPECT_THAT(markdown, HasSubstr("./sums 64: 4 kernels: 1 slower, 1 same, 1 unsure, 1 gone "
                                    "(times of kernels).\n\nthe driver was 1; it is 2.\n"));
    EXPECT_THAT(markdown,
                HasSubstr("| slow\\|er | src/a.cu | slower | 0.80 times as fast, 10 µs to 12.5 µs; "
                          "between 0.79 and 0.81 times as fast |\n"));
    EXPECT_THAT(markdown, HasSubstr("| few |  | unsure | not certain, 4 µs to 8 µs (3 launches"));
    EXPECT_THAT(markdown, Not(HasSubstr("| fine |")));
    const std::string junit = regressionJunit(report);
    EXPECT_THAT(junit, HasSubstr("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\""));
    EXPECT_THAT(junit, HasSubstr("<testcase classname=\"src/a.cu\" name=\"slow|er\"><failure"));
    EXPECT_THAT(junit, HasSubstr("<testcase classname=\"./sums 64\" name=\"few\"><system-out>"));
    const auto document = timesJson(times(), {{"slow|er", "src/a.cu"}});
    EXPECT_EQ(document.at("regressions"), 1);
    EXPECT_EQ(document.at("kernels").at(0).at("file"), "src/a.cu");
    EXPECT_EQ(document.at("kernels").at(0).at("least"), 0.79);
    EXPECT_TRUE(document.at("kernels").at(1).at("file").is_null());
}

TEST(RegressionReport, TimesOfAnotherGpuAreNoRegressions) {
    auto comparison = times();
    comparison.obstacle = "the baseline is of A; this is B";
    const auto report = timeReport(comparison, {});
    EXPECT_EQ(report.regressions(), 0u);
    EXPECT_EQ(regressionSummary(report), "4 kernels: 4 not-comparable");
    EXPECT_THAT(regressionJunit(report),
                HasSubstr("name=\"few\"><skipped message=\"the baseline is of A; this is B\"/>"));
    const auto document = timesJson(comparison, {});
    EXPECT_EQ(document.at("regressions"), 0);
    EXPECT_EQ(document.at("kernels").at(0).at("status"), "not-comparable");
    EXPECT_EQ(document.at("kernels").at(0).at("reason"), comparison.obstacle);
}

TEST(RegressionReport, JsonHasTheCounts) {
    const auto document = countsJson(changes());
    EXPECT_EQ(document.at("regressions"), 1);
    EXPECT_EQ(document.at("kernels").at(0).at("counts").at(0).at("after"), 32);
    EXPECT_EQ(document.at("kernels").at(2).at("status"), "removed");
}

} // namespace
} // namespace kernelskill::lsp
