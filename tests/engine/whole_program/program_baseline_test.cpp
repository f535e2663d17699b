#include "analysis/source/json.h"
#include "engine/execution/metric_names.h"
#include "engine/whole_program/program_baseline.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Five runs of 20 launches each. The runs differ by 0.1 %.
TimedRuns timed(double microseconds) {
    TimedRuns result{{"NVIDIA H200", "580.65.06", 1980}, {}};
    for (int run = 0; run < 5; ++run)
        result.runs.push_back(
            {{"sums", launchesWith(std::vector<double>(20, microseconds * (1 + 0.001 * run)))}});
    return result;
}

ProgramBaseline baseline() {
    ProgramBaseline result{{{"./sums", "a b"}, "bench", {{"N", "4"}}}, timed(12.345), std::nullopt};
    result.times->runs[1].emplace("only::once", launchesWith({0.001, 3.5}));
    result.times->runs[4].emplace("often", launchesWith(std::vector<double>(1000, 2.5)));
    return result;
}

class ProgramBaselineFile : public ::testing::Test {
protected:
    [[nodiscard]] Result<ProgramBaseline> readAs(const std::string& text) const {
        std::ofstream(file_, std::ios::binary) << text;
        return readProgramBaseline(file_);
    }
    const kernelskill::testing::TemporaryFolder folder_;
    const std::filesystem::path file_ = folder_.path() / "b.json";
};

TEST_F(ProgramBaselineFile, TimesAreReadAsTheyWereWritten) {
    const auto written = baseline();
    const auto read = readAs(programBaselineText(written));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(read->program, written.program);
    ASSERT_TRUE(read->times);
    EXPECT_EQ(read->times->gpu, written.times->gpu);
    ASSERT_EQ(read->times->runs.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
        ASSERT_EQ(read->times->runs[i].size(), written.times->runs[i].size());
        for (const auto& [kernel, launches] : written.times->runs[i]) {
            const KernelLaunches& again = read->times->runs[i].at(kernel);
            EXPECT_EQ(again.count, launches.count);
            EXPECT_NEAR(again.total, launches.total, 1e-3) << "a nanosecond";
            EXPECT_THAT(again.times,
                        ::testing::Pointwise(::testing::DoubleNear(1e-3), launches.times));
        }
    }
    EXPECT_FALSE(read->counts);
    EXPECT_EQ(programBaselineText(*read), programBaselineText(written));
}

TEST_F(ProgramBaselineFile, CountsAreThoseOfFiles) {
    CountedKernel kernel;
    kernel.file = "a.cu";
    kernel.kernel = "sums";
    kernel.problem = "captured, n=4";
    kernel.counts = {{metric::barriers, 3}};
    ProgramBaseline written{{{"./sums"}, ".", {}}, std::nullopt, Baseline{"0.9", "A100", {kernel}}};
    const auto read = readAs(programBaselineText(written));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_FALSE(read->times);
    ASSERT_TRUE(read->counts);
    EXPECT_EQ(read->counts->gpu, "A100");
    ASSERT_NE(read->counts->find("a.cu", "sums"), nullptr);
    EXPECT_EQ(read->counts->find("a.cu", "sums")->counts, kernel.counts);
}

TEST_F(ProgramBaselineFile, HasALineForEachKernel) {
    const std::string text = programBaselineText(baseline());
    for (const char* name : {"\"sums\"", "\"only::once\"", "\"often\""}) {
        const auto at = text.find(name);
        ASSERT_NE(at, std::string::npos);
        const auto begin = text.rfind('\n', at);
        const std::string line = text.substr(begin + 1, text.find('\n', at) - begin - 1);
        EXPECT_THAT(line, HasSubstr("\"runs\":[")) << "all of it is on this line";
    }
    EXPECT_LT(text.size(), 2000u) << "of 1000 launches 64 are kept";
}

TEST_F(ProgramBaselineFile, OddFilesAreErrors) {
    const auto missing = readProgramBaseline(file_);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::Missing);
    const json whole = json::parse(programBaselineText(baseline()));
    ASSERT_TRUE(readAs(whole.dump()));
    std::vector<std::string> texts{"",
                                   "[]",
                                   "{}",
                                   "null",
                                   std::string(100'000, '['),
                                   programBaselineText(baseline()).substr(0, 200)};
    const auto with = [&](const char* pointer, const json& value) {
        json changed = whole;
        changed[json::json_pointer(pointer)] = value;
        texts.push_back(changed.dump());
    };
    with("/format", "kernelskill-timeline");
    with("/version", 2);
    with("/program", 3);
    with("/program/command", "./sums");
    with("/program/command", json::array());
    with("/program/environment", json::array({"N"}));
    with("/program/environment/N", 4);
    with("/times", nullptr);
    with("/times/gpu/name", nullptr);
    with("/times/gpu/sm_mhz", "fast");
    with("/times/runs", 0);
    with("/times/runs", 4);
    with("/times/runs", 1e15);
    with("/times/kernels", json::array({3}));
    with("/times/kernels/0/runs", json::array());
    with("/times/kernels/0/runs/4/ns", json::array());
    with("/times/kernels/0/runs/4/ns/0", 0);
    with("/times/kernels/0/runs/4/ns/0", -5);
    with("/times/kernels/0/runs/4/ns/0", 9'000'000'000'000'000'000);
    with("/times/kernels/0/runs/4/ns/0", "5");
    with("/times/kernels/0/runs/4/total_ns", 0);
    with("/times/kernels/0/runs/4/launches", 2);
    with("/times/kernels/0/runs/4/launches", -1);
    with("/counts", json::object());
    with("/counts", {{"tool", ""}, {"gpu", "x"}, {"kernels", {3}}});
    for (const std::string& text : texts) {
        const auto read = readAs(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, ErrorKind::InvalidInput);
        EXPECT_THAT(read.error().remedy, HasSubstr("--update"));
    }
}

TEST_F(ProgramBaselineFile, IsToldFromThatOfFiles) {
    const auto read = readAs(baselineJson({"0.9", "A100", {}}).dump());
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().what, HasSubstr("that of files"));
    std::ofstream(file_) << programBaselineText(baseline());
    const auto other = readBaseline(file_);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(other.error().what, HasSubstr("that of a program"));
}

TEST(ProgramBaselines, AreOfOneCommand) {
    const BaselineProgram before{{"./sums", "64"}, "bench", {}};
    EXPECT_EQ(differenceBetween(before, before), "");
    EXPECT_EQ(differenceBetween(before, {{"./sums", "a b"}, "bench", {}}),
              "the baseline is of `./sums 64` in bench; this is `./sums 'a b'` in bench");
    EXPECT_THAT(differenceBetween(before, {{"./sums", "64"}, ".", {}}), HasSubstr("in ."));
    EXPECT_THAT(differenceBetween(before, {{"./sums", "64"}, "bench", {{"N", "4"}}}),
                HasSubstr("`N=4 ./sums 64`"));
}

TEST(TimesOfPrograms, AreComparedOnOneGpu) {
    const auto slower = compareTimes(timed(10), timed(12));
    EXPECT_EQ(slower.obstacle, "");
    EXPECT_THAT(slower.notes, IsEmpty());
    ASSERT_EQ(slower.changes.size(), 1u);
    EXPECT_EQ(slower.changes[0].change, TimeChange::Slower);
    EXPECT_EQ(compareTimes(timed(12), timed(10)).changes[0].change, TimeChange::Faster);
    EXPECT_EQ(compareTimes(timed(10), timed(10.05)).changes[0].change, TimeChange::Same);
}

TEST(TimesOfPrograms, AreNotComparedOnAnotherGpu) {
    auto other = timed(12);
    other.gpu.name = "NVIDIA A100";
    EXPECT_EQ(compareTimes(timed(10), other).obstacle,
              "the baseline is of NVIDIA H200; this is NVIDIA A100");
    auto unknown = timed(12);
    unknown.gpu = {};
    EXPECT_THAT(compareTimes(timed(10), unknown).obstacle, HasSubstr("a GPU that is not known"));
    EXPECT_NE(compareTimes(unknown, unknown).obstacle, "") << "they may be two";
}

TEST(TimesOfPrograms, AnotherDriverAndClockAreSaid) {
    auto now = timed(10);
    now.gpu.driver = "590.1";
    now.gpu.smMegahertz = 1200;
    const auto compared = compareTimes(timed(10), now);
    EXPECT_EQ(compared.obstacle, "");
    EXPECT_THAT(compared.notes, ElementsAre("the driver was 580.65.06; it is 590.1",
                                            HasSubstr("clock was 1980 MHz; it is 1200 MHz")));
    now = timed(10);
    now.gpu.smMegahertz = 1965;
    EXPECT_THAT(compareTimes(timed(10), now).notes, IsEmpty());
    now.gpu.smMegahertz = 0;
    EXPECT_THAT(compareTimes(timed(10), now).notes, IsEmpty()) << "it is not known";
}

} // namespace
} // namespace kernelskill::engine
