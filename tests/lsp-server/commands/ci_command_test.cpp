// kernelskill ci, against the real executable.
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Copies n floats; lane i reads element i * stride.
std::string copy(const std::string& index, const std::string& more = "") {
    return "__global__ void copy(float* out, const float* in, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) out[i] = in[" +
           index +
           "];\n}\n"
           "// kernelskill: launch copy<<<4, 256>>>(n=1024, in=rand[32768], out=zero[1024])\n" +
           more;
}

class CiCommand : public ::testing::Test {
protected:
    [[nodiscard]] CommandResult ci(std::vector<std::string> more) const {
        std::vector<std::string> words{"ci", "--baseline", "base.json"};
        words.insert(words.end(), more.begin(), more.end());
        return runKernelskill(words, workspace.path());
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream stream(workspace.path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    TemporaryWorkspace workspace;
};

TEST_F(CiCommand, ARegressionIsStatusOneAndReported) {
    workspace.write("a.cu", copy("i"));
    const auto first = ci({"a.cu", "--update"});
    ASSERT_EQ(first.status, 0) << first.errors;
    EXPECT_THAT(first.output, HasSubstr("1 kernel: 1 new"));
    const json baseline = json::parse(read("base.json"));
    EXPECT_EQ(baseline.at("kernels").at(0).at("file"), "a.cu");
    EXPECT_EQ(ci({}).status, 0);
    workspace.write("a.cu", copy("i * 32"));
    const auto worse = ci({"--junit", "out.xml", "--markdown", "out.md"});
    EXPECT_EQ(worse.status, 1);
    EXPECT_THAT(worse.output,
                AllOf(HasSubstr("worse"), HasSubstr("sectors loaded 128 -> 1024 (8x)")));
    EXPECT_THAT(read("out.xml"), HasSubstr("failures=\"1\""));
    EXPECT_THAT(read("out.md"), HasSubstr("| copy | a.cu | worse | sectors loaded 128 -> 1024"));
    EXPECT_EQ(json::parse(read("base.json")), baseline) << "only --update writes it";
    EXPECT_EQ(ci({"--update"}).status, 0);
    EXPECT_EQ(ci({"--json"}).status, 0);
    workspace.write("a.cu", copy("i"));
    EXPECT_THAT(ci({}).output, HasSubstr("1 kernel: 1 better"));
}

TEST_F(CiCommand, NewAndRemovedKernelsAreNamed) {
    workspace.write("a.cu", copy("i", "__global__ void old(int* x) { x[threadIdx.x] = 1; }\n"
                                      "// kernelskill: launch old<<<1, 32>>>(x=zero[32])\n"));
    ASSERT_EQ(ci({"a.cu", "--update"}).status, 0);
    workspace.write("a.cu", copy("i", "__global__ void fresh(int* x) { x[threadIdx.x] = 1; }\n"
                                      "// kernelskill: launch fresh<<<1, 32>>>(x=zero[32])\n"));
    const auto result = ci({"--json"});
    EXPECT_EQ(result.status, 0);
    const json kernels = json::parse(result.output).at("kernels");
    ASSERT_EQ(kernels.size(), 3U);
    EXPECT_EQ(kernels.at(1).at("kernel"), "fresh");
    EXPECT_EQ(kernels.at(1).at("status"), "new");
    EXPECT_EQ(kernels.at(2).at("kernel"), "old");
    EXPECT_EQ(kernels.at(2).at("status"), "removed");
}

TEST_F(CiCommand, AFileThatIsUpdatedAloneKeepsTheOthers) {
    workspace.write("a.cu", copy("i"));
    workspace.write("b.cu", copy("i"));
    ASSERT_EQ(ci({"a.cu", "b.cu", "--update"}).status, 0);
    workspace.write("b.cu", copy("i * 32"));
    EXPECT_EQ(ci({"a.cu"}).status, 0);
    EXPECT_EQ(ci({"b.cu", "--update"}).status, 0);
    EXPECT_EQ(json::parse(read("base.json")).at("kernels").size(), 2U);
    EXPECT_EQ(ci({}).status, 0);
}

TEST_F(CiCommand, WrongUseIsNamed) {
    workspace.write("a.cu", copy("i"));
    const auto missing = ci({"a.cu"});
    EXPECT_EQ(missing.status, 3);
    EXPECT_THAT(missing.errors, AllOf(HasSubstr("no such baseline"), HasSubstr("--update")));
    EXPECT_EQ(ci({"--update"}).status, 3);
    EXPECT_EQ(ci({"absent.cu", "--update"}).status, 2);
    EXPECT_FALSE(std::filesystem::exists(workspace.path("base.json")));
    EXPECT_EQ(runKernelskill({"ci", "a.cu"}).status, 2);
    workspace.write("base.json", "{}");
    EXPECT_EQ(ci({"a.cu"}).status, 2);
    EXPECT_EQ(ci({"a.cu", "--update"}).status, 0);
}

TEST_F(CiCommand, AKernelThatStopsRunningIsARegression) {
    workspace.write("a.cu", copy("i"));
    ASSERT_EQ(ci({"a.cu", "--update"}).status, 0);
    workspace.write("a.cu", copy("undeclared"));
    const auto broken = ci({});
    EXPECT_EQ(broken.status, 1);
    EXPECT_THAT(broken.output, HasSubstr("worse"));
}

} // namespace
} // namespace kernelskill::lsp::testing
