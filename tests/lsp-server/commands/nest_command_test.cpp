// `kernelskill nest`: what it prints, as text and as JSON, and what it refuses.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const twoKernels = "__global__ void scale(float* __restrict__ x, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i >= n) return;\n"
                               "    x[i] *= 2.0f;\n"
                               "}\n"
                               "\n"
                               "__global__ void sum(const float* x, float* y, int m, int n) {\n"
                               "    int i = threadIdx.x;\n"
                               "    float s = 0;\n"
                               "    for (int j = 0; j < n; ++j) s += x[i * n + j];\n"
                               "    y[i] = s;\n"
                               "}\n";

class NestCommand : public ::testing::Test {
protected:
    TemporaryWorkspace workspace;
    const std::string file = workspace.write("two.cu", twoKernels);
};

TEST_F(NestCommand, PrintsEveryKernelOfTheFile) {
    const CommandResult result = runKernelskill({"nest", file});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("kernel scale\n"));
    EXPECT_THAT(result.output, HasSubstr("   3  rest if globalIdx.x < n\n"
                                         "   4    x[i] *= 2.0f;\n"
                                         "            updates x[globalIdx.x]\n"));
    EXPECT_THAT(result.output, HasSubstr("  10  for j = 0 .. n - 1\n"));
    EXPECT_THAT(result.output, HasSubstr("reads x[threadIdx.x][j]\n"));
}

TEST_F(NestCommand, PrintsTheKernelAtALineOrOfAName) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"nest", file + ":9"}, {"nest", file, "--kernel", "sum"}}) {
        const CommandResult result = runKernelskill(arguments);
        ASSERT_EQ(result.status, 0) << result.errors;
        EXPECT_THAT(result.output, AllOf(HasSubstr("kernel sum"), Not(HasSubstr("kernel scale"))));
    }
}

TEST_F(NestCommand, PrintsDependences) {
    const CommandResult scale = runKernelskill({"nest", file + ":2", "--dependences"});
    EXPECT_THAT(scale.output, AllOf(HasSubstr("  between blocks: independent\n"),
                                    HasSubstr("  between threads of a block: independent\n")));
    const CommandResult sum = runKernelskill({"nest", file + ":9", "--dependences"});
    EXPECT_THAT(sum.output,
                HasSubstr("between threads of a block: independent if x, y do not overlap"));
    EXPECT_THAT(sum.output, HasSubstr("from round to round of j: dependent: s -> s"));
    EXPECT_THAT(sum.output, HasSubstr("(a reduction)"));
}

TEST_F(NestCommand, PrintsJson) {
    const CommandResult result = runKernelskill({"nest", file, "--dependences", "--json"});
    ASSERT_EQ(result.status, 0) << result.errors;
    const json document = json::parse(result.output);
    EXPECT_EQ(document.at("errors"), 0);
    ASSERT_EQ(document.at("kernels").size(), 2U);
    const json& sum = document.at("kernels").at(1);
    EXPECT_EQ(sum.at("line"), 7);
    EXPECT_EQ(sum.at("understood").at("opaque"), 0);
    EXPECT_EQ(sum.at("dependences").at("overlaps"), json::parse(R"([["x", "y"]])"));
    const json& loop = sum.at("nodes").at(1);
    EXPECT_EQ(loop.at("kind"), "loop");
    EXPECT_EQ(loop.at("end"), "n");
    const json& read = loop.at("nodes").at(0).at("accesses").at(0);
    EXPECT_EQ(read.at("form"), "affine");
    EXPECT_EQ(read.at("subscripts").at(1), json::parse(R"({"index": "j", "extent": "n"})"));
}

TEST_F(NestCommand, SaysThatErrorsAreNotUnderstood) {
    const std::string broken =
        workspace.write("broken.cu", "__global__ void k(float* x) { x[0] = nothing; }\n");
    const CommandResult result = runKernelskill({"nest", broken});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors, HasSubstr("the file has 1 error"));
}

TEST_F(NestCommand, RefusesWrongUsage) {
    EXPECT_EQ(runKernelskill({"nest"}).status, 2);
    EXPECT_EQ(runKernelskill({"nest", file, "--kernel", "absent"}).status, 2);
    EXPECT_EQ(runKernelskill({"nest", file + ":x"}).status, 2);
    EXPECT_EQ(runKernelskill({"nest", workspace.path("none.cu")}).status, 2);
    const std::string host = workspace.write("host.cu", "int f() { return 1; }\n");
    EXPECT_EQ(runKernelskill({"nest", host}).status, 1);
}

} // namespace
} // namespace kernelskill::lsp::testing
