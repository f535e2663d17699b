#include "analysis/source/files.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <sys/stat.h>

namespace kernelskill::analysis {
namespace {

class Files : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path written(const std::string& bytes) const {
        const auto path = folder_.path() / "file";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(Files, AreReadByteByByte) {
    const std::string bytes("a\r\n\0\xff\n", 6);
    EXPECT_EQ(readFile(written(bytes)), bytes);
}

TEST_F(Files, AnEmptyOneIsNotAMissingOne) {
    EXPECT_EQ(readFile(written("")), "");
    EXPECT_EQ(readFile(folder_.path() / "missing"), std::nullopt);
}

TEST_F(Files, AFolderIsNoFile) {
    EXPECT_EQ(readFile(folder_.path()), std::nullopt);
    EXPECT_FALSE(isFile(folder_.path()));
    EXPECT_TRUE(isFile(written("x")));
    EXPECT_FALSE(isFile(folder_.path() / "missing"));
}

TEST_F(Files, WhatMayHaveNoEndIsNotRead) {
    EXPECT_EQ(readFile("/dev/zero"), std::nullopt);
    EXPECT_EQ(readFile("/dev/urandom"), std::nullopt);
    EXPECT_EQ(unreadableReason("/dev/zero"), "not a regular file");
    const auto pipe = folder_.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(readFile(pipe), std::nullopt) << "and nobody waits for its writer";
    std::filesystem::create_symlink("/dev/zero", folder_.path() / "link");
    EXPECT_EQ(readFile(folder_.path() / "link"), std::nullopt);
    EXPECT_EQ(readFile("/proc/self/mem"), std::nullopt);
    EXPECT_EQ(readFile("/proc/self/environ"), std::nullopt);
    EXPECT_EQ(readFile("/sys/kernel/notes"), std::nullopt);
}

TEST_F(Files, OneThatIsTooLargeIsNotRead) {
    const auto path = written("12345678");
    EXPECT_EQ(readFile(path, 8), "12345678");
    EXPECT_EQ(readFile(path, 7), std::nullopt);
    std::filesystem::resize_file(path, maxFileBytes + 1);
    EXPECT_EQ(readFile(path), std::nullopt);
    EXPECT_EQ(unreadableReason(path), "larger than 64 MiB");
    EXPECT_EQ(unreadableReason(folder_.path() / "missing"), "no such file");
    EXPECT_EQ(unreadableReason(written("x")), "");
}

} // namespace
} // namespace kernelskill::analysis
