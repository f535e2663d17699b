#include "analysis/source/json.h"
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

TEST(ProgramOptimizationReport, SaysWhichBuffersWereCompared) {
    ProgramOptimizationReport report;
    report.diff = "a difference";
    report.check = engine::ProgramCheck::Output;
    report.buffers = {3, 12'600'000};
    report.bufferNote = "of 4 buffers on the GPU 3 are compared: 1 not recorded";
    EXPECT_THAT(programOptimizationLines(report),
                ElementsAre("checked by its output and 3 buffers on the GPU (12.6 MB), which are "
                            "the original's",
                            report.bufferNote));
    report.check = engine::ProgramCheck::Buffers;
    report.buffers.count = 1;
    EXPECT_THAT(programOptimizationLines(report).front(),
                "checked by 1 buffer on the GPU (12.6 MB), which is the original's");
    const auto buffers = programOptimizationJson(report).at("buffers");
    EXPECT_EQ(buffers.at("compared"), 1);
    EXPECT_EQ(buffers.at("bytes"), 12'600'000);
    EXPECT_EQ(buffers.at("note"), report.bufferNote);
    EXPECT_EQ(programOptimizationJson(report).at("check"), "buffers");
}

TEST(ProgramOptimizationReport, SaysWhereEditsWereTried) {
    ProgramOptimizationReport report;
    engine::OptimizedKernel& kernel = report.kernels.emplace_back();
    kernel.found.emplace();
    kernel.found->executor = "program";
    kernel.found->attempts.resize(3);
    kernel.held =
        engine::HeldSearch{1, 3, 480'000, 640'000, {"it faulted", "it was killed"}, {}, {}};
    auto lines = programOptimizationLines(report);
    EXPECT_THAT(lines.at(1),
                HasSubstr("tried in the program at launch 1: 3 allocations, 480 kB; it "
                          "was started again 2 times: it was killed"));
    const auto held = programOptimizationJson(report).at("kernels").at(0);
    EXPECT_EQ(held.at("held").at("restarts").size(), 2u);
    EXPECT_EQ(held.at("held").at("saved_bytes"), 640'000);
    EXPECT_EQ(held.at("attempts"), 3);
    EXPECT_EQ(held.at("tried").size(), 3u);
    kernel.held.reset();
    kernel.notHeld = "the program uses cuMemMap";
    lines = programOptimizationLines(report);
    EXPECT_THAT(lines.at(1), HasSubstr("on the captured launch, not in the program: the program "
                                       "uses cuMemMap"));
    EXPECT_TRUE(programOptimizationJson(report).at("kernels").at(0).at("held").is_null());
    kernel.notHeld.clear();
    EXPECT_THAT(programOptimizationLines(report).at(1), HasSubstr("nothing is better"))
        << "on the emulator nothing else was wanted";
}

TEST(ProgramOptimizationReport, SaysFromWhichInstantiationASearchBegan) {
    ProgramOptimizationReport report;
    report.kernels.resize(2);
    report.kernels[0].share.times.symbol = "_Z3sumIfEvPT_";
    report.kernels[1].base = 0;
    report.kernels[1].speedup = 1.5;
    const auto kernels = programOptimizationJson(report).at("kernels");
    EXPECT_TRUE(kernels.at(0).at("base").is_null());
    EXPECT_EQ(kernels.at(1).at("base"), "_Z3sumIfEvPT_");
    EXPECT_THAT(programOptimizationLines(report).at(1), HasSubstr("1.50x in the program"));
}

TEST(ProgramOptimizationReport, SaysThatItWasStopped) {
    ProgramOptimizationReport report;
    report.isStopped = true;
    EXPECT_THAT(programOptimizationLines(report), ElementsAre(HasSubstr("before anything better")));
    engine::OptimizedKernel& kernel = report.kernels.emplace_back();
    kernel.outcome = engine::KernelOutcome::Unchecked;
    kernel.why = "stopped: the program was not timed with them";
    report.diff = "a difference";
    EXPECT_FALSE(report.isImproved()) << "the whole program does not answer for it";
    const auto lines = programOptimizationLines(report);
    EXPECT_THAT(lines.at(0), HasSubstr("unchecked"));
    EXPECT_THAT(lines.at(0), HasSubstr(": stopped: the program was not timed"));
    EXPECT_THAT(lines.at(1), HasSubstr("nothing is written"));
    const auto json = programOptimizationJson(report);
    EXPECT_EQ(json.at("stopped"), true);
    EXPECT_EQ(json.at("diff"), "a difference");
    EXPECT_EQ(json.at("kernels").at(0).at("outcome"), "unchecked");
}

} // namespace
} // namespace kernelskill::lsp
