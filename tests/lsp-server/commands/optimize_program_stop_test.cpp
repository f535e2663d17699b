// Signals that end `kernelskill optimize -- ./program`.
#include "tests/lsp-server/commands/optimize_program_workspace.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Whether a process still runs after two seconds. A zombie does not.
bool staysAlive(const std::string& pid) {
    for (int i = 0; i < 100; ++i) {
        std::ifstream file("/proc/" + pid + "/stat");
        const std::string text(std::istreambuf_iterator<char>(file), {});
        const auto name = text.rfind(") ");
        if (name == std::string::npos || text[name + 2] == 'Z')
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

class OptimizeProgramStop : public OptimizeProgramWorkspace {};

TEST_F(OptimizeProgramStop, SignalsThatEndItLeaveNothingBehind) {
    // The signals of Ctrl-C, `kill` and a closed terminal come while it builds.
    for (const char* signal : {"INT", "TERM", "HUP"}) {
        const auto result =
            optimize({"--build", "sleep 100 & echo $! $$ > " + elsewhere.path("pids") + "; kill -" +
                                     signal + " $PPID; wait"});
        EXPECT_EQ(result.status, 1) << signal;
        EXPECT_THAT(result.errors, AllOf(HasSubstr("building the original"), HasSubstr("stopping")))
            << signal;
        std::istringstream pids(read(elsewhere.path("pids")));
        std::string sleep;
        std::string shell;
        ASSERT_TRUE(pids >> sleep >> shell) << signal;
        EXPECT_FALSE(staysAlive(sleep)) << signal;
        EXPECT_FALSE(staysAlive(shell)) << signal;
        expectNothingLeft();
    }
}

TEST_F(OptimizeProgramStop, HandsBackWhatWasFoundWhenASignalComesDuringATrial) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    std::string text = viewProgram;
    const auto insert = [&](const std::string& before, const std::string& what) {
        text.insert(text.find(before), what);
    };
    // The second kernel has half of the threads, and ends the search when an edit of it is tried.
    insert("int main() {", R"(__global__ void shift(const float* x, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = 1 + x[i];
}

)");
    insert("    cudaMemcpy(a.data(), dy", "    shift<<<256, 128>>>(dx, dy, 32768);\n");
    workspace.write("columns.cu", text);
    const std::string mark = elsewhere.path("pids");
    ::setenv("FAKE_MARK", mark.c_str(), 1);
    ::setenv("FAKE_EDITED", "_Z5shiftPKfPfi=terminates", 1);
    const auto result = optimize({"--json", "--write", "--build", build()}, "./columns", "auto");
    const auto end = fs::file_time_type::clock::now();
    ::unsetenv("FAKE_MARK");
    ::unsetenv("FAKE_EDITED");
    ASSERT_TRUE(fs::exists(mark)) << result.errors << result.output;
    EXPECT_LT(end - fs::last_write_time(mark), std::chrono::seconds(5));
    EXPECT_FALSE(staysAlive(read(mark))) << "the program that was held";
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors, HasSubstr("stopping"));
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output << result.errors;
    EXPECT_EQ(document.at("stopped"), true);
    EXPECT_EQ(document.at("written"), false);
    const auto& scale = document.at("kernels").at(0);
    EXPECT_EQ(scale.at("outcome"), "unchecked") << scale.dump(1);
    EXPECT_THAT(scale.at("why").get<std::string>(), HasSubstr("not built and checked"));
    EXPECT_GT(scale.at("search_speedup"), 1);
    EXPECT_EQ(document.at("kernels").at(1).at("outcome"), "nothing-better");
    EXPECT_EQ(document.at("kernels").at(1).at("stop"), "cancelled");
    EXPECT_THAT(document.at("diff").get<std::string>(),
                HasSubstr("-    scale<<<n / 128, 128>>>(View{dx, n}, dy, n);"));
    EXPECT_EQ(read(workspace.path("columns.cu")), text);
    expectNothingLeft();
}

TEST_F(OptimizeProgramStop, WritesNothingWhenASignalComesAmongEditsOfTheHostsCode) {
    const std::string text = fusibleProgram();
    workspace.write("columns.cu", text);
    // The signal comes while the program with the fused kernel is built.
    const auto result = optimize(
        {"--json", "--write", "--build",
         "if grep -q scaleAddBias columns.cu; then kill -INT $PPID; sleep 5; fi; " + build()});
    EXPECT_THAT(result.errors, HasSubstr("stopping"));
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output << result.errors;
    const auto& fused = document.at("host_edits").at(0);
    EXPECT_EQ(fused.at("outcome"), "not-tried") << fused.dump();
    EXPECT_THAT(fused.at("why").get<std::string>(), HasSubstr("stopped"));
    EXPECT_EQ(document.at("kernels").at(0).at("outcome"), "kept") << "it was judged before";
    EXPECT_EQ(document.at("stopped"), false);
    EXPECT_EQ(document.at("written"), false);
    EXPECT_THAT(result.errors, HasSubstr("nothing is written"));
    EXPECT_EQ(read(workspace.path("columns.cu")), text);
    expectNothingLeft();
}

TEST_F(OptimizeProgramStop, GoesOnAfterASignalThatIsIgnored) {
    // nohup ignores SIGHUP.
    ::signal(SIGHUP, SIG_IGN); // NOLINT(*-err33-c)
    const auto result = optimize({"--build", "kill -HUP $PPID; sleep 0.2; exit 7"});
    ::signal(SIGHUP, SIG_DFL); // NOLINT(*-err33-c)
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors,
                AllOf(HasSubstr("the build ended with status 7"), Not(HasSubstr("stopping"))));
}

} // namespace
} // namespace kernelskill::lsp::testing
