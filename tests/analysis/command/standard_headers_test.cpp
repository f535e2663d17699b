#include "analysis/command/standard_headers.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;

class StandardHeaders : public ::testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(data());
        fs::create_directories(system() / "usr" / "include");
    }
    [[nodiscard]] fs::path data() const { return folder_.path() / "data"; }
    [[nodiscard]] fs::path system() const { return folder_.path() / "system"; }

    static void putHeaders(const fs::path& root) {
        fs::create_directories(root / "usr" / "include" / "c++" / "12");
        std::ofstream(root / "usr" / "include" / "stdlib.h") << "\n";
    }

    kernelskill::testing::TemporaryFolder folder_;
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
