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
    EXPECT_EQ(regressionSummary(changes()), "4 kernels: 1 worse, 1 same, 1 new, 1 removed");
    EXPECT_EQ(regressionSummary({}), "0 kernels");
}

TEST(RegressionReport, MarkdownHasATableOfWhatChanged) {
    const std::string text = regressionMarkdown(changes());
    EXPECT_THAT(text, HasSubstr("| k\\<int> | a.cu | worse | sectors loaded 8 -> 32 (4x) |\n"));
    EXPECT_THAT(text, HasSubstr("| new | b\\|c.cu | new | it says \"\\<no>\" \\| \\`x\\` |"));
    EXPECT_THAT(text, Not(HasSubstr("| same |")));
    EXPECT_THAT(regressionMarkdown({changes()[1]}), Not(HasSubstr("|---|")));
}

TEST(RegressionReport, JunitCountsFailuresAndEscapes) {
    const std::string text = regressionJunit(changes());
    EXPECT_THAT(text, HasSubstr("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\""));
    EXPECT_THAT(text, HasSubstr("name=\"k&lt;int&gt;\"><failure message=\"sectors loaded 8 -"));
    EXPECT_THAT(text, HasSubstr("<system-out>new: it says &quot;&lt;no&gt;&quot; | `x`<"));
}

TEST(RegressionReport, JsonHasTheCounts) {
    const auto document = regressionJson(changes());
    EXPECT_EQ(document.at("regressions"), 1);
    EXPECT_EQ(document.at("kernels").at(0).at("counts").at(0).at("after"), 32);
    EXPECT_EQ(document.at("kernels").at(2).at("status"), "removed");
}

} // namespace
} // namespace kernelskill::lsp
