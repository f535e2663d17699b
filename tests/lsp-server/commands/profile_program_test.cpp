// `kernelskill profile -- ./program`, on a stand-in of driver and CUPTI.
#include "tests/lsp-server/commands/fake_cuda_workspace.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <utility>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProfileProgram : public FakeCudaWorkspace {
protected:
    ProfileProgram() { ::setenv("TMPDIR", elsewhere.path().c_str(), 1); }
    ~ProfileProgram() override { ::unsetenv("TMPDIR"); }

    /// Two launches of `scale` of 10 us in all, copies and memsets of 2.5 us.
    void useFixedTimes() const { putCupti(paths::fakeCupti); }
    const std::string fixed = paths::fakeTimelineProgram;
};

TEST_F(ProfileProgram, ListsKernelsByTheirShareOfTheTime) {
    useFixedTimes();
    workspace.write("src/scale.cu", "\n__global__ void scale(float* x) { x[0] = 0; }\n");
    const auto result = run({"profile", "--no-details", "--", fixed, "hello"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("hello"), HasSubstr("80.0 %"), HasSubstr("5.00x"),
                      HasSubstr("scale(float*)  src/scale.cu:2"),
                      HasSubstr("GPU 0: kernels 10 µs, copies 2 µs (4.1 kB), memsets 500 ns, idle "
                                "2.5 µs of the 15 µs")));
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill")));
}

TEST_F(ProfileProgram, AFailedProgramHasItsTableAndItsStatus) {
    useFixedTimes();
    const auto text = run({"profile", "--no-details", "--", fixed, "hello", "3"});
    EXPECT_EQ(text.status, 0) << text.errors;
    EXPECT_THAT(text.output, AllOf(HasSubstr("scale(float*)"), HasSubstr("ended with status 3")));
    const auto result = run({"profile", "--no-details", "--json", "--", fixed, "hello", "3"});
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    EXPECT_EQ(document.at("status"), 3);
    EXPECT_EQ(document.at("program").at(1), "hello");
    const auto& kernel = document.at("kernels").at(0);
    EXPECT_EQ(kernel.at("launches"), 2);
    EXPECT_DOUBLE_EQ(kernel.at("share"), 0.8);
    EXPECT_NEAR(kernel.at("at_most"), 5, 1e-9);
    EXPECT_EQ(kernel.at("microseconds"), 10);
    EXPECT_EQ(kernel.at("median_microseconds"), 6);
    EXPECT_TRUE(kernel.at("file").is_null());
    EXPECT_TRUE(kernel.at("bottleneck").is_null());
    EXPECT_EQ(document.at("devices").at(0).at("idle_ns"), 2500);
}

TEST_F(ProfileProgram, AProgramThatASignalEndedIsNotRunAgain) {
    useFixedTimes();
    workspace.write("src/scale.cu", "__global__ void scale(float* x) { x[0] = 0; }\n");
    const auto failed = run({"profile", "--", fixed, "hello", "3"});
    EXPECT_THAT(failed.errors, HasSubstr("running the program again"));
    const auto stopped =
        run({"profile", "--", fixed, "hello", "130"}); // The shell's status after Ctrl-C.
    EXPECT_EQ(stopped.status, 0) << stopped.errors;
    EXPECT_THAT(stopped.output, AllOf(HasSubstr("scale(float*)"), HasSubstr("status 130")));
    EXPECT_THAT(stopped.errors, AllOf(Not(HasSubstr("running the program again")),
                                      HasSubstr("status 130, as by a signal")));
}

TEST_F(ProfileProgram, SignalsEndTheProgramAndLeaveNothingBehind) {
    for (const auto& [signal, status] : {std::pair("TERM", "143"), std::pair("HUP", "129")}) {
        const auto result = run({"profile", "--", "sh", "-c",
                                 std::string("kill -") + signal + " $PPID; exec sleep 100"});
        EXPECT_EQ(result.status, 3) << signal;
        EXPECT_THAT(result.errors, HasSubstr(std::string("ended with status ") + status));
        for (const auto& entry : std::filesystem::directory_iterator(elsewhere.path()))
            EXPECT_THAT(entry.path().filename().string(), AnyOf("toolkit", "data"));
    }
}

TEST_F(ProfileProgram, NamesWhatIsMissing) {
    useFixedTimes();
    EXPECT_THAT(run({"profile"}).errors, HasSubstr("no program to run"));
    EXPECT_EQ(run({"profile"}).status, 2);
    EXPECT_EQ(run({"profile", "--", "/nowhere/program"}).status, 3);
    const auto unused = run({"profile", "--", "/bin/false"});
    EXPECT_EQ(unused.status, 3);
    EXPECT_THAT(unused.errors, AllOf(HasSubstr("never started the CUDA driver"),
                                     HasSubstr("the program ended with status 1")));
    workspace.write("a.cu", "__global__ void a(float* x) { x[0] = 0; }\n");
    EXPECT_EQ(run({"profile", "a.cu", "--program", "small"}).status, 2);
    EXPECT_EQ(run({"profile", "--program", "small", "--", fixed}).status, 2);
    EXPECT_EQ(run({"profile", "--report", "x.html", "--", fixed}).status, 2);
    std::filesystem::create_directory_symlink(elsewhere.path(), workspace.path("out"));
    workspace.write(".kernelskill/programs.json",
                    json({{"away", {{"command", fixed}, {"folder", "out"}}}}).dump());
    const auto away = run({"profile", "--program", "away"});
    EXPECT_EQ(away.status, 2);
    EXPECT_THAT(away.errors, HasSubstr("outside of the workspace"));
    const auto other = run({"profile", "--kernel", "nobody", "--", fixed});
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.errors, HasSubstr("no kernel 'nobody'"));
}

TEST_F(ProfileProgram, SaysThatNoKernelRan) {
    workspace.write("idle.cu", "int main() { float* x; cudaMalloc(&x, 4); return 4; }\n");
    build("idle.cu", "idle");
    const auto result = run({"profile", "--", "./idle"});
    EXPECT_EQ(result.status, 1) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("no kernel ran; the program ended with status 4"));
}

TEST_F(ProfileProgram, ProfilesCapturedLaunchesOfHotKernels) {
    workspace.write("columns.cu", columnProgram);
    build("columns.cu", "columns");
    const auto result = run({"profile", "--json", "--on", "emulator", "--", "./columns"});
    ASSERT_EQ(result.status, 0) << result.errors;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    ASSERT_EQ(document.at("kernels").size(), 2u);
    const auto& hot = document.at("kernels").at(0);
    EXPECT_EQ(hot.at("file"), "columns.cu");
    EXPECT_EQ(hot.at("line"), 3);
    EXPECT_EQ(hot.at("bottleneck").at("kind"), hot.at("profile").at("bottleneck").at("kind"));
    EXPECT_EQ(hot.at("profile").at("launch").at("origin"), "captured");
    EXPECT_EQ(hot.at("profile").at("launch").at("grid"), json({512, 1, 1}));
    EXPECT_NEAR(hot.at("share"), 0.94, 0.01);
    EXPECT_GT(document.at("kernels").at(1).at("share"), 0.05);
    EXPECT_FALSE(document.at("kernels").at(1).at("profile").is_null());
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill")))
        << "captures of a profile are not kept";
    const auto one = run({"profile", "--kernel", "scale", "--", "./columns"});
    EXPECT_EQ(one.status, 0) << one.errors;
    EXPECT_THAT(one.errors, AllOf(HasSubstr("profiling scale"), Not(HasSubstr("columnSums"))));
}

TEST_F(ProfileProgram, BuildsAndRunsAProgramOfTheWorkspace) {
    workspace.write("src/columns.cu", columnProgram);
    workspace.write(".kernelskill/programs.json",
                    json({{"columns",
                           {{"command", "./columns"},
                            {"folder", "src"},
                            {"build", buildOf("columns.cu", "columns")}}},
                          {"broken", {{"command", "./columns"}, {"build", "false"}}}})
                        .dump());
    const auto result = run({"profile", "--program", "columns", "--no-details"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("total "), HasSubstr("src/columns.cu:4"), HasSubstr("94.1 %")));
    const auto broken = run({"profile", "--program", "broken"});
    EXPECT_EQ(broken.status, 1);
    EXPECT_THAT(broken.errors, HasSubstr("the build ended with status 1"));
}

} // namespace
} // namespace kernelskill::lsp::testing
