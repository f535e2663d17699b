// kernelskill.optimizeProgram, on a stand-in of driver and CUPTI; the emulator searches.
#include "tests/lsp-server/commands/fake_cuda_workspace.h"

#include <gmock/gmock.h>

#include <string>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Milliseconds patience{120000};

class OptimizeProgramRequest : public FakeCudaWorkspace {
protected:
    void start(json options = json::object()) {
        options["parse"]["cudaPath"] = elsewhere.path("toolkit");
        options["gpu"]["enabled"] = false; // The stand-in's driver has nothing to measure on.
        if (!options.contains("trusted"))
            options["trusted"] = true;
        json capabilities = editorCapabilities();
        capabilities["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = json::object();
        client.initialize({{"capabilities", capabilities},
                           {"rootUri", workspace.uri()},
                           {"initializationOptions", options}});
    }
    void writeProgram(const json& program) const {
        workspace.write("columns.cu", columnProgram);
        workspace.write(".kernelskill/programs.json", json({{"columns", program}}).dump());
    }
    void writeProgram() const {
        writeProgram({{"command", "./columns"}, {"build", buildOf("columns.cu", "columns")}});
    }
    json optimize(json argument = json::object()) {
        argument.emplace("kernel", "scale");
        argument.emplace("rounds", 1);
        argument.emplace("seconds", 20);
        return client.call("workspace/executeCommand",
                           {{"command", "kernelskill.optimizeProgram"}, {"arguments", {argument}}},
                           patience);
    }
    /// The edit that the client was asked to apply.
    json applied() const {
        for (const json& request : client.serverRequests)
            if (request.at("method") == "workspace/applyEdit")
                return request.at("params");
        return nullptr;
    }

    LspClient client;
    const std::string uri = workspace.uri("columns.cu");
};

TEST_F(OptimizeProgramRequest, EndsInOneEditThatIsShownBeforeItIsApplied) {
    writeProgram();
    start({{"preview", {{"optimize", true}}}});
    client.open(uri, columnProgram);
    const json answer = optimize();
    ASSERT_TRUE(answer.contains("result")) << answer;
    const json& result = answer.at("result");
    EXPECT_EQ(result.at("kernels").at(0).at("outcome"), "kept") << result;
    EXPECT_GT(result.at("kernels").at(0).at("median_microseconds"), 0);
    EXPECT_EQ(result.at("applied"), true);
    EXPECT_EQ(result.at("written"), false);
    const json edit = applied();
    EXPECT_EQ(edit.at("label"), "Optimize program 'columns'");
    const json& changed = edit.at("edit").at("documentChanges");
    ASSERT_EQ(changed.size(), 1u);
    EXPECT_EQ(changed.at(0).at("textDocument").at("uri"), uri);
    EXPECT_EQ(changed.at(0).at("textDocument").at("version"), 1);
    const json& annotation = edit.at("edit").at("changeAnnotations").at("kernelskill");
    EXPECT_EQ(annotation.at("needsConfirmation"), true);
    EXPECT_THAT(annotation.at("description").get<std::string>(),
                AllOf(HasSubstr("kernels of the program: "), HasSubstr("checked by its output")));
    EXPECT_EQ(read(workspace.path("columns.cu")), columnProgram) << "the editor writes";
}

TEST_F(OptimizeProgramRequest, EditsFilesThatNoEditorHasOpen) {
    writeProgram();
    start();
    EXPECT_EQ(optimize().at("result").at("applied"), true);
    const json changed = applied().at("edit").at("documentChanges");
    EXPECT_EQ(changed.at(0).at("textDocument").at("uri"), uri);
    EXPECT_TRUE(changed.at(0).at("textDocument").at("version").is_null());
}

TEST_F(OptimizeProgramRequest, WantsDocumentsSaved) {
    writeProgram();
    start();
    client.open(uri, "// new\n" + std::string(columnProgram));
    EXPECT_THAT(optimize().at("error").at("message").get<std::string>(),
                HasSubstr("save columns.cu first"));
}

TEST_F(OptimizeProgramRequest, AppliesNothingToATextThatHasChangedMeanwhile) {
    // The check changes the workspace's file while the program is optimised in its copies.
    writeProgram({{"command", "./columns"},
                  {"build", buildOf("columns.cu", "columns")},
                  {"check", "echo // >> '" + workspace.path("columns.cu") + "'"}});
    start();
    const json answer = optimize();
    ASSERT_TRUE(answer.contains("result")) << answer;
    EXPECT_EQ(answer.at("result").at("applied"), false);
    EXPECT_THAT(answer.at("result").at("diff").get<std::string>(), Not(IsEmpty()));
    EXPECT_THAT(
        client.notification("window/showMessage").at("params").at("message").get<std::string>(),
        HasSubstr("Nothing was applied, since columns.cu has changed"));
    EXPECT_TRUE(applied().is_null());
}

TEST_F(OptimizeProgramRequest, SaysWhatItLacks) {
    writeProgram({{"command", "./columns"}});
    start();
    EXPECT_THAT(optimize().at("error").at("message").get<std::string>(),
                AllOf(HasSubstr("it is not known how the program is built"),
                      HasSubstr("kernelskill.program")));
    EXPECT_THAT(optimize({{"name", "absent"}}).at("error").at("message").get<std::string>(),
                HasSubstr("absent"));
    EXPECT_TRUE(optimize({{"seconds", "many"}}).contains("error"));
}

TEST_F(OptimizeProgramRequest, RunsNothingOfAFolderThatIsNotTrusted) {
    writeProgram();
    start({{"trusted", false}});
    EXPECT_TRUE(optimize().contains("error"));
    EXPECT_FALSE(std::filesystem::exists(workspace.path("columns")));
}

TEST_F(OptimizeProgramRequest, AStopAppliesNothing) {
    writeProgram();
    start();
    const int id =
        client.sendRequest("workspace/executeCommand", {{"command", "kernelskill.optimizeProgram"},
                                                        {"arguments", {{{"seconds", 60}}}},
                                                        {"workDoneToken", "search"}});
    ASSERT_TRUE(client.waitFor([](const json& message) {
        return message.value("method", "") == "$/progress" &&
               message.at("params").at("token") == "search" &&
               message.dump().contains("round 1 of ");
    }));
    client.notify("window/workDoneProgress/cancel", {{"token", "search"}});
    const json answer = client.response(id, patience);
    ASSERT_TRUE(answer.contains("error")) << answer;
    EXPECT_EQ(answer.at("error").at("code"), -32800) << answer;
    EXPECT_TRUE(applied().is_null());
}

} // namespace
} // namespace kernelskill::lsp::testing
