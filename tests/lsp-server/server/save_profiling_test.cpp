// Profiles on save, as an editor sees them: by what the server sends.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

/// Longer than the server waits for further saves.
constexpr Milliseconds quiet{900};

const std::string twoKernels = "__global__ void first(float* a) { a[threadIdx.x] = 1.0f; }\n"
                               "__global__ void second(float* a) { a[threadIdx.x] = 2.0f; }\n"
                               "// kernelskill: launch first<<<1, 32>>>(a=zero[32])\n"
                               "// kernelskill: launch second<<<1, 32>>>(a=zero[32])\n";

/// Minutes of work for the emulator.
const std::string endless = "__global__ void slow(float* a) {\n"
                            "    for (int i = 0; i < 1000000; ++i)\n"
                            "        a[threadIdx.x] += 1.0f;\n"
                            "}\n"
                            "// kernelskill: launch slow<<<4096, 1024>>>(a=zero[1024])\n";

class OnSave : public ::testing::Test {
protected:
    void start(const json& options) {
        client.initialize(
            {{"capabilities", editorCapabilities()}, {"initializationOptions", options}});
    }
    void startWanted() { start({{"trusted", true}, {"profile", {{"onSave", true}}}}); }

    void open(const std::string& text) {
        client.open(uri, text);
        (void)client.diagnostics(uri, 1);
        // Answered out of the snapshot: the server has seen the kernels.
        (void)lenses();
    }
    void replace(const std::string& text, int version) {
        client.change(uri, version, json::array({{{"text", text}}}));
    }
    void save() { client.notify("textDocument/didSave", {{"textDocument", {{"uri", uri}}}}); }

    bool refreshes(Milliseconds timeout) {
        return client
            .waitFor(
                [](const json& message) {
                    return message.value("method", "") == "workspace/codeLens/refresh";
                },
                timeout)
            .has_value();
    }
    bool progress(const std::string& kind, Milliseconds timeout = Milliseconds(20000)) {
        return client
            .waitFor(
                [&](const json& message) {
                    return message.value("method", "") == "$/progress" &&
                           message.at("params").at("value").at("kind") == kind;
                },
                timeout)
            .has_value();
    }
    json lenses() {
        return client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}})
            .at("result");
    }
    /// Whether something was counted of it.
    bool isProfiled(const std::string& kernel) {
        const json listed =
            client.call("kernelskill/kernels", {{"textDocument", {{"uri", uri}}}}).at("result");
        for (const json& each : listed)
            if (each.at("name") == kernel)
                return !each.at("roofline").is_null();
        ADD_FAILURE() << "no kernel " << kernel;
        return false;
    }

    static std::string edited() {
        std::string text = twoKernels;
        return text.replace(text.find("2.0f"), 4, "3.0f");
    }

    TemporaryWorkspace workspace;
    LspClient client;
    const std::string uri = workspace.uri("a.cu");
};

TEST_F(OnSave, TheKernelThatWasEditedIsProfiled) {
    startWanted();
    open(twoKernels);
    replace(edited(), 2);
    save();
    EXPECT_TRUE(refreshes(Milliseconds(20000)));
    EXPECT_TRUE(isProfiled("second"));
    EXPECT_FALSE(isProfiled("first"));
    const auto hints = std::ranges::count_if(client.serverRequests, [](const json& request) {
        return request.at("method") == "workspace/inlayHint/refresh";
    });
    EXPECT_EQ(hints, 1);
}

TEST_F(OnSave, NothingIsDoneWithoutAnEdit) {
    startWanted();
    open(twoKernels);
    save();
    EXPECT_FALSE(refreshes(quiet));
    replace(edited(), 2);
    save();
    EXPECT_TRUE(refreshes(Milliseconds(20000)));
    save();
    EXPECT_FALSE(refreshes(quiet));
    EXPECT_FALSE(isProfiled("first"));
}

TEST_F(OnSave, ACommentIsNoEdit) {
    startWanted();
    open(twoKernels);
    replace("// new\n" + twoKernels, 2);
    save();
    EXPECT_FALSE(refreshes(quiet));
    EXPECT_FALSE(isProfiled("second"));
}

TEST_F(OnSave, TypingCancels) {
    startWanted();
    open("__global__ void slow(float* a) { a[0] = 0.0f; }\n");
    replace(endless, 2);
    save();
    ASSERT_TRUE(progress("begin"));
    replace(endless + " ", 3);
    EXPECT_TRUE(progress("end", Milliseconds(5000)));
    EXPECT_FALSE(refreshes(quiet));
    EXPECT_FALSE(isProfiled("slow"));
}

TEST_F(OnSave, TypingBeforeItBeginsCancelsToo) {
    startWanted();
    open(twoKernels);
    replace(edited(), 2);
    save();
    replace(edited() + " ", 3);
    EXPECT_FALSE(refreshes(quiet));
    save();
    EXPECT_TRUE(refreshes(Milliseconds(20000))) << "the edit was not forgotten";
}

TEST_F(OnSave, TheUserCanCancelIt) {
    startWanted();
    open("__global__ void slow(float* a) { a[0] = 0.0f; }\n");
    replace(endless, 2);
    save();
    const auto begun = client.waitFor([](const json& message) {
        return message.value("method", "") == "$/progress" &&
               message.at("params").at("value").at("kind") == "begin";
    });
    ASSERT_TRUE(begun);
    EXPECT_THAT(begun->dump(), HasSubstr("saved"));
    client.notify("window/workDoneProgress/cancel", {{"token", begun->at("params").at("token")}});
    EXPECT_TRUE(progress("end", Milliseconds(5000)));
    EXPECT_FALSE(isProfiled("slow"));
}

class NotOnSave : public OnSave, public ::testing::WithParamInterface<const char*> {};

TEST_P(NotOnSave, UnlessItIsAskedForTrustedAndAllowed) {
    client.saysTrusted = false;
    start(json::parse(GetParam()));
    open(twoKernels);
    replace(edited(), 2);
    save();
    EXPECT_FALSE(refreshes(quiet));
    const bool mayRun = !json::parse(GetParam()).contains("execution");
    if (mayRun)
        EXPECT_FALSE(isProfiled("second"));
    else
        EXPECT_TRUE(std::ranges::none_of(
            lenses(), [](const json& lens) { return lens.at("data").at("what") == "profile"; }));
}

INSTANTIATE_TEST_SUITE_P(Options, NotOnSave,
                         ::testing::Values(R"({"profile": {"onSave": true}})",
                                           R"({"profile": {"onSave": true}, "trusted": false})",
                                           R"({"profile": {"onSave": true}, "trusted": "yes"})",
                                           R"({"trusted": true})",
                                           R"({"trusted": true, "profile": {"onSave": false}})",
                                           R"({"trusted": true, "profile": {"onSave": true},
                          "execution": {"enabled": false}})"));

TEST_F(OnSave, SettingsThatCannotSayThatTheyAreTrustedDoNotTrust) {
    client.saysTrusted = false;
    start({{"profile", {{"onSave", true}}}});
    client.notify(
        "workspace/didChangeConfiguration",
        {{"settings", {{"kernelskill", {{"trusted", true}, {"profile", {{"onSave", true}}}}}}}});
    open(twoKernels);
    replace(edited(), 2);
    save();
    EXPECT_FALSE(refreshes(quiet));
}

} // namespace
} // namespace kernelskill::lsp::testing
