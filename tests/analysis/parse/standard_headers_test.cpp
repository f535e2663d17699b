#include "analysis/parse/standard_headers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;

class StandardHeaders : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "standard-headers-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        fs::create_directories(data());
        fs::create_directories(system() / "usr" / "include");
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] fs::path data() const { return folder_ / "data"; }
    [[nodiscard]] fs::path system() const { return folder_ / "system"; }

    static void putHeaders(const fs::path& root) {
        fs::create_directories(root / "usr" / "include" / "c++" / "12");
        std::ofstream(root / "usr" / "include" / "stdlib.h") << "\n";
    }

    fs::path folder_;
};

TEST_F(StandardHeaders, ComeFromTheSystemWhereItHasThem) {
    putHeaders(system());
    putHeaders(data() / "sysroot");
    EXPECT_FALSE(substituteSystemRoot(data(), system()));
}

TEST_F(StandardHeaders, ComeFromThePackageWhereTheSystemHasNone) {
    putHeaders(data() / "sysroot");
    EXPECT_EQ(substituteSystemRoot(data(), system()), data() / "sysroot");
}

TEST_F(StandardHeaders, OfCAloneAreNotEnough) {
    putHeaders(data() / "sysroot");
    std::ofstream(system() / "usr" / "include" / "stdlib.h") << "\n";
    EXPECT_EQ(substituteSystemRoot(data(), system()), data() / "sysroot");
}

TEST_F(StandardHeaders, AreNotPromisedWhereThePackageHasNone) {
    EXPECT_FALSE(substituteSystemRoot(data(), system()));
}

} // namespace
} // namespace kernelskill::analysis
