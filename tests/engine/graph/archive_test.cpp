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

void add(std::string& bytes, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        bytes += i < sizeof value ? static_cast<char>(value >> (8 * i)) : '\0';
}

/// A header of the directory, or a local one, of a stored entry of zip64 whose numbers are all in
/// its extra field.
std::string header64(const std::string& name, std::uint64_t size, std::uint64_t offset,
                     bool isLocal) {
    std::string bytes = isLocal ? "PK\3\4" : "PK\1\2";
    add(bytes, 45, isLocal ? 2 : 4);
    add(bytes, 0, 2 + 2 + 4 + 4);
    add(bytes, 0xffff'ffff'ffff'ffff, 4 + 4);
    add(bytes, name.size(), 2);
    add(bytes, isLocal ? 4 + 16 : 4 + 24, 2);
    if (!isLocal) {
        add(bytes, 0, 2 + 2 + 2 + 4);
        add(bytes, 0xffff'ffff, 4);
    }
    bytes += name;
    add(bytes, 1, 2);
    add(bytes, isLocal ? 16 : 24, 2);
    add(bytes, size, 8);
    add(bytes, size, 8);
    if (!isLocal)
        add(bytes, offset, 8);
    return bytes;
}

TEST(Archive, MapsAnEntryOfTenGigabytesWithoutReadingIt) {
    constexpr std::uint64_t size = 10'000'000'000;
    const std::string first = header64("w", size, 0, true);
    const std::uint64_t behind = first.size() + size;
    std::string tail = header64("v", 4, behind, true) + "text";
    const std::uint64_t directory = behind + tail.size();
    const std::string entries = header64("w", size, 0, false) + header64("v", 4, behind, false);
    tail += entries + "PK\6\6";
    add(tail, 44, 8);
    add(tail, 45, 2 + 2);
    add(tail, 0, 4 + 4);
    add(tail, 2, 8);
    add(tail, 2, 8);
    add(tail, entries.size(), 8);
    add(tail, directory, 8);
    tail += "PK\6\7";
    add(tail, 0, 4);
    add(tail, directory + entries.size(), 8);
    add(tail, 1, 4);
    tail += "PK\5\6";
    add(tail, 0, 4);
    add(tail, 0xffff'ffff'ffff'ffff, 2 + 2);
    add(tail, 0xffff'ffff'ffff'ffff, 4 + 4);
    add(tail, 0, 2);
    const kernelskill::testing::TemporaryFolder folder;
    const std::string path = (folder.path() / "large.pt2").string();
    {
        std::ofstream file(path, std::ios::binary); // sparse: it has no blocks between
        file << first;
        file.seekp(static_cast<std::streamoff>(behind));
        file << tail;
        ASSERT_TRUE(file);
    }
    auto archive = Archive::open(path);
    ASSERT_TRUE(archive) << archive.error().describe();
    const auto weight = archive->data("w");
    ASSERT_TRUE(weight) << weight.error().describe();
    EXPECT_EQ(weight->bytes.size(), size);
    EXPECT_EQ(weight->bytes.back(), std::byte{0});
    EXPECT_EQ(textOf(*archive->data("v")), "text");
    EXPECT_FALSE(archive->checkedData("w", 1 << 20));
    std::filesystem::resize_file(path, directory);
    EXPECT_FALSE(Archive::open(path));
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
