#include "lsp-server/report/program_optimization_report.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ProgramOptimizationReport, TimesAreOfTurnsInWhichBothWereMeasured) {
    ProgramOptimizationReport report;
    report.diff = "a difference";
    report.turns.wall = {{0, 1}, {4, 1}, {6, 0}, {3, 1.5}};
    EXPECT_THAT(programOptimizationLines(report),
                ElementsAre("whole program: 3.00x (2.00 to 4.00 in 2 turns), 3.5 s to 1.25 s",
                            HasSubstr("checked by")));
    report.turns.wall = {{1, 0}};
    EXPECT_THAT(programOptimizationLines(report), ElementsAre(HasSubstr("checked by")));
}

} // namespace
} // namespace kernelskill::lsp
