// kernelskill.generateModel over the wire: progress, files, errors.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

class GenerateModelRequest : public ::testing::Test {
protected:
    GenerateModelRequest() {
        for (const std::string name : {"mlp.pt2", "conv.pt2"})
            std::filesystem::copy_file(std::string(paths::sourceFolder) +
                                           "/tests/engine/graph/programs/" + name,
                                       workspace.path(name));
        client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", workspace.uri()}});
    }
    json generate(json more) {
        json argument{{"uri", workspace.uri("mlp.pt2")}, {"folder", workspace.uri("model")}};
        argument.update(more);
        return client.call("workspace/executeCommand",
                           {{"command", "kernelskill.generateModel"},
                            {"arguments", json::array({std::move(argument)})}},
                           Milliseconds(120000));
    }

    TemporaryWorkspace workspace;
    LspClient client;
};

TEST_F(GenerateModelRequest, WritesAFolderAndSaysHowItWasChecked) {
    const json result = generate({{"precision", "tf32x3"}}).at("result");
    EXPECT_EQ(result.at("folder"), workspace.uri("model"));
    EXPECT_EQ(result.at("report"), workspace.uri("model") + "/report.html");
    EXPECT_NE(result.at("check").at("outcome"), "differs");
    for (const char* name : {"model.h", "kernels.h", "report.html", "model.json"})
        EXPECT_TRUE(std::filesystem::exists(workspace.path("model/" + std::string(name)))) << name;
}

TEST_F(GenerateModelRequest, LeavesConvolutionsToLibrariesInChannelsLastOrder) {
    const json result = generate({{"uri", workspace.uri("conv.pt2")},
                                  {"libraries", true},
                                  {"channelsLast", true},
                                  {"seconds", 0}});
    ASSERT_TRUE(result.contains("result")) << result;
    std::ifstream page(workspace.path("model/report.html"));
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    EXPECT_THAT(text, HasSubstr(", in channels-last order"));
}

TEST_F(GenerateModelRequest, AnswersWhatIsWrong) {
    const auto messageOf = [&](json more) {
        return generate(std::move(more)).at("error").at("message").get<std::string>();
    };
    EXPECT_THAT(messageOf({{"precision", "half"}}), HasSubstr("no precision has the name 'half'"));
    EXPECT_THAT(messageOf({{"libraries", true}, {"tolerance", "1e-3"}}),
                HasSubstr("no tolerance has the name '1e-3'"));
    EXPECT_THAT(messageOf({{"tolerance", "1e-4"}}), HasSubstr("chosen by measurement"));
    EXPECT_THAT(messageOf({{"channelsLast", true}}), HasSubstr("left to libraries"));
    EXPECT_THAT(messageOf({{"uri", workspace.uri("none.pt2")}}), HasSubstr("none.pt2"));
    workspace.write("note.pt2", "no archive");
    EXPECT_THAT(messageOf({{"uri", workspace.uri("note.pt2")}}), HasSubstr("note.pt2"));
    workspace.write("own/notes.txt", "the user's");
    EXPECT_THAT(messageOf({{"folder", workspace.uri("own")}}), HasSubstr("own"));
    EXPECT_TRUE(std::filesystem::exists(workspace.path("own/notes.txt")));
    EXPECT_FALSE(std::filesystem::exists(workspace.path("model")));
}

} // namespace
} // namespace kernelskill::lsp::testing
