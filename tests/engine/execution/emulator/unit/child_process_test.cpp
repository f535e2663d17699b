#include "engine/process/child_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace kernelskill::engine {
namespace {

using namespace std::chrono_literals;

TEST(ChildProcess, outputMessagesAndStatusAreKeptApart) {
    const auto result = runChild({"/bin/sh", {"-c", "cat; echo bad >&2; exit 3"}, "in", 10s}, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->output, "in");
    EXPECT_EQ(result->messages, "bad\n");
    EXPECT_EQ(result->status, 3);
}

TEST(ChildProcess, theParentsSecretsStayWithTheParent) {
    ::setenv("KERNELSKILL_TEST_SECRET", "hush", 1);
    const auto result = runChild({"/bin/sh", {"-c", "env"}, {}, 10s}, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->output.find("hush"), std::string::npos);
}

TEST(ChildProcess, foldersRelativeToTheWorkspaceAreNotSearched) {
    const char* before = std::getenv("PATH");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("PATH", (".:/bin::bin:" + kept).c_str(), 1);
    const auto result = runChild({"/bin/sh", {"-c", "echo $PATH"}, {}, 10s}, {});
    ::setenv("PATH", kept.c_str(), 1);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->output, "/bin:" + kept + "\n");
}

TEST(ChildProcess, anEndlessChildIsKilledWithItsChildren) {
    const auto result = runChild({"/bin/sh", {"-c", "sleep 100 & sleep 100"}, {}, 200ms}, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Failed);
}

TEST(ChildProcess, aStopRequestEndsTheWait) {
    std::stop_source source;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    });
    const auto result = runChild({"/bin/sh", {"-c", "sleep 100"}, {}, 60s}, source.get_token());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Cancelled);
}

TEST(ChildProcess, aProgramThatIsNotThereIsMissing) {
    const auto result = runChild({"/nonexistent/compiler", {}, {}, 1s}, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Missing);
}

TEST(ChildProcess, aChildThatReadsNothingDoesNotHurt) {
    const auto result = runChild({"/bin/true", {}, std::string(1 << 20, 'x'), 10s}, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 0);
}

} // namespace
} // namespace kernelskill::engine
