// Hazards of kernels whose launch nothing states are told, and are never warnings.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Milliseconds runTime{60000};
constexpr int error = 1;
constexpr int information = 3;

/// A race between the warps of a block: there is no barrier.
const std::string racing = "__global__ void shift(float* out, const float* in, int n) {\n"
                           "    __shared__ float tile[1024];\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    tile[threadIdx.x] = i < n ? in[i] : 0;\n"
                           "    if (i < n) out[i] = tile[(threadIdx.x + 40) % blockDim.x];\n"
                           "}\n";
const std::string pin =
    "// kernelskill: launch shift<<<4, 256>>>(n=1024, in=rand[1024], out=zero[1024])\n";

class GuessedLaunch : public ::testing::Test {
protected:
    /// The race's diagnostic after a profile.
    json diagnosticOf(const std::string& text) {
        client.initialize();
        client.open(uri, text);
        const json profile =
            client.call("kernelskill/profile",
                        {{"textDocument", {{"uri", uri}}}, {"kernel", "shift"}}, runTime);
        EXPECT_TRUE(profile.contains("result")) << profile;
        const auto seen = client.waitFor([](const json& message) {
            return message.value("method", "") == "textDocument/publishDiagnostics" &&
                   message.dump().contains("\"race\"");
        });
        if (!seen)
            return nullptr;
        for (const json& diagnostic : seen->at("params").at("diagnostics"))
            if (diagnostic.at("code") == "race")
                return diagnostic;
        return nullptr;
    }
    TemporaryWorkspace workspace;
    LspClient client;
    std::string uri = workspace.uri("shift.cu");
};

TEST_F(GuessedLaunch, AHazardOnItMayBeTheGuess) {
    const json diagnostic = diagnosticOf(racing);
    ASSERT_TRUE(diagnostic.is_object());
    EXPECT_EQ(diagnostic.at("severity"), information);
    EXPECT_THAT(diagnostic.at("message").get<std::string>(), HasSubstr("may be the guess"));
    const auto shown =
        runKernelskill({"profile", workspace.write("shift.cu", racing)}, workspace.path());
    EXPECT_THAT(shown.output, HasSubstr("race (may be the guess):"));
    const json profile =
        json::parse(runKernelskill({"profile", "shift.cu", "--json"}, workspace.path()).output);
    EXPECT_EQ(profile.at("kernels").at(0).at("hazards").at(0).at("may_be_the_guess"), true);
}

TEST_F(GuessedLaunch, APinMakesItAnError) {
    const json diagnostic = diagnosticOf(racing + pin);
    ASSERT_TRUE(diagnostic.is_object());
    EXPECT_EQ(diagnostic.at("severity"), error);
    EXPECT_THAT(diagnostic.at("message").get<std::string>(), Not(HasSubstr("guess")));
    const auto shown =
        runKernelskill({"profile", workspace.write("shift.cu", racing + pin)}, workspace.path());
    EXPECT_THAT(shown.output, AllOf(HasSubstr("race:"), Not(HasSubstr("may be the guess"))));
}

TEST_F(GuessedLaunch, IsPinnedByACommandAlsoBeforeAProfile) {
    client.initialize();
    client.open(uri, racing);
    const auto pinIt = [&] {
        return client.call("workspace/executeCommand",
                           {{"command", "kernelskill.pinLaunch"},
                            {"arguments", json::array({{{"uri", uri}, {"kernel", "shift"}}})}});
    };
    std::string inserted;
    client.onApplyEdit = [&](const json& edit) {
        inserted = edit.at("documentChanges").at(0).at("edits").at(0).at("newText");
    };
    EXPECT_EQ(pinIt().at("result").at("applied"), true);
    EXPECT_THAT(inserted, HasSubstr("// kernelskill: launch shift<<<"));
    client.change(uri, 2, json::array({{{"text", pin + racing}}}));
    EXPECT_THAT(pinIt().at("error").at("message").get<std::string>(),
                HasSubstr("the launch of 'shift' is not a guess"));
}

TEST_F(GuessedLaunch, GuessesThatDisagreeAreSaid) {
    // Lanes are four words apart where n is the guess, and one where it is a quarter.
    const std::string kernel = "__global__ void pick(float* out, const float* in, int n) {\n"
                               "    __shared__ float tile[1024];\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    for (int k = threadIdx.x; k < 1024; k += blockDim.x)\n"
                               "        tile[k] = k;\n"
                               "    __syncthreads();\n"
                               "    if (i < n)\n"
                               "        out[i] = in[i] + tile[(threadIdx.x * (n / 1024)) % 1024];\n"
                               "}\n";
    workspace.write("pick.cu", kernel);
    EXPECT_THAT(runKernelskill({"profile", "pick.cu"}, workspace.path()).output,
                AllOf(HasSubstr("guesses disagree"), HasSubstr("not by bank-conflicts"),
                      HasSubstr("// kernelskill: launch pick<<<")));
    workspace.write("pick.cu",
                    kernel + "// kernelskill: launch pick<<<4, 1024>>>(n=4096, in=rand[4096])\n");
    EXPECT_THAT(runKernelskill({"profile", "pick.cu"}, workspace.path()).output,
                AllOf(HasSubstr("bank-conflicts"), Not(HasSubstr("guesses disagree"))));
}

} // namespace
} // namespace kernelskill::lsp::testing
