// What the command line reads from folders of other users, and from files that are none.
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Ownership : public ::testing::Test {
protected:
    Ownership() { ::setenv("XDG_STATE_HOME", state.path().c_str(), 1); }
    ~Ownership() override { ::unsetenv("XDG_STATE_HOME"); }

    TemporaryWorkspace workspace;
    TemporaryWorkspace state;
};

TEST_F(Ownership, FlagsAndSkillsOfAnotherUserAreNotUsed) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can give a file to another user";
    const std::string file = workspace.write(
        "a.cu",
        "#ifdef FOREIGN\n#error foreign\n#endif\n__global__ void k(int* x) { x[0] = 1; }\n");
    const std::string database = workspace.write(
        "compile_commands.json",
        R"([{"directory": ".", "file": "a.cu", "command": "nvcc -DFOREIGN -c a.cu"}])");
    const std::string skill = workspace.write(".kernelskill/skills/s/SKILL.md", "no skill");
    EXPECT_THAT(runKernelskill({"check", file}).output, HasSubstr("foreign"));
    const uid_t another = 12345;
    ASSERT_EQ(::chown(database.c_str(), another, another), 0);
    ASSERT_EQ(::chown(workspace.path(".kernelskill/skills").c_str(), another, another), 0);
    const CommandResult result = runKernelskill({"check", file});
    EXPECT_THAT(result.output, Not(HasSubstr("error foreign")));
    EXPECT_THAT(result.errors, HasSubstr(database + " belongs to another user"));
    EXPECT_THAT(result.errors, HasSubstr("its skills are not used"));
    ASSERT_EQ(runKernelskill({"trust", workspace.path()}).status, 0);
    EXPECT_THAT(runKernelskill({"check", file}).errors, Not(HasSubstr("another user")));
}

TEST_F(Ownership, AFlagThatIsLeftOutIsNamed) {
    const std::string marker = workspace.path("marker");
    const std::string evil = workspace.write("evil.sh", "#!/bin/sh\ntouch " + marker + "\n");
    ASSERT_EQ(::chmod(evil.c_str(), 0700), 0);
    const std::string file =
        workspace.write("a.cu", "__global__ void k(int* x) { x[threadIdx.x] = N; }\n"
                                "// kernelskill: launch k<<<1, 32>>>(x=zero[32])\n");
    workspace.write("compile_commands.json",
                    R"([{"directory": ".", "file": "a.cu", "arguments": [")" + evil +
                        R"(", "-ccbin", ")" + evil + R"(", "-DN=1", "-DX=`)" + evil +
                        R"(`", "-Xcompiler", "-B)" + evil + R"(", "-c", "a.cu"]}])");
    const CommandResult result = runKernelskill({"profile", file});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("note: " + workspace.path("compile_commands.json") +
                                         ": '-ccbin " + evil + "' is left out"));
    EXPECT_THAT(result.errors, HasSubstr("'-Xcompiler -B" + evil + "' is left out"));
    EXPECT_NE(::access(marker.c_str(), F_OK), 0) << "a program of the workspace was run";
}

TEST_F(Ownership, FilesThatHaveNoEndAreRefused) {
    const std::string pipe = workspace.path("pipe.cu");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& file : {std::string("/dev/zero"), pipe, std::string("/proc/self/mem"),
                                    std::string("/proc/self/environ")}) {
        const auto began = std::chrono::steady_clock::now();
        const CommandResult result = runKernelskill({"check", file});
        EXPECT_EQ(result.status, 2) << file;
        EXPECT_THAT(result.errors, HasSubstr(file));
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5)) << file;
    }
    const std::string includer =
        workspace.write("a.cu", "#include \"/dev/zero\"\n#include \"pipe.cu\"\n"
                                "__global__ void k(int* x) { x[0] = 1; }\n");
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(runKernelskill({"check", includer}).status, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
}

} // namespace
} // namespace kernelskill::lsp::testing
