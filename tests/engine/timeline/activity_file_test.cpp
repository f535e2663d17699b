#include "engine/timeline/activity_file.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace kernelskill::engine {
namespace {

class ActivityFileTest : public ::testing::Test {
protected:
    [[nodiscard]] Result<ActivityFile> read(const std::string& text) const {
        std::ofstream(path_, std::ios::binary) << text;
        return readActivities(path_);
    }
    static DeviceActivity kernel() {
        DeviceActivity activity;
        activity.name = "_Z5scalePf";
        activity.begin = 5;
        activity.end = 9;
        activity.device = 1;
        activity.context = 2;
        activity.stream = 7;
        activity.grid = {1, 2, 3};
        activity.block = {4, 5, 6};
        activity.registers = 40;
        activity.sharedBytes = 1536;
        return activity;
    }
    static DeviceActivity set() {
        DeviceActivity activity;
        activity.kind = ActivityKind::Set;
        activity.begin = 1;
        activity.end = 2;
        activity.bytes = 64;
        return activity;
    }

    kernelskill::testing::TemporaryFolder folder_;
    std::filesystem::path path_ = folder_.path() / "activities";
};

TEST_F(ActivityFileTest, ReadsWhatWasWrittenByTime) {
    const auto file = read(headLine() + lineOf(kernel()) + lineOf(set()) + droppedLine(3) +
                           droppedLine(2) + problemLine("no room"));
    ASSERT_TRUE(file) << file.error().describe();
    ASSERT_EQ(file->activities.size(), 2u);
    EXPECT_EQ(file->activities[0], set());
    EXPECT_EQ(file->activities[1], kernel());
    EXPECT_EQ(file->dropped, 5u);
    EXPECT_EQ(file->problem, "no room");
}

TEST_F(ActivityFileTest, TakesTheLinesOfSeveralProcesses) {
    const auto file = read(headLine() + lineOf(kernel()) + headLine() + lineOf(set()));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->activities.size(), 2u);
}

TEST_F(ActivityFileTest, LeavesOutALineThatWasCut) {
    const auto text = headLine() + lineOf(set()) + lineOf(kernel());
    const auto file = read(text.substr(0, text.size() - 5));
    ASSERT_TRUE(file) << file.error().describe();
    EXPECT_EQ(file->activities.size(), 1u);
}

TEST_F(ActivityFileTest, ABytesOfAnotherEncodingInANameAreNoError) {
    auto odd = kernel();
    odd.name = "\xff\xfe";
    const auto file = read(headLine() + lineOf(odd));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->activities.size(), 1u);
}

TEST_F(ActivityFileTest, SaysWhatIsNotATimeline) {
    const auto none = readActivities(folder_.path() / "nothing");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::Missing);
    EXPECT_FALSE(none.error().remedy.empty());
    EXPECT_EQ(read("").error().kind, ErrorKind::Missing);
    EXPECT_EQ(read("{\"kernelskill-timeline\": 99}\n").error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(read("hello\n").error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(read(lineOf(kernel())).error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(read(headLine() + "{\"kind\": \"else\"}\n").error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(read(headLine() + "[]\n").error().kind, ErrorKind::InvalidInput);
}

TEST_F(ActivityFileTest, DamageIsAnErrorOrAnotherTimelineButNoEnd) {
    const auto whole = headLine() + lineOf(kernel()) + lineOf(set());
    std::mt19937 random(7);
    for (int i = 0; i < 500; ++i) {
        auto damaged = whole;
        damaged[random() % damaged.size()] = static_cast<char>(random());
        static_cast<void>(read(damaged));
    }
}

} // namespace
} // namespace kernelskill::engine
