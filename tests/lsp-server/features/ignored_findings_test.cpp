// Comments that ignore findings, the quick fixes that write such comments and launch pins, and the
// page that codes link to.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Milliseconds runTime{60000};
constexpr const char* wasteful = "tile[threadIdx.x][threadIdx.y]";

std::string contentOf(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class IgnoredFindings : public ::testing::Test {
protected:
    std::set<std::string> codesOf(const std::string& text, int version = 1) {
        std::set<std::string> codes;
        json found = client.diagnostics(uri, version);
        while (found.is_array() && found.empty() && text.contains(wasteful) &&
               !text.contains("ignore"))
            found = client.diagnostics(uri, version);
        for (const json& diagnostic : found)
            codes.insert(diagnostic.at("code"));
        shown = found;
        return codes;
    }
    json actionAt(const std::string& text, const std::string& needle, const std::string& title) {
        const json actions =
            client
                .call("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                                  {"range", pointRange(placeOf(text, needle, 1))},
                                                  {"context", {{"diagnostics", shown}}}})
                .at("result");
        const auto found = std::ranges::find_if(
            actions, [&](const json& action) { return action.at("title") == title; });
        return found == actions.end() ? json() : *found;
    }
    /// `text` with the one edit of the action, which inserts whole lines.
    static std::string applied(const std::string& text, const json& action) {
        const json& edits = action.at("edit").at("documentChanges").at(0).at("edits");
        const int line = edits.at(0).at("range").at("start").at("line");
        EXPECT_EQ(edits.at(0).at("range").at("start"), edits.at(0).at("range").at("end"));
        std::size_t at = 0;
        for (int i = 0; i < line; ++i)
            at = text.find('\n', at) + 1;
        std::string result = text;
        return result.insert(at, edits.at(0).at("newText").get<std::string>());
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("sample.cu");
    json shown = json::array(); ///< The diagnostics that were seen last.
};

TEST_F(IgnoredFindings, AreWrittenByAQuickFixAndGone) {
    client.initialize();
    client.open(uri, transpose);
    EXPECT_THAT(codesOf(transpose), Contains("bank-conflicts"));
    const json action = actionAt(transpose, wasteful, "Ignore 'bank-conflicts' on line 9");
    ASSERT_TRUE(action.is_object());
    EXPECT_EQ(action.at("kind"), "quickfix");
    const std::string ignoring = applied(transpose, action);
    EXPECT_THAT(ignoring,
                HasSubstr("\n        // kernelskill: ignore bank-conflicts\n        tile"));
    client.change(uri, 2, json::array({{{"text", ignoring}}}));
    EXPECT_THAT(codesOf(ignoring, 2), Not(Contains("bank-conflicts")));
    EXPECT_TRUE(actionAt(ignoring, wasteful, "Ignore 'bank-conflicts' on line 10").is_null());
    workspace.write("sample.cu", ignoring);
    EXPECT_THAT(runKernelskill({"check", "sample.cu"}, workspace.path()).output,
                Not(HasSubstr("[bank-conflicts]")));
}

TEST_F(IgnoredFindings, HazardsAreIgnoredToo) {
    const std::string before = "__global__ void shift(float* out, const float* in, int n) {\n"
                               "    __shared__ float tile[1024];\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    tile[threadIdx.x] = i < n ? in[i] : 0;\n"
                               "    if (i < n) out[i] = tile[(threadIdx.x + 40) % blockDim.x];";
    const std::string after = "\n}\n// kernelskill: launch shift<<<4, 256>>>(n=1024)\n";
    client.initialize();
    const auto racesIn = [&](const std::string& text, int version) {
        if (version == 1)
            client.open(uri, text);
        else
            client.change(uri, version, json::array({{{"text", text}}}));
        const json report =
            client.call("kernelskill/profile",
                        {{"textDocument", {{"uri", uri}}}, {"kernel", "shift"}}, runTime);
        EXPECT_EQ(report.at("result").at("hazards").size(), 1u) << report;
        std::size_t races = 0;
        while (const auto message = client.waitFor(
                   [&](const json& each) {
                       return each.value("method", "") == "textDocument/publishDiagnostics" &&
                              each.at("params").value("version", 0) == version;
                   },
                   Milliseconds(1000)))
            for (const json& diagnostic : message->at("params").at("diagnostics"))
                races += diagnostic.at("code") == "race" ? 1 : 0;
        return races;
    };
    EXPECT_GE(racesIn(before + after, 1), 1u);
    EXPECT_EQ(racesIn(before + " // kernelskill: ignore race" + after, 2), 0u);
}

TEST_F(IgnoredFindings, ANameThatIsNoneIsAWarning) {
    std::string text = transpose;
    text.insert(text.find("    __syncthreads"), "// kernelskill: ignore bank-conflict\n");
    text.insert(text.find("    dim3 block"), "// kernelskill: ignore\n");
    workspace.write("sample.cu", text);
    const std::string output = runKernelskill({"check", "sample.cu"}, workspace.path()).output;
    EXPECT_THAT(output, HasSubstr("no finding is called 'bank-conflict'; these can be ignored: "));
    EXPECT_THAT(output, HasSubstr("the comment names no finding"));
    EXPECT_THAT(output, HasSubstr("[bank-conflicts]"));
    EXPECT_THAT(output, Not(HasSubstr("[launch-pin]")));
}

TEST_F(IgnoredFindings, AGuessedLaunchIsPinnedByAnAction) {
    const std::string kernel = "__global__ void twice(const float* in, float* out, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) out[i] = 2.0f * in[i];\n"
                               "}\n";
    client.initialize();
    client.open(uri, kernel);
    EXPECT_TRUE(actionAt(kernel, "twice", "Pin the launch of 'twice'").is_null());
    client.call("kernelskill/profile", {{"textDocument", {{"uri", uri}}}, {"kernel", "twice"}},
                runTime);
    const json action = actionAt(kernel, "twice", "Pin the launch of 'twice'");
    ASSERT_TRUE(action.is_object());
    EXPECT_EQ(action.at("kind"), "refactor.rewrite.pin-launch");
    const std::string pinned = applied(kernel, action);
    EXPECT_TRUE(pinned.starts_with("// kernelskill: launch twice<<<")) << pinned;
    client.change(uri, 2, json::array({{{"text", pinned}}}));
    EXPECT_THAT(codesOf(pinned, 2), Not(Contains("launch-pin"))) << pinned;
    workspace.write("sample.cu", pinned);
    EXPECT_THAT(runKernelskill({"profile", "sample.cu"}, workspace.path()).output,
                HasSubstr("pinned"));
}

TEST_F(IgnoredFindings, CodesLinkToTheirSections) {
    client.initialize();
    client.open(uri, transpose);
    const json found = client.diagnostics(uri, 1);
    const std::string page = contentOf(std::string(paths::sourceFolder) + "/docs/findings.md");
    for (const json& diagnostic : found)
        EXPECT_EQ(diagnostic.at("codeDescription").at("href"),
                  "https://github.com/kernelskill/kernelskill/blob/main/docs/findings.md#" +
                      diagnostic.at("code").get<std::string>());
    const std::regex code(
        R"re((Severity::\w+,\s*|warn\(site\.\w+,\s*|\.code = )"([a-z0-9]+(-[a-z0-9]+)+)")re");
    std::size_t codes = 0;
    for (const char* room : {"analysis", "lsp-server"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 std::filesystem::path(paths::sourceFolder) / room)) {
            if (entry.path().extension() != ".cpp")
                continue;
            const std::string source = contentOf(entry.path());
            for (std::sregex_iterator match(source.begin(), source.end(), code), end; match != end;
                 ++match, ++codes)
                EXPECT_THAT(page, HasSubstr("\n## " + (*match)[2].str() + "\n")) << entry.path();
        }
    EXPECT_GE(codes, 20u);
}

} // namespace
} // namespace kernelskill::lsp::testing
