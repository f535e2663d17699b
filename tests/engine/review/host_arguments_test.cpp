/// Edits of host code that pass other data to the GPU are refused, those that pass the same are
/// not.
#include "engine/review/host/host_arguments.h"
#include "engine/review/host/host_steps.h"
#include "tests/engine/review/host_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <stop_token>
#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

/// The failure of checkHostArguments() for two bodies of a host function; "" if it holds.
std::string failureOf(const std::string& before, const std::string& after) {
    const analysis::FileModel& original = parsed(before);
    const analysis::FileModel& edited = parsed(after);
    EXPECT_TRUE(changesHostCode(original, edited));
    const CheckResult result = checkHostArguments(original, edited);
    return result ? "" : result.error().detail;
}

const std::string two =
    "cudaMemcpyAsync(b, a, n * sizeof(float), cudaMemcpyDeviceToDevice, mine);\n"
    "step<<<(n + 127) / 128, 128, 0, mine>>>(a, by, n);\n"
    "add<<<(n + 127) / 128, 128, 0, mine>>>(a, b, n);\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
}

TEST(HostArguments, AnotherPointer) {
    EXPECT_THAT(failureOf(two, with(two, "(a, b, n)", "(b, b, n)")), HasSubstr("add("));
    EXPECT_THAT(failureOf(two, with(two, "(a, by, n)", "(a + 1, by, n)")), HasSubstr("step("));
}

TEST(HostArguments, AnotherStream) {
    EXPECT_NE(failureOf(two, with(two, "0, mine>>>(a, b", "0>>>(a, b")), "");
}

TEST(HostArguments, AnotherCopy) {
    EXPECT_THAT(failureOf(two, with(two, "sizeof(float)", "sizeof(short)")),
                HasSubstr("cudaMemcpyAsync"));
    EXPECT_THAT(failureOf(two, with(two, "(b, a, n *", "(b, p, n *")),
                HasSubstr("cudaMemcpyAsync"));
}

TEST(HostArguments, TheSameInOtherWords) {
    EXPECT_EQ(failureOf(two, with(two, "n * sizeof(float)", "sizeof(float) * n")), "");
    EXPECT_EQ(failureOf(two, "const int blocks = (n + 127) / 128;\n" +
                                 with(two, "<<<(n + 127) / 128", "<<<blocks")),
              "");
}

TEST(HostArguments, AnotherBlock) {
    EXPECT_EQ(failureOf(two, with(two, "(n + 127) / 128, 128", "(n + 255) / 256, 256")), "");
    const std::string parts = "int blocks = (n + 127) / 128;\nfloat* part;\n"
                              "cudaMalloc(&part, blocks * sizeof(float));\n"
                              "add<<<blocks, 128, 0, mine>>>(a, part, n);\n"
                              "cudaMemcpyAsync(b, part, blocks * sizeof(float), "
                              "cudaMemcpyDeviceToDevice, mine);\n";
    EXPECT_EQ(failureOf(parts, with(with(parts, "(n + 127) / 128", "(n + 255) / 256"),
                                    "<<<blocks, 128", "<<<blocks, 256")),
              "")
        << "sizes follow the number of blocks";
}

TEST(HostArguments, ACallThatMakesTheGridFollowsIt) {
    const std::string made = "const int size = other(n);\n"
                             "add<<<gridOf(size), 128, 0, mine>>>(a, b, size);\n";
    EXPECT_EQ(failureOf(made, with(made, "gridOf(size)", "gridOf((size + 3) / 4)")), "");
    EXPECT_THAT(failureOf(made, with(made, "gridOf(size)", "gridOf(n)")), HasSubstr("gridOf"));
}

/// The processor time, which others do not lengthen, of following a loop with so many stores a
/// round.
std::clock_t timeToFollow(int stores) {
    // Each read of memory is told from the others by what came before it.
    std::string rounds = "for (int k = 0; k < n; ++k) {\n";
    for (int i = 0; i < stores; ++i)
        rounds += "b[" + std::to_string(i) + "] = b[k] * by;\n";
    rounds += "step<<<(n + 127) / 128, 128, 0, mine>>>(a, by, n);\n}\n";
    const analysis::FileModel& file = parsed(rounds);
    const std::clock_t begin = std::clock();
    const auto trace = traceHost(file, 0, {.firstInteger = 5'000, .choices = {}}, {});
    EXPECT_TRUE(trace) << trace.error().what;
    return std::clock() - begin;
}

TEST(HostArguments, TimeGrowsWithTheRoundsAndNotWithTheirSquare) {
    const std::clock_t quarter = timeToFollow(5);
    EXPECT_LT(timeToFollow(20), 8 * quarter); // The square would be 16 times the time.
}

TEST(HostArguments, StopsWhenItIsAsked) {
    std::stop_source stop;
    stop.request_stop();
    const auto trace = traceHost(parsed(two), 0, {}, stop.get_token());
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().kind, ErrorKind::Cancelled);
}

TEST(HostArguments, ACallElsewhere) {
    const std::string upload = "}\nvoid upload(float* to, const float* from, int count) {\n"
                               "cudaMemcpy(to, from, count * 4, cudaMemcpyHostToDevice);\n";
    EXPECT_THAT(failureOf(two + upload, two + with(upload, "count * 4", "count * 2")),
                HasSubstr("launches no kernel"));
}

} // namespace
} // namespace kernelskill::engine
