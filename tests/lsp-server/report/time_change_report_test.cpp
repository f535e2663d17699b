#include "analysis/source/json.h"
#include "lsp-server/report/time_change_report.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp {
namespace {

using engine::KernelTimeChange;
using engine::TimeChange;
using ::testing::HasSubstr;

KernelTimeChange changeTo(TimeChange change) {
    return {"k", change, 100, 50, 2, 1.9, 2.1, "why"};
}

TEST(TimeChangeReport, SaysWhatBecameOfEachKernel) {
    EXPECT_EQ(timeChangeText(changeTo(TimeChange::Faster)),
              "k: 2.00 times as fast, 100 µs to 50 µs");
    EXPECT_EQ(timeChangeText(changeTo(TimeChange::Same)), "k: as fast as before, 50 µs");
    EXPECT_EQ(timeChangeText(changeTo(TimeChange::Unsure)),
              "k: not certain, 100 µs to 50 µs (why)");
    EXPECT_EQ(timeChangeText(changeTo(TimeChange::New)), "k: new, 50 µs");
    EXPECT_EQ(timeChangeText(changeTo(TimeChange::Gone)), "k: not launched any more");
}

TEST(TimeChangeReport, TheSummaryNamesWhatIsCertain) {
    EXPECT_EQ(timeChangesText({changeTo(TimeChange::Same), changeTo(TimeChange::Slower),
                               changeTo(TimeChange::Unsure)}),
              "3 kernels: 1 slower, 1 same, 1 unsure; k: 2.00 times as fast, 100 µs to 50 µs");
    EXPECT_EQ(timeChangesText({changeTo(TimeChange::New)}), "1 kernel: 1 new");
}

TEST(TimeChangeReport, JsonHasTheInterval) {
    const auto list = timeChangesJson({changeTo(TimeChange::Unsure)});
    EXPECT_EQ(list.at(0).at("status"), "unsure");
    EXPECT_EQ(list.at(0).at("least"), 1.9);
    EXPECT_EQ(list.at(0).at("after_microseconds"), 50);
    EXPECT_THAT(list.at(0).at("text").get<std::string>(), HasSubstr("not certain"));
}

} // namespace
} // namespace kernelskill::lsp
