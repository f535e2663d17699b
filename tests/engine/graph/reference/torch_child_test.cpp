// Requests to a child that does not answer them end with errors.
#include "engine/graph/reference/torch_reference.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

namespace kernelskill::engine::graph {
namespace {

using ::testing::HasSubstr;

class TorchChildTest : public ::testing::Test {
protected:
    /// A child that does that.
    std::filesystem::path script(const std::string& text) {
        const auto file = folder_.path() / "child";
        std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        return file;
    }

    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(TorchChildTest, IsMissingWhereItWasNotBuilt) {
    for (const char* path : {"", "/nowhere/kernelskill-torch"}) {
        TorchReference reference{path};
        EXPECT_FALSE(reference.isBuilt());
        const auto version = reference.version({});
        ASSERT_FALSE(version);
        EXPECT_EQ(version.error().kind, ErrorKind::Missing);
        EXPECT_THAT(version.error().remedy, HasSubstr("libtorch-dev"));
    }
}

TEST_F(TorchChildTest, SaysWhatAChildSaidBeforeItDied) {
    TorchReference reference(script("echo 'libtorch.so: no such file' >&2; exit 1"));
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto version = reference.version({});
        ASSERT_FALSE(version);
        EXPECT_EQ(version.error().kind, ErrorKind::Failed);
        EXPECT_THAT(version.error().what, HasSubstr("ended without an answer"));
        EXPECT_THAT(version.error().where, HasSubstr("no such file"));
    }
}

TEST_F(TorchChildTest, RefusesAnAnswerToAnotherQuestion) {
    TorchReference reference(script("exec cat")); // sends the request back
    const auto version = reference.version({});
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().kind, ErrorKind::Internal);
}

TEST_F(TorchChildTest, IsCancelledAtOnce) {
    TorchReference reference(script("exec sleep 60"));
    std::stop_source stop;
    const std::jthread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto version = reference.version({}, stop.get_token());
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().kind, ErrorKind::Cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

} // namespace
} // namespace kernelskill::engine::graph
