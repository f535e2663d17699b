#include "analysis/source/files.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

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

} // namespace
} // namespace kernelskill::analysis
