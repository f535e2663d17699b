#include "engine/graph/archive.h"
#include "tests/engine/graph/archive_writer.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sys/stat.h>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::writtenArchive;
using testing::WrittenEntry;

Result<Archive> read(const std::string& bytes) {
    auto kept = std::make_shared<std::string>(bytes);
    return Archive::read({std::as_bytes(std::span(*kept)), kept}, "test.zip");
}

std::string whyNot(const std::string& bytes) {
    const auto archive = read(bytes);
    EXPECT_FALSE(archive);
    if (archive)
        return {};
    EXPECT_EQ(archive.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(archive.error().where, HasSubstr("test.zip"));
    return archive.error().what;
}

TEST(Archive, GivesStoredAndDeflatedEntries) {
    const std::string large(100'000, 'a');
    auto archive = read(writtenArchive({{"a/b", "stored"}, {"c.json", large, true}}));
    ASSERT_TRUE(archive) << archive.error().describe();
    EXPECT_TRUE(archive->holds("a/b"));
    EXPECT_FALSE(archive->holds("b"));
    EXPECT_THAT(archive->entriesEndingWith("json"), ElementsAre("c.json"));
    EXPECT_EQ(textOf(*archive->data("a/b")), "stored");
    EXPECT_EQ(textOf(*archive->checkedData("a/b", 6)), "stored");
    EXPECT_EQ(textOf(*archive->data("c.json")), large);
    const auto missing = archive->data("nowhere");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().where, "test.zip, entry nowhere");
}

TEST(Archive, MapsStoredEntriesAndKeepsThem) {
    const kernelskill::testing::TemporaryFolder folder;
    const std::string path = (folder.path() / "a.zip").string();
    const std::string bytes = writtenArchive({{"weight_0", "0123456789"}});
    std::ofstream(path, std::ios::binary) << bytes;
    SharedBytes first;
    SharedBytes second;
    {
        auto archive = Archive::open(path);
        ASSERT_TRUE(archive) << archive.error().describe();
        first = *archive->data("weight_0");
        second = *archive->data("weight_0");
    }
    // One mapping, which outlives the archive and the name of the file.
    std::filesystem::remove(path);
    EXPECT_EQ(first.bytes.data(), second.bytes.data());
    EXPECT_EQ(textOf(first), "0123456789");
}

TEST(Archive, OpensRegularFilesOnly) {
    const kernelskill::testing::TemporaryFolder folder;
    const std::string pipe = (folder.path() / "pipe").string();
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::ofstream(folder.path() / "empty").flush();
    for (const std::string& path :
         {folder.path().string(), pipe, std::string("/dev/zero"),
          (folder.path() / "empty").string(), (folder.path() / "absent").string()}) {
        const auto archive = Archive::open(path);
        ASSERT_FALSE(archive) << path;
        EXPECT_EQ(archive.error().kind, ErrorKind::InvalidInput);
        EXPECT_EQ(archive.error().where, path);
    }
}

TEST(Archive, RefusesWhatItCannotTrust) {
    EXPECT_THAT(whyNot(""), HasSubstr("no zip archive"));
    EXPECT_THAT(whyNot(std::string(100'000, 'P')), HasSubstr("no zip archive"));
    EXPECT_THAT(whyNot(writtenArchive({{"a", "1"}, {"a", "2"}})), HasSubstr("two entries"));
    WrittenEntry entry{"a", "text"};
    entry.flags = 1;
    EXPECT_THAT(whyNot(writtenArchive({entry})), HasSubstr("encrypted"));
    entry = {"a", "text"};
    entry.method = 12;
    EXPECT_THAT(whyNot(writtenArchive({entry})), HasSubstr("another method"));
    entry = {"a", "text"};
    entry.claimedBytes = 5;
    EXPECT_THAT(whyNot(writtenArchive({entry})), HasSubstr("two sizes"));
    EXPECT_THAT(whyNot(writtenArchive({{std::string(5000, 'n'), "x"}})), HasSubstr("name"));
}

TEST(Archive, RefusesEntriesBeyondItsEnd) {
    std::string bytes = writtenArchive({{"a", "text"}});
    // The sizes in the local header and in the directory.
    for (const std::size_t at : {std::size_t{18}, bytes.find("PK\1\2") + 20})
        for (const std::size_t size : {at, at + 4})
            bytes.replace(size, 4, std::string("\xff\xff\0\0", 4));
    EXPECT_THAT(whyNot(bytes), HasSubstr("beyond the end"));
}

TEST(Archive, FindsDamageByChecksumAndSize) {
    WrittenEntry stored{"stored", "text"};
    stored.claimedChecksum = 1;
    WrittenEntry deflated{"deflated", "text", true};
    deflated.claimedBytes = 3;
    WrittenEntry tooLong{"long", "text", true};
    tooLong.claimedBytes = 5;
    auto archive = read(writtenArchive({stored, deflated, tooLong, {"sound", "1234"}}));
    ASSERT_TRUE(archive) << archive.error().describe();
    EXPECT_FALSE(archive->checkedData("stored", 100));
    EXPECT_TRUE(archive->data("stored")); // as for weights of 10 GB
    EXPECT_FALSE(archive->data("deflated"));
    EXPECT_FALSE(archive->data("long"));
    EXPECT_TRUE(archive->checkedData("sound", 4));
    EXPECT_FALSE(archive->checkedData("sound", 3));
}

TEST(Archive, InflatesNoBomb) {
    WrittenEntry lie{"lie", "text", true};
    lie.claimedBytes = 0x3fff'ffff; // a GiB, of a few bytes
    WrittenEntry huge{"huge", "text", true};
    huge.claimedBytes = 0xf000'0000;
    auto archive = read(writtenArchive({lie, huge}));
    ASSERT_TRUE(archive) << archive.error().describe();
    const auto first = archive->data("lie");
    ASSERT_FALSE(first);
    EXPECT_THAT(first.error().what, HasSubstr("claims more bytes"));
    const auto second = archive->data("huge");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().what, HasSubstr("1024 MiB"));
}

TEST(Archive, IsReadOrRefusedWhereverItIsCutOff) {
    const std::string bytes =
        writtenArchive({{"a", "stored"}, {"b", std::string(300, 'b'), true}, {"c", ""}});
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(read(bytes.substr(0, length))) << length;
    EXPECT_TRUE(read(bytes));
}

TEST(Archive, SaysThatNumbersAreBigEndian) {
    auto big = *read(writtenArchive({{"m/byteorder", "big"}}));
    EXPECT_FALSE(requireLittleEndian(big, "m/"));
    EXPECT_TRUE(requireLittleEndian(big, ""));
    auto little = *read(writtenArchive({{"m/byteorder", "little"}}));
    EXPECT_TRUE(requireLittleEndian(little, "m/"));
}

} // namespace
} // namespace kernelskill::engine::graph
