/// Edits that give work to other streams: right ones hold, and each way to get one wrong is seen.
#include "engine/review/host/host_order.h"
#include "tests/engine/review/host_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* buffers =
    "float *c, *d; cudaMalloc(&c, n * sizeof(float)); cudaMalloc(&d, n * sizeof(float));\n";
constexpr const char* make =
    "cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
    "cudaEvent_t go, done; cudaEventCreate(&go); cudaEventCreate(&done);\n";
constexpr const char* fork = "cudaEventRecord(go); cudaStreamWaitEvent(s, go, 0);\n";
constexpr const char* join = "cudaEventRecord(done, s); cudaStreamWaitEvent(0, done, 0);\n";
constexpr const char* end = "cudaEventDestroy(go); cudaEventDestroy(done); cudaStreamDestroy(s);\n";

std::string onDefault(const std::string& pointer) {
    return "step<<<n, 32>>>(" + pointer + ", by, n);\n";
}

std::string onOther(const std::string& pointer) {
    return "step<<<n, 32, 0, s>>>(" + pointer + ", by, n);\n";
}

const std::string oneByOne = buffers + onDefault("c") + onDefault("d");
/// The second launch beside the first.
const std::string sideBySide =
    std::string(buffers) + make + fork + onDefault("c") + onOther("d") + join + end;

std::string without(std::string text, const std::string& part) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.erase(at, part.size());
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), by);
}

TEST(StreamOrder, LetsIndependentLaunchesRunSideBySide) {
    EXPECT_EQ(verdictOn(oneByOne, sideBySide), "");
    EXPECT_THAT(detailOn(oneByOne, sideBySide),
                HasSubstr("run: 4 launches and calls as before, 1 of them in another stream, in "
                          "order where they may share memory, none of them run"));
    // One event serves both directions, and each launch has a stream of its own.
    EXPECT_EQ(
        verdictOn(oneByOne, replaced(replaced(sideBySide, "cudaEventRecord(done, s)",
                                              "cudaEventRecord(go, s)"),
                                     "cudaStreamWaitEvent(0, done", "cudaStreamWaitEvent(0, go")),
        "");
    EXPECT_EQ(verdictOn(oneByOne + "use(c);\n", sideBySide + "use(c);\n"), "");
}

TEST(StreamOrder, LetsTheHostJoinThem) {
    const std::string wait = "cudaDeviceSynchronize();\n";
    EXPECT_EQ(verdictOn(oneByOne + wait, std::string(buffers) + make + fork + onDefault("c") +
                                             onOther("d") + wait + end),
              "");
    EXPECT_EQ(verdictOn(oneByOne + wait, std::string(buffers) + make +
                                             "cudaDeviceSynchronize();\n" + onDefault("c") +
                                             onOther("d") + "cudaStreamSynchronize(s); " + wait +
                                             end),
              "");
}

TEST(StreamOrder, SeesThatNothingJoinsThem) {
    EXPECT_THAT(verdictOn(oneByOne, without(sideBySide, join)),
                AllOf(HasSubstr("incorrect: in the default stream: step<<<"),
                      HasSubstr("(allocation#1"),
                      HasSubstr("was over before what follows the "
                                "function in the default stream")));
    const std::string unjoined = std::string(buffers) + make + fork + onDefault("c") + onOther("d");
    EXPECT_THAT(verdictOn(oneByOne + "use(c);\n", unjoined + "use(c);\n" + join + end),
                HasSubstr("was over before use("));
    EXPECT_THAT(verdictOn(oneByOne, without(sideBySide, "cudaStreamWaitEvent(0, done, 0);")),
                HasSubstr("incorrect: "));
}

TEST(StreamOrder, SeesThatNothingHoldsTheNewStreamBack) {
    const std::string started =
        "incorrect: what came before the function in the default stream was "
        "over before in the default stream: step<<<";
    EXPECT_THAT(verdictOn(oneByOne, without(sideBySide, fork)), HasSubstr(started));
    EXPECT_THAT(verdictOn(oneByOne, without(sideBySide, "cudaStreamWaitEvent(s, go, 0);")),
                HasSubstr(started));
    // An event that is recorded too late orders nothing.
    EXPECT_THAT(
        verdictOn(oneByOne, replaced(sideBySide, fork,
                                     "cudaStreamWaitEvent(s, go, 0); cudaEventRecord(go);\n")),
        HasSubstr(started));
}

TEST(StreamOrder, SeesLaunchesThatShareABuffer) {
    EXPECT_THAT(
        verdictOn(buffers + onDefault("c") + onDefault("c"),
                  std::string(buffers) + make + fork + onDefault("c") + onOther("c") + join + end),
        HasSubstr("need not be any more"));
    const std::string chain = buffers + onDefault("c") + "add<<<n, 32>>>(c, d, n);\n";
    EXPECT_THAT(verdictOn(chain, std::string(buffers) + make + fork + onDefault("c") +
                                     "add<<<n, 32, 0, s>>>(c, d, n);\n" + join + end),
                HasSubstr("need not be any more"));
    // With an event in between it is right.
    EXPECT_EQ(verdictOn(chain, std::string(buffers) + make + onDefault("c") + fork +
                                   "add<<<n, 32, 0, s>>>(c, d, n);\n" + join + end),
              "");
}

TEST(StreamOrder, LetsLaunchesReadOneBuffer) {
    const std::string more = "float* e; cudaMalloc(&e, n * sizeof(float));\n";
    EXPECT_EQ(verdictOn(buffers + more + "add<<<n, 32>>>(c, d, n); add<<<n, 32>>>(c, e, n);\n",
                        buffers + more + make + fork +
                            "add<<<n, 32>>>(c, d, n); add<<<n, 32, 0, s>>>(c, e, n);\n" + join +
                            end),
              "");
}

TEST(StreamOrder, TakesPointersFromElsewhereForOneAndTheSame) {
    const auto pair = [](const char* x, const char* y) {
        return verdictOn(onDefault(x) + onDefault(y),
                         std::string(make) + fork + onDefault(x) + onOther(y) + join + end);
    };
    EXPECT_THAT(pair("a", "b"), HasSubstr("need not be any more"));
    EXPECT_THAT(pair("a", "p"), HasSubstr("need not be any more"));
    EXPECT_THAT(pair("p", "p + n"), HasSubstr("need not be any more"));
    EXPECT_EQ(pair("p", "q"), "");
    EXPECT_EQ(pair("p + n", "q + 1"), "");
}

TEST(StreamOrder, TakesKernelsThatDoMoreThanTheirPointersTellForOrdered) {
    for (const char* kernel : {"say", "keep"}) {
        const std::string second = std::string(kernel) + "<<<1, 32>>>(d);\n";
        const std::string moved = std::string(kernel) + "<<<1, 32, 0, s>>>(d);\n";
        EXPECT_THAT(
            verdictOn(buffers + onDefault("c") + second,
                      std::string(buffers) + make + fork + onDefault("c") + moved + join + end),
            HasSubstr("need not be any more"))
            << kernel;
    }
}

TEST(StreamOrder, SeesLaunchesThatAreDroppedOrExchanged) {
    EXPECT_THAT(verdictOn(oneByOne, without(sideBySide, onOther("d"))),
                HasSubstr("incorrect: step 4 was in the default stream: step<<<"));
    EXPECT_THAT(
        verdictOn(oneByOne, replaced(sideBySide, onOther("d"), onOther("d") + onOther("d"))),
        HasSubstr("incorrect: step 5 was nothing more"));
    const std::string chain = buffers + onDefault("c") + "add<<<n, 32>>>(c, d, n);\n";
    EXPECT_THAT(verdictOn(chain, std::string(buffers) + make + fork +
                                     "add<<<n, 32, 0, s>>>(c, d, n);\n" + join + onDefault("c") +
                                     end),
                HasSubstr("need not be any more"));
    // Which of two that share nothing comes first does not matter.
    EXPECT_EQ(verdictOn(oneByOne, std::string(buffers) + make + fork + onOther("d") +
                                      onDefault("c") + join + end),
              "");
}

TEST(StreamOrder, SeesAReadThatDoesNotWait) {
    const std::string managed =
        "float *c, *d; cudaMallocManaged(&c, 128); cudaMallocManaged(&d, 128);\n";
    const std::string before = managed + onDefault("c") + onDefault("d") +
                               "cudaDeviceSynchronize();\nfloat x = d[0];\nuse(&x);\n";
    const std::string start = managed + make + fork + onDefault("c") + onOther("d") + join;
    EXPECT_EQ(
        verdictOn(before, start + "cudaDeviceSynchronize();\nfloat x = d[0];\nuse(&x);\n" + end),
        "");
    EXPECT_THAT(
        verdictOn(before, start + "float x = d[0];\ncudaDeviceSynchronize();\nuse(&x);\n" + end),
        HasSubstr("was over before reads allocation#1[0]"));
    // Waiting for the wrong stream is not waiting.
    EXPECT_THAT(verdictOn(before, without(start, join) +
                                      "cudaStreamSynchronize(0);\nfloat x = d[0];\nuse(&x);\n" +
                                      join + end),
                HasSubstr("incorrect: "));
}

TEST(StreamOrder, KnowsWhatTheLegacyDefaultStreamOrders) {
    // A blocking stream waits for the default stream, and lets it wait; one per thread does not.
    const std::string blocking =
        replaced(std::string(make), "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)",
                 "cudaStreamCreate(&s)");
    EXPECT_THAT(
        verdictOn(oneByOne, std::string(buffers) + blocking + onDefault("c") + onOther("d") + end),
        HasSubstr("need not be any more"));
    EXPECT_EQ(verdictOn(oneByOne, std::string(buffers) + blocking + fork + onDefault("c") +
                                      onOther("d") + join + end),
              "");
    // Work in a blocking stream that the default stream waited for.
    const std::string before =
        std::string(buffers) + blocking + onOther("c") + onDefault("c") + end;
    EXPECT_THAT(verdictOn(before, std::string(buffers) + make + onOther("c") + onDefault("c") +
                                      end + "cudaDeviceSynchronize();\n"),
                HasSubstr("need not be any more"));
}

TEST(StreamOrder, FollowsAStreamFromElsewhereWhateverItIs) {
    const std::string before = buffers + std::string("step<<<n, 32, 0, mine>>>(c, by, n);\n"
                                                     "step<<<n, 32, 0, mine>>>(d, by, n);\n");
    const auto beside = [](const std::string& forked, const std::string& joined) {
        return std::string(buffers) + make + "cudaEventRecord(go, " + forked +
               "); cudaStreamWaitEvent(s, go, 0);\nstep<<<n, 32, 0, mine>>>(c, by, n);\n" +
               onOther("d") + "cudaEventRecord(done, s); cudaStreamWaitEvent(" + joined +
               ", done, 0);\n" + end;
    };
    EXPECT_EQ(verdictOn(before, beside("mine", "mine")), "");
    EXPECT_THAT(verdictOn(before, beside("0", "mine")), HasSubstr("incorrect: "));
    EXPECT_THAT(verdictOn(before, beside("mine", "0")), HasSubstr("incorrect: "));
}

TEST(StreamOrder, KeepsTimedWorkBetweenItsEvents) {
    const std::string timers =
        "cudaEvent_t from, to; cudaEventCreate(&from); cudaEventCreate(&to);\n";
    const std::string before = buffers + timers + "cudaEventRecord(from);\n" + onDefault("c") +
                               onDefault("d") + "cudaEventRecord(to);\n";
    const std::string start = buffers + timers + make + "cudaEventRecord(from);\n" + fork;
    const std::string work = onDefault("c") + onOther("d");
    EXPECT_EQ(verdictOn(before, start + work + join + "cudaEventRecord(to);\n" + end), "");
    EXPECT_THAT(verdictOn(before, start + work + "cudaEventRecord(to);\n" + join + end),
                HasSubstr("was over before in the default stream: cudaEventRecord"));
}

TEST(StreamOrder, FollowsCopiesInStreams) {
    const std::string copy = "cudaMemcpyAsync(c, d, n, cudaMemcpyDeviceToDevice";
    const std::string before = buffers + copy + ");\n" + onDefault("p");
    const std::string start = std::string(buffers) + make + fork;
    EXPECT_EQ(verdictOn(before, start + copy + ", s);\n" + onDefault("p") + join + end), "");
    EXPECT_THAT(verdictOn(buffers + copy + ");\n" + onDefault("d"),
                          start + copy + ", s);\n" + onDefault("d") + join + end),
                HasSubstr("need not be any more"));
    // A copy that the host waits for is a call like any other: nothing is moved over it.
    EXPECT_THAT(
        verdictOn(buffers + onDefault("d") + "cudaMemcpy(a, c, n, cudaMemcpyDeviceToHost);\n",
                  start + onOther("d") + "cudaMemcpy(a, c, n, cudaMemcpyDeviceToHost);\n" + join +
                      end),
        HasSubstr("incorrect: "));
}

TEST(StreamOrder, RefusesWhatItCannotFollow) {
    for (const char* stream : {"cudaStreamPerThread", "cudaStreamLegacy"}) {
        const std::string odd =
            buffers + std::string("step<<<n, 32, 0, ") + stream + ">>>(c, by, n);\n";
        EXPECT_THAT(verdictOn(odd, odd + onDefault("d")), HasSubstr("not about the edit: "))
            << stream;
    }
    EXPECT_THAT(verdictOn(oneByOne, without(sideBySide, "cudaEventCreate(&done);")),
                HasSubstr("invalid: the event comes from elsewhere"));
    EXPECT_THAT(verdictOn(oneByOne, replaced(sideBySide, join,
                                             std::string("cudaStreamDestroy(s);\n") + join)),
                HasSubstr("invalid: "));
}

} // namespace
} // namespace kernelskill::engine
