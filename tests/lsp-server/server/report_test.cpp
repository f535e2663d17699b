// kernelskill/report and profile --report.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A kernel whose text would be markup, and one that is plain arithmetic.
const std::string hostile =
    "// </script><script>alert('1')</script>\n"
    "__global__ void axpy(int n, float a, const float* x, float* y) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n && \"</script><b>&amp;\"[0] == '<')\n"
    "        y[i] = a * x[i] + y[i]; // <img src=x onerror=alert(1)> & \"quoted\"\n"
    "}\n"
    "__global__ void fill(float* y) { y[threadIdx.x] = 1.0f; }\n"
    "// kernelskill: launch axpy<<<64, 256>>>(n=16384, a=2, x=rand[n], y=rand[n])\n"
    "// kernelskill: launch fill<<<1, 256>>>(y=zero[256])\n";

std::string readAll(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(ReportFile, IsOnePageOfAllKernels) {
    const TemporaryWorkspace workspace;
    const std::string file = workspace.write("a.cu", hostile);
    const std::string page = workspace.path("a.html");
    const auto run = runKernelskill({"profile", file, "--report", page});
    ASSERT_EQ(run.status, 0) << run.errors;
    const std::string html = readAll(page);
    EXPECT_THAT(html, AllOf(HasSubstr("axpy"), HasSubstr("fill"), HasSubstr("<svg"),
                            HasSubstr("axpy (model)"), HasSubstr("DRAM 4.8 TB/s, datasheet"),
                            HasSubstr("What was ruled out"), HasSubstr("kernelskill: launch")));
    EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img")),
                            Not(HasSubstr("http:")), Not(HasSubstr("https:"))));
    EXPECT_THAT(html, HasSubstr("y[i] = a * x[i] + y[i]; // &lt;img src=x onerror=alert(1)&gt; "
                                "&amp; &quot;quoted&quot;"));
    EXPECT_THAT(run.output, AllOf(HasSubstr("axpy"), HasSubstr("fill"), HasSubstr("at least ")));
}

TEST(ReportFile, CanBeOfOneKernelBesideItsJson) {
    const TemporaryWorkspace workspace;
    const std::string file = workspace.write("a.cu", hostile);
    const std::string page = workspace.path("a.html");
    const auto run =
        runKernelskill({"profile", file, "--kernel", "fill", "--json", "--report", page});
    ASSERT_EQ(run.status, 0) << run.errors;
    EXPECT_EQ(json::parse(run.output).at("kernel"), "fill");
    EXPECT_THAT(readAll(page), AllOf(HasSubstr("fill"), Not(HasSubstr("axpy (model)"))));
}

TEST(ReportFile, ThatCannotBeWrittenIsAnError) {
    const TemporaryWorkspace workspace;
    const std::string file = workspace.write("a.cu", hostile);
    const auto run = runKernelskill(
        {"profile", file, "--kernel", "fill", "--report", workspace.path("no/such/folder.html")});
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.errors, HasSubstr("folder.html"));
}

class ReportRequest : public ::testing::Test {
protected:
    ReportRequest() {
        client.initialize();
        client.open(uri, hostile);
    }
    json report(json params) {
        params["textDocument"] = {{"uri", uri}};
        return client.call("kernelskill/report", params, Milliseconds(60000));
    }
    TemporaryWorkspace workspace;
    LspClient client;
    const std::string uri = workspace.uri("a.cu");
};

TEST_F(ReportRequest, ProfilesWhatIsNotKnownYet) {
    const json answer = report(json::object()).at("result");
    EXPECT_EQ(answer.at("title"), "a.cu");
    const auto html = answer.at("html").get<std::string>();
    EXPECT_THAT(html, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("axpy"), HasSubstr("fill"),
                            Not(HasSubstr("<script"))));
}

TEST_F(ReportRequest, IsOfOneKernelWhereOneIsNamed) {
    const auto html = report({{"kernel", "fill"}}).at("result").at("html").get<std::string>();
    EXPECT_THAT(html, AllOf(HasSubstr("fill"), Not(HasSubstr("axpy (model)"))));
}

TEST_F(ReportRequest, NamesWhatItDoesNotUnderstand) {
    EXPECT_TRUE(report({{"kernel", "nope"}}).contains("error"));
    EXPECT_TRUE(report({{"on", "abacus"}}).contains("error"));
}

} // namespace
} // namespace kernelskill::lsp::testing
