#include "engine/review/host/host_order.h"
#include "tests/engine/review/host_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string open = "cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
                         "cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);\n";
const std::string close = "cudaGraph_t g; cudaStreamEndCapture(s, &g); cudaGraphExec_t e;\n"
                          "cudaGraphInstantiateWithFlags(&e, g, 0);\n";
const std::string end = "cudaStreamSynchronize(0); cudaGraphExecDestroy(e); cudaGraphDestroy(g); "
                        "cudaStreamDestroy(s);\n";

std::string loop(int rounds, const std::string& body) {
    return "for (int i = 0; i < " + std::to_string(rounds) + "; ++i) {\n" + body + "}\n";
}

/// The loop below with `captured` rounds in a graph that is launched `launched` times.
std::string replayed(int captured, int launched, const std::string& stream = "0") {
    return open + loop(captured, "step<<<n, 32, 0, s>>>(a, by, n); std::swap(a, b);\n") + close +
           loop(launched, "cudaGraphLaunch(e, " + stream + ");\n") + end;
}

const std::string plain = loop(12, "step<<<n, 32>>>(a, by, n); std::swap(a, b);\n");

TEST(HostOrder, HoldsForAGraphOfTheSameLaunches) {
    EXPECT_EQ(verdictOn(plain, replayed(4, 3)), "");
    EXPECT_EQ(verdictOn(plain + "use(a);\n", replayed(4, 3) + "use(a);\n"), "");
}

TEST(HostOrder, SeesOtherNumbersOfLaunches) {
    EXPECT_THAT(verdictOn(plain, replayed(4, 2)), HasSubstr("incorrect: step 9"));
    EXPECT_THAT(verdictOn(plain, replayed(4, 4)), HasSubstr("incorrect: step 13 was nothing more"));
}

TEST(HostOrder, SeesAnotherNumberOfRounds) {
    EXPECT_THAT(
        verdictOn(loop(2, "step<<<n, 32>>>(a, by, n);\n"), loop(3, "step<<<n, 32>>>(a, by, n);\n")),
        HasSubstr("incorrect: step 3 was nothing more"));
    EXPECT_THAT(verdictOn("if (n > 0)\nstep<<<n, 32>>>(a, by, n);\n",
                          "if (n > 32)\nstep<<<n, 32>>>(a, by, n);\n"),
                HasSubstr("incorrect: step 1"));
}

TEST(HostOrder, SeesPointersThatAreNotBackAfterTheGraph) {
    EXPECT_THAT(verdictOn(plain, replayed(3, 4)), HasSubstr("incorrect: step 4"));
}

TEST(HostOrder, SeesAnotherStream) {
    EXPECT_THAT(verdictOn(plain, replayed(4, 3, "s")),
                AllOf(HasSubstr("incorrect: what came before the function in the default stream "
                                "was over before in the default stream: step<<<"),
                      HasSubstr("and need not be any more")));
    EXPECT_THAT(verdictOn(plain, replayed(4, 3, "mine")), HasSubstr("need not be any more"));
}

TEST(HostOrder, SeesOtherConfigurationsAndArguments) {
    const std::string before = loop(2, "step<<<n, 32>>>(a, by, n);\n");
    EXPECT_EQ(verdictOn(before, "step<<<n, 32>>>(a, by, n); step<<<n, 32>>>(a, by, n);\n"), "");
    for (const char* other : {"step<<<n, 64>>>(a, by, n);", "step<<<n, 32>>>(a, by, n + 1);",
                              "step<<<n, 32>>>(b, by, n);", "step<<<n, 32>>>(a, by + by, n);"})
        EXPECT_THAT(verdictOn(before, std::string("step<<<n, 32>>>(a, by, n); ") + other + "\n"),
                    HasSubstr("incorrect: step 2"));
}

TEST(HostOrder, SeesAnArgumentThatTheRoundDecides) {
    EXPECT_THAT(verdictOn(loop(8, "step<<<n, 32>>>(a, by, i);\n"),
                          open + loop(4, "step<<<n, 32, 0, s>>>(a, by, i);\n") + close +
                              loop(2, "cudaGraphLaunch(e, 0);\n") + end),
                HasSubstr("incorrect: step 5"));
}

TEST(HostOrder, LetsAnEditWaitLongerButNotShorter) {
    const std::string work = "step<<<n, 32>>>(a, by, n);\n";
    EXPECT_EQ(verdictOn(work, work + "cudaDeviceSynchronize();\n"), "");
    EXPECT_THAT(verdictOn(work + "cudaDeviceSynchronize();\n", work),
                AllOf(HasSubstr("incorrect: in the default stream: step<<<"),
                      HasSubstr("was over before the return, and need not be any more")));
}

TEST(HostOrder, SeesHostWorkThatIsMovedOverALaunch) {
    const std::string launch = "step<<<n, 32>>>(a, by, n);\n";
    const std::string wait = "cudaDeviceSynchronize();\n";
    EXPECT_THAT(verdictOn(launch + "use(a);\n" + launch, "use(a);\n" + launch + launch + wait),
                HasSubstr("was asked for before use("));
    EXPECT_THAT(verdictOn(launch + "a[0] = 1;\n", "a[0] = 1;\n" + launch + wait),
                HasSubstr("incorrect: step 1"));
}

TEST(HostOrder, LetsAnEditAskAndSet) {
    const std::string work = "step<<<n, 32>>>(a, by, n);\n";
    EXPECT_EQ(
        verdictOn(work, "int device = 0; cudaGetDevice(&device);\ncudaFuncSetCacheConfig(step, "
                        "cudaFuncCachePreferL1);\n" +
                            work),
        "");
}

TEST(HostOrder, FollowsBothWaysOfWhatIsNotKnown) {
    const std::string launch = "step<<<n, 32>>>(a, by, n);\n";
    const auto choice = [&](const std::string& then) {
        return "if (other(n)) {\n" + launch + then + "}\n" + launch;
    };
    EXPECT_EQ(verdictOn(choice(""), choice("cudaDeviceSynchronize();\n")), "");
    EXPECT_THAT(verdictOn(choice(""), choice(launch)), HasSubstr("incorrect: step 4"));
}

TEST(HostOrder, RefusesCallsThatACaptureForbids) {
    EXPECT_THAT(verdictOn("step<<<n, 32>>>(a, by, n);\n",
                          open + "step<<<n, 32, 0, s>>>(a, by, n); cudaDeviceSynchronize();\n" +
                              close + "cudaGraphLaunch(e, 0);\n" + end),
                HasSubstr("invalid: "));
    EXPECT_THAT(
        verdictOn("step<<<n, 32>>>(a, by, n);\n",
                  open + "step<<<n, 32>>>(a, by, n);\n" + close + "cudaGraphLaunch(e, 0);\n" + end),
        HasSubstr("invalid: "));
}

TEST(HostOrder, RefusesWhatItCannotFollow) {
    const std::string unknown = "for (int i = 0; i < other(i); ++i) step<<<n, 32>>>(a, by, n);\n";
    EXPECT_THAT(verdictOn(unknown, unknown + "cudaDeviceSynchronize();\n"),
                HasSubstr("invalid, not about the edit: "));
    const std::string renamed = "float*& c = a; step<<<n, 32>>>(c, by, n);\n";
    EXPECT_THAT(verdictOn(renamed, renamed + "cudaDeviceSynchronize();\n"),
                HasSubstr("invalid, not about the edit: "));
}

TEST(HostOrder, IsNotAboutConfigurationsAndArguments) {
    EXPECT_FALSE(changesHostOrder(parsed("step<<<n, 32>>>(a, by, n);\n"),
                                  parsed("step<<<n / 2, 64>>>(a, by, n);\n")));
    // Either way it is launched once, and alike.
    EXPECT_FALSE(changesHostOrder(parsed("step<<<n, 32>>>(a, by, n);\n"),
                                  parsed("if (n == 5) step<<<n, 32>>>(a, by, n);\n"
                                         "else step<<<n, 32>>>(a, by, n);\n")));
    EXPECT_TRUE(changesHostOrder(parsed("step<<<n, 32>>>(a, by, n);\n"),
                                 parsed("if (n == 5) step<<<n, 32>>>(a, by, n);\n"
                                        "else step<<<n, 32>>>(b, by, n);\n")));
    EXPECT_TRUE(changesHostOrder(parsed("step<<<n, 32>>>(a, by, n);\n"),
                                 parsed("if (n == 5) step<<<n, 32>>>(a, by, n);\n")));
    EXPECT_TRUE(changesHostOrder(parsed("step<<<n, 32>>>(a, by, n);\n"),
                                 parsed(loop(2, "step<<<n, 32>>>(a, by, n);\n"))));
}

} // namespace
} // namespace kernelskill::engine
