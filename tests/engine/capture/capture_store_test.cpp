#include "engine/capture/capture_store.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

std::string addData(const fs::path& folder, const std::string& text) {
    auto name = dataName(text.data(), text.size());
    write(folder / dataFolder / name, text);
    return name;
}

/// A launch of `symbol` with one buffer.
CapturedLaunch launchOf(const std::string& symbol, std::uint32_t ordinal, const fs::path& folder,
                        const std::string& before, const std::string& after) {
    CapturedLaunch launch;
    launch.symbol = symbol;
    launch.ordinal = ordinal;
    launch.program = "./a.out";
    CapturedParameter parameter{0, std::vector<std::byte>(8, std::byte{1}), CapturedBuffer{}};
    *parameter.buffer = {
        0x0101010101010101, before.size(), addData(folder, before), addData(folder, after), {}};
    launch.parameters = {parameter};
    return launch;
}

void add(const fs::path& folder, const CapturedLaunch& launch) {
    write(folder / manifestFolder / manifestName(launch.symbol, launch.ordinal),
          formatCapture(launch));
}

std::vector<std::string> launchesIn(const StoredCaptures& captures) {
    std::vector<std::string> launches;
    for (const auto& stored : captures.launches)
        launches.push_back(stored.kernel.qualifiedName + " " +
                           std::to_string(stored.launch.ordinal));
    return launches;
}

std::size_t filesIn(const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class CaptureStoreTest : public ::testing::Test {
protected:
    testing::TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path() / ".kernelskill" / "captures";
    fs::path incoming_ = folder_ / "incoming";
};

TEST_F(CaptureStoreTest, IsEmptyWithoutAFolder) {
    EXPECT_THAT(readCaptures(folder_).launches, IsEmpty());
    EXPECT_THAT(readCaptures(folder_).problems, IsEmpty());
    EXPECT_THAT(CaptureStore(folder_).captures()->launches, IsEmpty());
    EXPECT_THAT(capturesOf(nullptr)->launches, IsEmpty());
}

TEST_F(CaptureStoreTest, ReadsLaunchesInTheirOrderWithPathsOfTheirData) {
    add(folder_, launchOf("_Z1bPf", 10, folder_, "1234", "5678"));
    add(folder_, launchOf("_Z1bPf", 2, folder_, "1234", "5678"));
    add(folder_, launchOf("_Z1aPf", 1, folder_, "1234", "5678"));
    const auto captures = readCaptures(folder_);
    EXPECT_THAT(captures.problems, IsEmpty());
    EXPECT_THAT(launchesIn(captures), ElementsAre("a 1", "b 2", "b 10"));
    const auto& buffer = *captures.launches.front().launch.parameters.front().buffer;
    EXPECT_EQ(fs::path(buffer.before).parent_path(), folder_ / dataFolder);
    EXPECT_EQ(fs::file_size(buffer.after), 4u);
}

TEST_F(CaptureStoreTest, IgnoresWhatIsDamagedAndSaysSo) {
    add(folder_, launchOf("_Z1aPf", 1, folder_, "1234", "5678"));
    auto cut = launchOf("_Z1bPf", 1, folder_, "abcd", "5678");
    add(folder_, cut);
    fs::resize_file(folder_ / dataFolder / cut.parameters.front().buffer->before, 3);
    write(folder_ / manifestFolder / "foreign.json", "{}");
    write(folder_ / manifestFolder / "notes.txt", "not ours");
    write(folder_ / manifestFolder / "large.json", std::string(2 << 20, ' '));
    const auto captures = readCaptures(folder_);
    EXPECT_THAT(launchesIn(captures), ElementsAre("a 1"));
    ASSERT_THAT(captures.problems, SizeIs(3));
    std::string all;
    for (const auto& problem : captures.problems)
        all += problem.describe() + "\n";
    EXPECT_THAT(all, HasSubstr("truncated"));
    EXPECT_THAT(all, HasSubstr("foreign.json"));
    EXPECT_THAT(all, HasSubstr("too large"));
}

TEST_F(CaptureStoreTest, ReadsAgainWhenSomethingHasChanged) {
    const CaptureStore store(folder_);
    EXPECT_THAT(store.captures()->launches, IsEmpty());
    add(folder_, launchOf("_Z1aPf", 1, folder_, "1234", "5678"));
    const auto known = store.captures();
    EXPECT_THAT(launchesIn(*known), ElementsAre("a 1"));
    EXPECT_EQ(store.captures(), known);
    ASSERT_TRUE(clearCaptures(folder_));
    EXPECT_THAT(store.captures()->launches, IsEmpty());
}

TEST_F(CaptureStoreTest, PutsTheInstantiationFirstThatIsAskedAbout) {
    for (const char* symbol : {"_Z5scaleIdEvPT_", "_Z5scaleIfEvPT_", "_Z1aPf"})
        add(folder_, launchOf(symbol, 1, folder_, "1234", "5678"));
    const auto captures = CaptureStore(folder_, "_Z5scaleIfEvPT_").captures();
    ASSERT_THAT(captures->launches, SizeIs(3));
    EXPECT_EQ(captures->launches[0].launch.symbol, "_Z5scaleIfEvPT_");
    EXPECT_EQ(captures->launches[1].launch.symbol, "_Z1aPf");
    EXPECT_EQ(captures->launches[2].launch.symbol, "_Z5scaleIdEvPT_");
}

TEST_F(CaptureStoreTest, ReplacesAllLaunchesOfAKernelThatWasRecordedAgain) {
    for (const std::uint32_t ordinal : {1, 2})
        add(folder_, launchOf("_Z1aPf", ordinal, folder_, "old1", "old2"));
    add(folder_, launchOf("_Z1bPf", 1, folder_, "keep", "old2"));
    add(incoming_, launchOf("_Z1aPf", 1, incoming_, "new1", "keep"));
    const auto added = adoptCaptures(folder_, incoming_);
    ASSERT_TRUE(added) << added.error().describe();
    EXPECT_THAT(launchesIn(*added), ElementsAre("a 1"));
    const auto captures = readCaptures(folder_);
    EXPECT_THAT(captures.problems, IsEmpty());
    EXPECT_THAT(launchesIn(captures), ElementsAre("a 1", "b 1"));
    EXPECT_EQ(filesIn(folder_ / dataFolder), 3u) << "keep, old2 and new1, each once";
    EXPECT_FALSE(fs::exists(incoming_));
    const auto& buffer = *added->launches.front().launch.parameters.front().buffer;
    EXPECT_TRUE(fs::exists(buffer.before)) << buffer.before;
    EXPECT_TRUE(fs::exists(added->launches.front().manifest));
}

TEST_F(CaptureStoreTest, TakesNothingFromAProgramThatRecordedNothing) {
    add(folder_, launchOf("_Z1aPf", 1, folder_, "1234", "5678"));
    fs::create_directories(incoming_);
    const auto added = adoptCaptures(folder_, incoming_);
    ASSERT_TRUE(added) << added.error().describe();
    EXPECT_THAT(added->launches, IsEmpty());
    EXPECT_THAT(launchesIn(readCaptures(folder_)), ElementsAre("a 1"));
}

TEST_F(CaptureStoreTest, IsCleared) {
    add(folder_, launchOf("_Z1aPf", 1, folder_, "1234", "5678"));
    const auto count = clearCaptures(folder_);
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, 1u);
    EXPECT_FALSE(fs::exists(folder_));
    EXPECT_EQ(clearCaptures(folder_).value(), 0u);
}

} // namespace
} // namespace kernelskill::engine
