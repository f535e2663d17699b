/// Loops over parts of some data whose rounds are given to streams by turns: right edits hold, and
/// rounds that need each other are seen.
#include "engine/review/host/host_order.h"
#include "tests/engine/review/host_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

constexpr const char* buffers = "constexpr int part = 64;\nfloat *h, *d;\n"
                                "cudaMallocHost(&h, 8 * part * sizeof(float));\n"
                                "cudaMalloc(&d, 8 * part * sizeof(float));\n";
constexpr const char* make = "cudaStream_t streams[3];\ncudaEvent_t go, done;\n"
                             "for (int k = 0; k < 3; ++k)\n"
                             "    cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking);\n"
                             "cudaEventCreate(&go); cudaEventCreate(&done);\n";
constexpr const char* fork = "cudaEventRecord(go, mine);\n"
                             "for (int k = 0; k < 3; ++k)\n"
                             "    cudaStreamWaitEvent(streams[k], go, 0);\n";
constexpr const char* join = "for (int k = 0; k < 3; ++k) {\n"
                             "    cudaEventRecord(done, streams[k]);\n"
                             "    cudaStreamWaitEvent(mine, done, 0);\n}\n";
constexpr const char* end = "cudaEventDestroy(go); cudaEventDestroy(done);\n"
                            "for (int k = 0; k < 3; ++k)\n    cudaStreamDestroy(streams[k]);\n";

/// The statements of an iteration, and its stream.
struct Round {
    std::string host = "h + c * part";
    std::string device = "d + c * part";
    std::string bytes = "part * sizeof(float)";
    std::string count = "part";
    std::string blocks = "2";
};

std::string loop(const std::string& stream, const Round& round = {}) {
    return "for (int c = 0; c < 8; ++c) {\n"
           "    cudaMemcpyAsync(" +
           round.device + ", " + round.host + ", " + round.bytes + ", cudaMemcpyHostToDevice, " +
           stream + ");\n    slice<<<" + round.blocks + ", 32, 0, " + stream + ">>>(" +
           round.device + ", by, " + round.count + ");\n    cudaMemcpyAsync(" + round.host + ", " +
           round.device + ", " + round.bytes + ", cudaMemcpyDeviceToHost, " + stream + ");\n}\n";
}

std::string before(const Round& round = {}) {
    return buffers + loop("mine", round);
}

std::string after(const Round& round = {}, const std::string& stream = "streams[c % 3]") {
    return std::string(buffers) + make + fork + loop(stream, round) + join + end;
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), by);
}

std::string without(std::string text, const std::string& part) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.erase(at, part.size());
}

TEST(ChunkOrder, LetsRoundsOfDifferentPartsRunSideBySide) {
    EXPECT_EQ(verdictOn(before(), after()), "");
    EXPECT_THAT(detailOn(before(), after()), HasSubstr("24 of them in another stream"));
    // The address of an element, and a name for a part.
    const Round named{"&h[c * part]", "&d[c * part]"};
    EXPECT_EQ(verdictOn(before(named), after(named)), "");
    // There are more threads than elements; the kernel's own condition restrains them.
    const Round guarded{.blocks = "5"};
    EXPECT_EQ(verdictOn(before(guarded), after(guarded)), "");
}

TEST(ChunkOrder, KnowsAPointerAgainThatWasPassedByValue) {
    EXPECT_EQ(verdictOn(replaced(before(), "for (int c", "use(h);\nfor (int c"),
                        replaced(after(), "cudaStream_t", "use(h);\ncudaStream_t")),
              "");
    // A reference may refer to another variable.
    EXPECT_THAT(verdictOn(replaced(before(), "for (int c", "renew(h);\nfor (int c"),
                          replaced(after(), "cudaStream_t", "renew(h);\ncudaStream_t")),
                HasSubstr("need not be any more"));
}

TEST(ChunkOrder, SeesRoundsThatTouchTheSame) {
    const auto rounds = [](const Round& round) { return verdictOn(before(round), after(round)); };
    EXPECT_THAT(rounds({.device = "d"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.device = "d + c * (part - 1)"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.host = "h + c * (part - 1)"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.bytes = "(part + 1) * sizeof(float)"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.count = "part + 1", .blocks = "3"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.bytes = "other(n)"}), HasSubstr("need not be any more"));
}

TEST(ChunkOrder, TakesNoNumberOfAScenarioForTheOnlyOne) {
    const auto rounds = [](const Round& round) { return verdictOn(before(round), after(round)); };
    // Apart for the numbers that are tried, not for all.
    EXPECT_THAT(rounds({.device = "d + c * n"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.bytes = "n"}), HasSubstr("need not be any more"));
    EXPECT_THAT(rounds({.count = "n", .blocks = "n"}), HasSubstr("need not be any more"));
    const auto manyRounds = [](std::string text) {
        return text.replace(text.find("c < 8"), 5, "c < n");
    };
    EXPECT_THAT(verdictOn(manyRounds(before()), manyRounds(after())),
                HasSubstr("need not be any more"));
    const auto leaves = [](std::string text) {
        return text.replace(text.find("c < 8; ++c) {"), 13, "; ++c) {\nif (c >= n)\n    break;\n");
    };
    EXPECT_THAT(verdictOn(leaves(before()), leaves(after())), HasSubstr("need not be any more"));
    const std::string moved = "int first = 0;\nif (n > 5)\n    first = 1;\n";
    const Round shifted{.device = "d + (c + first * c) * part"};
    EXPECT_THAT(verdictOn(moved + before(shifted), moved + after(shifted)),
                HasSubstr("need not be any more"));
}

TEST(ChunkOrder, KnowsTheSmallerOfTwoNumbers) {
    const Round last{.bytes = "std::min(part, 500 - c * part) * sizeof(float)"};
    EXPECT_EQ(verdictOn(before(last), after(last)), "");
}

TEST(ChunkOrder, SeesStepsOfARoundInDifferentStreams) {
    EXPECT_THAT(verdictOn(before(), after({}, "streams[(c + k++) % 3]").insert(0, "int k = 0;\n")),
                HasSubstr("need not be any more"));
}

TEST(ChunkOrder, SeesThatTheStreamsAreNotForkedOrJoined) {
    EXPECT_THAT(verdictOn(before(), without(after(), fork)), HasSubstr("what came before"));
    EXPECT_THAT(verdictOn(before(), without(after(), join)), HasSubstr("what follows"));
    // There is one stream too few.
    const std::string two = "for (int k = 0; k < 2; ++k) {\n    cudaEventRecord(done";
    std::string some = after();
    some.replace(some.find("for (int k = 0; k < 3; ++k) {\n    cudaEventRecord(done"), two.size(),
                 two);
    EXPECT_THAT(verdictOn(before(), some), HasSubstr("what follows"));
}

TEST(ChunkOrder, SeesAHostThatReadsBeforeItWaits) {
    const std::string wait = "cudaStreamSynchronize(mine);\n";
    const std::string read = "float x = h[5];\nuse(&x);\n";
    const std::string unjoined = std::string(buffers) + make + fork + loop("streams[c % 3]");
    EXPECT_EQ(verdictOn(before() + wait + read, unjoined + join + wait + read + end), "");
    EXPECT_THAT(verdictOn(before() + wait + read, unjoined + wait + read + join + end),
                HasSubstr("was over before reads"));
}

TEST(ChunkOrder, RefusesStreamsThatItCannotTellApart) {
    EXPECT_THAT(verdictOn(before(), after({}, "streams[other(c)]")),
                HasSubstr("which stream of streams is meant is not known"));
    std::string renamed = after({}, "named[c % 3]");
    renamed.insert(renamed.find("for (int c"), "cudaStream_t* named = streams;\n");
    EXPECT_THAT(verdictOn(before(), renamed),
                HasSubstr("which stream of streams is meant is not known"));
    EXPECT_THAT(verdictOn(before(), after({}, "streams[c]")),
                HasSubstr("which stream of streams is meant is not known"));
}

} // namespace
} // namespace kernelskill::engine
