/// `kernelskill generate` as its users run it.
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

class GenerateCommand : public ::testing::Test {
protected:
    json runJson(std::vector<std::string> arguments, int status) {
        arguments.emplace_back("--json");
        const CommandResult result = runKernelskill(arguments, workspace.path());
        EXPECT_EQ(result.status, status) << result.errors;
        return json::parse(result.output, nullptr, false);
    }

    static std::string read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
    const std::string scale = "void scale(int n, float a, float* x) {\n"
                              "    for (int i = 0; i < n; i++)\n"
                              "        x[i] = a * x[i];\n"
                              "}\n";
    const std::string scan = "void scan(int n, float* x) {\n"
                             "    for (int i = 1; i < n; i++)\n"
                             "        x[i] += x[i - 1];\n"
                             "}\n";
};

TEST_F(GenerateCommand, VerifiesAndWritesOnlyWhenAsked) {
    const std::string file = workspace.write("t.cu", scale);
    const json document = runJson({"generate", file + ":2"}, 0);
    EXPECT_EQ(document.at("function"), "scale");
    EXPECT_EQ(document.at("kernel"), "scale_kernel");
    EXPECT_EQ(document.at("edits").size(), 1U);
    EXPECT_EQ(document.at("verdict").at("status"), "unmeasured");
    EXPECT_TRUE(document.at("verdict").at("speedup").is_null());
    for (const json& check : document.at("verdict").at("checks"))
        EXPECT_TRUE(check.at("passed").get<bool>()) << check;
    EXPECT_EQ(read(file), scale);
    runJson({"generate", file, "--write"}, 0);
    EXPECT_THAT(read(file), HasSubstr(scale + "\n// One thread for each i of scale.\n"));
    EXPECT_EQ(runJson({"check", file}, 0).at("kernels").at(0).at("name"), "scale_kernel");
}

TEST_F(GenerateCommand, SaysWhyThereIsNoKernel) {
    const std::string file = workspace.write("t.cu", scale + scan);
    const json document = runJson({"generate", file + ":6"}, 1);
    EXPECT_EQ(document.at("edits"), json::array());
    EXPECT_THAT(document.at("verdict").at("summary").get<std::string>(),
                HasSubstr("'x[i - 1]' on line 7 is not proved to stay clear"));
    EXPECT_EQ(read(file), scale + scan);
}

TEST_F(GenerateCommand, WantsToKnowWhichFunctionIsMeant) {
    const std::string file = workspace.write("t.cu", scale + scan + "void none() {}\n");
    const json error = runJson({"generate", file}, 2).at("error");
    EXPECT_THAT(error.dump(), HasSubstr("scale"));
    EXPECT_THAT(error.dump(), HasSubstr("scan"));
    runJson({"generate", file + ":9"}, 2);
    runJson({"generate", workspace.write("empty.cu", "void none() {}\n")}, 1);
}

} // namespace
} // namespace kernelskill::lsp::testing
