// kernelskill/kernels: what an overview of a workspace is made of.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp::testing {
namespace {

class Kernels : public ::testing::Test {
protected:
    Kernels() { client.initialize({{"rootUri", workspace.uri()}}); }
    json ask(const std::string& uri) {
        return client.call("kernelskill/kernels", {{"textDocument", {{"uri", uri}}}});
    }

    TemporaryWorkspace workspace;
    LspClient client;
};

TEST_F(Kernels, OfAnOpenFileAreThoseOfItsTextInTheEditor) {
    workspace.write("sample.cu", "__global__ void onDisk() {}\n");
    const std::string uri = workspace.uri("sample.cu");
    client.open(uri, transpose);
    const json kernels = ask(uri).at("result");
    ASSERT_EQ(kernels.size(), 1u) << kernels;
    const json& kernel = kernels.at(0);
    EXPECT_EQ(kernel.at("name"), "transpose");
    EXPECT_EQ(kernel.at("bottleneck").at("kind"), "bank-conflicts");
    EXPECT_EQ(kernel.at("selectionRange").at("start"), placeOf(transpose, "transpose(float"));
    EXPECT_EQ(kernel.at("range").at("start").at("line"), 1);
    EXPECT_EQ(kernel.at("range").at("end").at("line"), 9);
    // Nothing was profiled, and nothing is for a question.
    EXPECT_TRUE(kernel.at("measured").is_null());
    EXPECT_TRUE(kernel.at("roofline").is_null());
}

TEST_F(Kernels, OfAClosedFileAreThoseOnTheDisk) {
    workspace.write("sample.cu", transpose);
    const json kernels = ask(workspace.uri("sample.cu")).at("result");
    ASSERT_EQ(kernels.size(), 1u) << kernels;
    EXPECT_EQ(kernels.at(0).at("name"), "transpose");
    EXPECT_EQ(kernels.at(0).at("bottleneck").at("kind"), "bank-conflicts");
}

TEST_F(Kernels, SayAfterAProfileTheLeastTimeAndTheMostToGain) {
    workspace.write("sample.cu", transpose);
    const std::string uri = workspace.uri("sample.cu");
    client.open(uri, transpose);
    const json profiled = client.call(
        "kernelskill/profile",
        {{"textDocument", {{"uri", uri}}}, {"kernel", "transpose"}, {"on", "emulator"}});
    ASSERT_TRUE(profiled.contains("result")) << profiled;
    const json kernel = ask(uri).at("result").at(0);
    EXPECT_TRUE(kernel.at("roofline").at("least_seconds").is_number());
    EXPECT_FALSE(kernel.at("roofline").contains("seconds"));
    EXPECT_TRUE(kernel.at("bottleneck").at("gain").at("at_most").is_number());
}

TEST_F(Kernels, OfAFileThatIsNotThereAreAnError) {
    const json answer = ask(workspace.uri("gone.cu"));
    ASSERT_TRUE(answer.contains("error")) << answer;
    EXPECT_THAT(answer.at("error").at("message").get<std::string>(),
                ::testing::HasSubstr("no such file"));
}

} // namespace
} // namespace kernelskill::lsp::testing
