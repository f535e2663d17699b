// kernelskill.profileProgram, its lenses, and profiles of the program on save, on a stand-in of
// driver and CUPTI, where a launch takes 10 ns a thread.
#include "tests/lsp-server/commands/fake_cuda_workspace.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Milliseconds patience{60000};
/// Longer than the server waits for further saves.
constexpr Milliseconds quiet{1200};

class ProgramProfile : public FakeCudaWorkspace {
protected:
    void start(json options = json::object(), bool showsProfiles = true) {
        json capabilities = editorCapabilities();
        if (showsProfiles)
            capabilities["experimental"]["kernelskill"]["programProfiles"] = true;
        options["parse"]["cudaPath"] = elsewhere.path("toolkit");
        options["gpu"]["enabled"] = false; // The stand-in's driver has nothing to measure on.
        if (!options.contains("trusted"))
            options["trusted"] = true;
        client.initialize({{"capabilities", capabilities},
                           {"rootUri", workspace.uri()},
                           {"initializationOptions", options}});
    }
    /// One program, `columns`, with its build command.
    void writeProgram(const std::string& build = buildOf("columns.cu", "columns")) const {
        workspace.write("columns.cu", columnProgram);
        workspace.write(".kernelskill/programs.json",
                        json({{"columns", {{"command", "./columns"}, {"build", build}}}}).dump());
    }
    json execute(const std::string& command, const json& argument) {
        return client.call("workspace/executeCommand",
                           {{"command", command}, {"arguments", {argument}}}, patience);
    }
    json profile(json argument = json::object()) {
        argument.emplace("details", false);
        return execute("kernelskill.profileProgram", argument);
    }
    void open() {
        client.open(uri, columnProgram);
        (void)client.diagnostics(uri, 1);
    }
    /// The titles of lenses that need no request to be resolved.
    std::vector<std::string> lenses() {
        std::vector<std::string> titles;
        for (const json& lens :
             client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result"))
            if (lens.contains("command"))
                titles.push_back(lens.at("command").at("title"));
        return titles;
    }
    static std::string edited(const std::string& from, const std::string& to) {
        std::string text = columnProgram;
        return text.replace(text.find(from), from.size(), to);
    }
    /// As an editor saves the text.
    void save(const std::string& text, int version) {
        client.change(uri, version, json::array({{{"text", text}}}));
        workspace.write("columns.cu", text);
        client.notify("textDocument/didSave", {{"textDocument", {{"uri", uri}}}});
    }
    json profiled(Milliseconds timeout = patience) {
        const json message = client.notification("kernelskill/programProfiled", timeout);
        return message.is_null() ? message : message.at("params");
    }

    LspClient client;
    const std::string uri = workspace.uri("columns.cu");
};

TEST_F(ProgramProfile, ListsKernelsByTheirShareWithTheirPlaces) {
    writeProgram();
    start();
    const json answer = profile().at("result");
    EXPECT_EQ(answer.at("name"), "columns");
    EXPECT_EQ(answer.at("status"), 0);
    const json& hot = answer.at("kernels").at(0);
    EXPECT_EQ(hot.at("uri"), uri);
    EXPECT_EQ(hot.at("line"), 3);
    EXPECT_NEAR(hot.at("share").get<double>(), 0.94, 0.01);
    EXPECT_TRUE(hot.at("bottleneck").is_null());
    ASSERT_EQ(answer.at("table").size(), 3u);
    EXPECT_EQ(answer.at("table").at(0).at(0), "share");
    EXPECT_EQ(answer.at("table").at(1).at(0), "94.1 %");
    EXPECT_THAT(answer.at("lines").at(1).get<std::string>(), HasSubstr("columns.cu:4"));
    EXPECT_THAT(answer.at("devices").at(0).at("text").get<std::string>(), HasSubstr("idle"));
    EXPECT_THAT(answer.at("output").get<std::string>(), HasSubstr("total "));
    EXPECT_TRUE(answer.at("changes").is_null()) << "it is the first";
    EXPECT_TRUE(std::ranges::none_of(client.serverRequests, [](const json& request) {
        return request.at("method") == "window/showMessage";
    }));
}

TEST_F(ProgramProfile, DetailsAreOfCapturedLaunches) {
    writeProgram();
    start();
    const json answer = profile({{"details", true}, {"kernel", "scale"}}).at("result");
    EXPECT_TRUE(answer.at("kernels").at(0).at("profile").is_null()) << "it was not asked for";
    EXPECT_THAT(profile({{"kernel", "absent"}}).at("error").at("message").get<std::string>(),
                HasSubstr("no kernel 'absent'"));
    const json& scale = answer.at("kernels").at(1);
    ASSERT_FALSE(scale.at("profile").contains("error")) << scale;
    EXPECT_EQ(scale.at("profile").at("launch").at("origin"), "captured");
    EXPECT_EQ(scale.at("bottleneck").at("kind"), answer.at("table").at(2).at(6));
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill/captures")))
        << "captures of a profile are not kept";
}

TEST_F(ProgramProfile, LensesSayTheShareUntilTheKernelChanges) {
    writeProgram();
    start();
    open();
    EXPECT_THAT(lenses(), ElementsAre());
    profile();
    const auto refreshed = client.waitFor([](const json& message) {
        return message.value("method", "") == "workspace/codeLens/refresh";
    });
    EXPECT_TRUE(refreshed);
    EXPECT_THAT(lenses(), ElementsAre("94 % of GPU time, 655 µs in columns",
                                      "5.9 % of GPU time, 41 µs in columns"));
    std::vector<std::string> titles;
    for (const json& lens :
         client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result"))
        titles.push_back(
            client.call("codeLens/resolve", lens).at("result").at("command").at("title"));
    EXPECT_THAT(titles.at(1), Not(HasSubstr(" ")))
        << "beside a share the bottleneck has its name alone";
    const auto kernels = [&] {
        return client.call("kernelskill/kernels", {{"textDocument", {{"uri", uri}}}}).at("result");
    };
    EXPECT_EQ(kernels().at(1).at("program").at("name"), "columns");
    EXPECT_NEAR(kernels().at(1).at("program").at("microseconds"), 40.96, 1e-9);
    client.change(uri, 2, json::array({{{"text", edited("y[i] = 2 *", "y[i] = 3 *")}}}));
    EXPECT_TRUE(kernels().at(1).at("program").is_null());
    EXPECT_THAT(lenses(), ElementsAre("94 % of GPU time, 655 µs in columns"));
    client.change(uri, 3, json::array({{{"text", "// new\n" + std::string(columnProgram)}}}));
    EXPECT_EQ(lenses().size(), 2u) << "a comment changes no kernel";
    const json all =
        client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result");
    const auto lens =
        std::ranges::find_if(all, [](const json& each) { return each.contains("command"); });
    ASSERT_NE(lens, all.end());
    EXPECT_EQ(client.call("codeLens/resolve", *lens).at("result"), *lens);
    const json& command = lens->at("command");
    const json shown = execute(command.at("command"), command.at("arguments").at(0));
    EXPECT_EQ(shown.at("result").at("kernels").at(0).at("line"), 3);
}

TEST_F(ProgramProfile, AProfileIsComparedWithTheOneBefore) {
    writeProgram();
    start();
    EXPECT_TRUE(
        execute("kernelskill.showProgramProfile", {{"name", "columns"}}).at("result").is_null());
    profile();
    workspace.write("columns.cu", edited("scale<<<32, 128>>>", "scale<<<16, 128>>>"));
    const json changes = profile().at("result").at("changes");
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes.at(1).at("kernel"), "scale");
    EXPECT_EQ(changes.at(1).at("status"), "unsure") << "one launch proves nothing";
    EXPECT_NEAR(changes.at(1).at("speedup").get<double>(), 2, 1e-9);
}

TEST_F(ProgramProfile, AClientWithoutAViewGetsTheTableAsAMessage) {
    writeProgram();
    start(json::object(), false);
    profile();
    EXPECT_THAT(
        client.notification("window/showMessage").at("params").at("message").get<std::string>(),
        AllOf(HasSubstr("94.1 %"), HasSubstr("columns.cu:4"), HasSubstr("GPU 0: kernels")));
}

TEST_F(ProgramProfile, FailuresAreToldWithTheirReason) {
    workspace.write("columns.cu", columnProgram);
    workspace.write(".kernelskill/programs.json",
                    json({{"broken",
                           {{"command", "./columns"},
                            {"build", "echo 'columns.cu(4): error: expected ;' >&2; exit 2"}}},
                          {"idle", {{"command", "/bin/false"}}}})
                        .dump());
    start();
    EXPECT_THAT(profile({{"name", "broken"}}).at("error").at("message").get<std::string>(),
                AllOf(HasSubstr("the build ended with status 2"),
                      HasSubstr("Its output ends:\ncolumns.cu(4): error: expected ;")));
    const json idle = profile({{"name", "idle"}}).at("error");
    EXPECT_THAT(idle.at("message").get<std::string>(),
                AllOf(HasSubstr("never started the CUDA driver"), HasSubstr("status 1")));
    EXPECT_EQ(idle.at("data").at("remedies").at(0).at("client"), "doctor");
    EXPECT_THAT(profile().at("error").at("message").get<std::string>(),
                HasSubstr("there are several programs"));
    EXPECT_EQ(profile({{"build", "yes"}}).at("error").at("code"), -32602);
}

TEST_F(ProgramProfile, NothingIsBuiltOrRunWithoutTrust) {
    writeProgram("touch built");
    start({{"trusted", false}});
    EXPECT_THAT(profile().at("error").at("message").get<std::string>(),
                HasSubstr("is not trusted"));
    EXPECT_FALSE(std::filesystem::exists(workspace.path("built")));
}

TEST_F(ProgramProfile, ItIsCancelled) {
    writeProgram("touch begun; sleep 1000");
    start();
    const int id =
        client.sendRequest("workspace/executeCommand", {{"command", "kernelskill.profileProgram"},
                                                        {"arguments", {json::object()}}});
    for (int i = 0; i < 200 && !std::filesystem::exists(workspace.path("begun")); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client.notify("$/cancelRequest", {{"id", id}});
    EXPECT_TRUE(client.response(id).contains("error"));
}

class ProgramOnSave : public ProgramProfile {
protected:
    void startWanted() { start({{"profile", {{"programOnSave", true}}}}); }
};

TEST_F(ProgramOnSave, ASaveSaysWhatBecameFaster) {
    writeProgram();
    startWanted();
    open();
    save(edited("scale<<<32, 128>>>", "scale<<<64, 128>>>"), 2);
    const json first = profiled();
    EXPECT_EQ(first.value("on_save", false), true);
    EXPECT_TRUE(first.at("changes").is_null());
    EXPECT_THAT(lenses(), Contains(HasSubstr("in columns")));
    save(edited("scale<<<32, 128>>>", "scale<<<16, 128>>>"), 3);
    const json changes = profiled().at("changes");
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes.at(0).at("status"), "same");
    EXPECT_EQ(changes.at(1).at("text"), "scale: 4.00 times as fast, 81.9 µs to 20.5 µs");
}

TEST_F(ProgramOnSave, OnlyNewCodeIsRun) {
    writeProgram();
    startWanted();
    open();
    save(columnProgram, 2);
    EXPECT_TRUE(profiled(quiet).is_null()) << "nothing was changed since it was opened";
    save("// new\n" + std::string(columnProgram), 3);
    EXPECT_TRUE(profiled(quiet).is_null()) << "a comment is no code";
    save(edited("2 * x", "3 * x"), 4);
    EXPECT_FALSE(profiled().is_null());
    save(edited("2 * x", "3 * x") + "// more", 5);
    EXPECT_TRUE(profiled(quiet).is_null());
}

TEST_F(ProgramOnSave, TheNewestSaveWins) {
    writeProgram("if grep -q '9 [*] x' columns.cu; then touch begun; sleep 1000; fi; " +
                 buildOf("columns.cu", "columns"));
    startWanted();
    open();
    save(edited("2 * x", "9 * x"), 2);
    for (int i = 0; i < 200 && !std::filesystem::exists(workspace.path("begun")); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(std::filesystem::exists(workspace.path("begun")));
    save(edited("2 * x", "4 * x"), 3);
    EXPECT_FALSE(profiled().is_null());
    EXPECT_TRUE(profiled(quiet).is_null()) << "the first one was given up";
}

TEST_F(ProgramOnSave, TheUsersOwnProfileEndsIt) {
    writeProgram("if grep -q '9 [*] x' columns.cu; then echo $$ > building; sleep 1000; fi; " +
                 buildOf("columns.cu", "columns"));
    startWanted();
    open();
    profile();
    save(edited("2 * x", "9 * x"), 2);
    const std::string file = workspace.path("building");
    for (int i = 0; i < 200 && read(file).empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const pid_t builder = std::stoi(read(file));
    EXPECT_EQ(profile({{"build", false}}).at("result").at("name"), "columns");
    for (int i = 0; i < 100 && ::kill(builder, 0) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_NE(::kill(builder, 0), 0) << "the build goes on";
}

TEST_F(ProgramOnSave, AFailureIsToldOnceAndTriedAgain) {
    writeProgram("if grep -q '9 [*] x' columns.cu; then exit 7; fi; " +
                 buildOf("columns.cu", "columns"));
    startWanted();
    open();
    save(edited("2 * x", "9 * x"), 2);
    const auto told = [&](Milliseconds timeout) {
        const json message = client.notification("window/showMessage", timeout);
        return message.is_null() ? std::string()
                                 : message.at("params").at("message").get<std::string>();
    };
    EXPECT_THAT(told(patience), HasSubstr("the build ended with status 7"));
    save(edited("2 * x", "9 * x"), 3);
    EXPECT_EQ(told(quiet), "") << "once is enough";
    save(columnProgram, 4);
    EXPECT_FALSE(profiled().is_null());
}

TEST_F(ProgramOnSave, OnlyIfItIsAskedForAndTrusted) {
    writeProgram("touch built");
    start({{"trusted", false}, {"profile", {{"programOnSave", true}}}});
    open();
    save(edited("2 * x", "3 * x"), 2);
    EXPECT_TRUE(profiled(quiet).is_null());
    EXPECT_FALSE(std::filesystem::exists(workspace.path("built")));
}

TEST_F(ProgramOnSave, NotByDefault) {
    writeProgram("touch built");
    start();
    open();
    save(edited("2 * x", "3 * x"), 2);
    EXPECT_TRUE(profiled(quiet).is_null());
    EXPECT_FALSE(std::filesystem::exists(workspace.path("built")));
}

} // namespace
} // namespace kernelskill::lsp::testing
