#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds reviewTime{120000};

class CodeActions : public ::testing::Test {
protected:
    void start(const json& capabilities = editorCapabilities()) {
        client.initialize({{"capabilities", capabilities}, {"rootUri", workspace.uri()}});
    }

    json actionsAt(const std::string& text, const std::string& needle,
                   json context = json::object()) {
        if (!context.contains("diagnostics"))
            context["diagnostics"] = json::array();
        return client
            .call("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                              {"range", pointRange(placeOf(text, needle, 1))},
                                              {"context", context}})
            .at("result");
    }

    static json withKind(const json& actions, const std::string& kind) {
        const auto found = std::ranges::find_if(
            actions, [&](const json& action) { return action.value("kind", "") == kind; });
        return found == actions.end() ? json() : *found;
    }

    json padding() {
        return withKind(actionsAt(transpose, "tile[threadIdx.x][threadIdx.y]"),
                        "refactor.rewrite.shared-memory-padding");
    }

    bool saysSomething() {
        const auto isSaid = [](const json& message) {
            return message.value("method", "") == "window/showMessage";
        };
        return client.waitFor(isSaid, Milliseconds(200)).has_value();
    }

    /// The diagnostics of what was opened, once there are any: errors are told of first.
    json findings() {
        json found = client.diagnostics(uri, 1);
        while (found.is_array() && found.empty())
            found = client.diagnostics(uri, 1);
        return found;
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("sample.cu");
    const std::string missingSemicolon = "__global__ void k(int* p) {\n    p[0] = 1\n}\n";
};

TEST_F(CodeActions, OfferTheSkillThatFitsWithoutItsEdit) {
    start();
    client.open(uri, transpose);
    const json action = padding();
    ASSERT_FALSE(action.is_null());
    EXPECT_THAT(action.at("title").get<std::string>(), HasSubstr("Apply skill: "));
    EXPECT_FALSE(action.contains("edit")) << "edits come by resolve";
    EXPECT_FALSE(action.contains("isPreferred")) << "a refactoring is never preferred";
}

TEST_F(CodeActions, OfferNothingOutsideKernels) {
    start();
    client.open(uri, transpose);
    EXPECT_EQ(actionsAt(transpose, "#define TILE"), json::array());
}

TEST_F(CodeActions, HonourOnly) {
    start();
    client.open(uri, transpose);
    const std::string place = "tile[threadIdx.x][threadIdx.y]";
    EXPECT_EQ(actionsAt(transpose, place, {{"only", {"quickfix"}}}), json::array());
    EXPECT_EQ(actionsAt(transpose, place, {{"only", {"source.organizeImports"}}}), json::array());
    EXPECT_EQ(actionsAt(transpose, place, {{"only", {"source"}}}).size(), 1u);
    EXPECT_FALSE(actionsAt(transpose, place, {{"only", {"refactor"}}}).empty());
    EXPECT_EQ(
        actionsAt(transpose, place, {{"only", {"refactor.rewrite.shared-memory-padding"}}}).size(),
        1u);
    EXPECT_EQ(actionsAt(transpose, place, {{"only", {"refactor.rewrite.none"}}}), json::array());
}

TEST_F(CodeActions, ASkillIsAQuickFixOfTheDiagnosticThatItAnswers) {
    start();
    client.open(uri, transpose);
    const json diagnostics = findings();
    ASSERT_EQ(diagnostics.size(), 1u) << diagnostics;
    EXPECT_EQ(diagnostics.at(0).at("code"), "bank-conflicts");
    const std::string place = "tile[threadIdx.x][threadIdx.y]";

    const json fixes =
        actionsAt(transpose, place, {{"diagnostics", diagnostics}, {"only", {"quickfix"}}});
    ASSERT_EQ(fixes.size(), 2u) << fixes;
    EXPECT_EQ(fixes.at(1).at("title"), "Ignore 'bank-conflicts' on line 9");
    const json& fix = fixes.at(0);
    EXPECT_THAT(fix.at("title").get<std::string>(), HasSubstr("Pad the rows of shared array tile"));
    EXPECT_EQ(fix.at("kind"), "quickfix");
    EXPECT_EQ(fix.at("diagnostics"), diagnostics);
    EXPECT_FALSE(fix.contains("isPreferred")) << "it is not a correction";

    // The menu of all has it once, beside the skill that answers no diagnostic.
    const json all = actionsAt(transpose, place, {{"diagnostics", diagnostics}});
    EXPECT_EQ(std::ranges::count(all, fix), 1);
    EXPECT_TRUE(withKind(all, "refactor.rewrite.shared-memory-padding").is_null());
    EXPECT_FALSE(withKind(all, "refactor.rewrite.restrict-and-const").is_null());

    // A client that asks for refactorings gets it as one.
    const json refactorings =
        actionsAt(transpose, place, {{"diagnostics", diagnostics}, {"only", {"refactor.rewrite"}}});
    const json padding = withKind(refactorings, "refactor.rewrite.shared-memory-padding");
    ASSERT_FALSE(padding.is_null());
    EXPECT_EQ(padding.at("title"), fix.at("title"));
    EXPECT_FALSE(padding.contains("diagnostics"));
}

TEST_F(CodeActions, ASkillIsNoQuickFixOfADiagnosticOfAnotherArray) {
    start();
    const std::string text =
        "__global__ void sum(float* out, const float* in) {\n"
        "    __shared__ float a[32][32];\n"
        "    __shared__ float b[32][32];\n"
        "    a[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];\n"
        "    b[threadIdx.y][threadIdx.x] = in[1024 + threadIdx.y * 32 + threadIdx.x];\n"
        "    __syncthreads();\n"
        "    out[threadIdx.y * 32 + threadIdx.x] = a[threadIdx.x][threadIdx.y] * "
        "b[threadIdx.x][threadIdx.y];\n"
        "}\n"
        "void launch(float* out, const float* in) { sum<<<1, dim3(32, 32)>>>(out, in); }\n";
    client.open(uri, text);
    const json diagnostics = findings();
    ASSERT_EQ(diagnostics.size(), 2u) << diagnostics;
    const json fixes = actionsAt(text, "b[threadIdx.x][threadIdx.y]",
                                 {{"diagnostics", diagnostics}, {"only", {"quickfix"}}});
    ASSERT_EQ(fixes.size(), 2u) << fixes;
    EXPECT_EQ(fixes.at(1).at("diagnostics").size(), 2u) << "one comment ignores both";
    EXPECT_THAT(fixes.at(0).at("title").get<std::string>(), HasSubstr("shared array b"));
    const json& answered = fixes.at(0).at("diagnostics");
    ASSERT_EQ(answered.size(), 1u);
    EXPECT_EQ(answered.at(0).at("range").at("start"), placeOf(text, "b[threadIdx.x][threadIdx.y]"));
}

TEST_F(CodeActions, ResolveReviewsTheEditAndReturnsItVersioned) {
    start();
    client.open(uri, transpose, 7);
    const json action = padding();
    ASSERT_FALSE(action.is_null());
    const json resolved = client.call("codeAction/resolve", action, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json change = resolved.at("result").at("edit").at("documentChanges").at(0);
    EXPECT_EQ(change.at("textDocument"), (json{{"uri", uri}, {"version", 7}}));
    EXPECT_THAT(change.at("edits").dump(), HasSubstr("1"));
    const json memory = client.call("kernelskill/memory", {{"textDocument", {{"uri", uri}}}});
    EXPECT_THAT(memory.dump(), HasSubstr("shared-memory-padding"));
}

TEST_F(CodeActions, ResolveEditsALoopInAnotherStyleInOneStep) {
    start();
    const std::string text = "__global__ void sums(const float* x, float* y, int m, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i >= m)\n"
                             "        return;\n"
                             "    const float* p = x + i * n;\n"
                             "    const float* end = p + n;\n"
                             "    float sum = 0;\n"
                             "    while (p < end)\n"
                             "        sum += *p++;\n"
                             "    y[i] = sum;\n"
                             "}\n"
                             "void run(const float* x, float* y, int m, int n) {\n"
                             "    sums<<<(m + 127) / 128, 128>>>(x, y, m, n);\n"
                             "}\n";
    client.open(uri, text);
    const json action = withKind(actionsAt(text, "sum += "), "refactor.rewrite.row-per-warp");
    ASSERT_FALSE(action.is_null());
    const json resolved = client.call("codeAction/resolve", action, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const std::string edit = resolved.at("result").at("edit").dump();
    EXPECT_THAT(edit, HasSubstr("for (int j = lane; j < n; j += 32)"));
    EXPECT_THAT(edit, HasSubstr(R"("newText":"p[j]")"));
}

/// Capabilities of an editor that shows edits with annotations before it applies them.
json previewingEditor() {
    json capabilities = editorCapabilities();
    capabilities["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = {
        {"groupsOnLabel", true}};
    return capabilities;
}

TEST_F(CodeActions, AnEditOfHostCodeIsReviewedWithoutRunningIt) {
    start();
    const std::string text =
        "__global__ void relax(float* x, int rounds) {\n"
        "    for (int k = 0; k < rounds; ++k)\n"
        "        x[threadIdx.x] *= 0.5f;\n"
        "}\n"
        "void run(float* __restrict__ a, float* __restrict__ b, int rounds) {\n"
        "    relax<<<1, 128>>>(a, rounds);\n"
        "    relax<<<1, 128>>>(b, rounds);\n"
        "}\n";
    client.open(uri, text);
    const json action = withKind(actionsAt(text, "relax"), "refactor.rewrite.stream-overlap");
    ASSERT_FALSE(action.is_null());
    const json resolved = client.call("codeAction/resolve", action, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const std::string edit = resolved.at("result").at("edit").dump();
    EXPECT_THAT(edit, HasSubstr("cudaStreamWaitEvent(beside, forked, 0);"));
    const json memory = client.call("kernelskill/memory", {{"textDocument", {{"uri", uri}}}});
    EXPECT_THAT(memory.dump(), HasSubstr("stream-overlap"));
}

TEST_F(CodeActions, AnEditSaysItsVerdictWhereTheEditorCanShowIt) {
    start(previewingEditor());
    client.open(uri, transpose);
    const json resolved = client.call("codeAction/resolve", padding(), reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json edit = resolved.at("result").at("edit");
    ASSERT_EQ(edit.at("changeAnnotations").size(), 1u) << edit.dump(1);
    const auto annotation = edit.at("changeAnnotations").items().begin();
    EXPECT_EQ(annotation.value().at("label"), resolved.at("result").at("title"));
    EXPECT_THAT(annotation.value().at("description").get<std::string>(), HasSubstr("unmeasured"));
    EXPECT_EQ(annotation.value().at("needsConfirmation"), false);
    for (const json& change : edit.at("documentChanges").at(0).at("edits"))
        EXPECT_EQ(change.at("annotationId"), annotation.key());
}

/// The notice after a skill is applied: the verdict, what was checked, and the way back.
auto isNoticeOfPadding() {
    return ::testing::AllOf(
        HasSubstr("Pad the rows of shared array tile by 1: applied, unmeasured: "
                  "Matches the original on "),
        HasSubstr("shared-memory wavefronts "), HasSubstr("One undo takes it back."));
}

TEST_F(CodeActions, ASkillThatIsAppliedSaysWhatWasChecked) {
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"]["resolveSupport"]["properties"] = {"edit",
                                                                                  "command"};
    start(capabilities);
    client.open(uri, transpose);
    const json resolved = client.call("codeAction/resolve", padding(), reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    EXPECT_FALSE(saysSomething()) << "the edit is not applied yet";
    const json command = resolved.at("result").at("command"); // which clients run after the edit
    client.call("workspace/executeCommand",
                {{"command", command.at("command")}, {"arguments", command.at("arguments")}});
    const json message = client.notification("window/showMessage");
    EXPECT_EQ(message.at("params").at("type"), 3);
    EXPECT_THAT(message.at("params").at("message").get<std::string>(), isNoticeOfPadding());
}

TEST_F(CodeActions, ASkillIsConfirmedFirstWhereTheUserWantsIt) {
    client.initialize({{"capabilities", previewingEditor()},
                       {"initializationOptions", {{"preview", {{"skills", true}}}}}});
    client.open(uri, transpose);
    const json resolved = client.call("codeAction/resolve", padding(), reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json& annotations = resolved.at("result").at("edit").at("changeAnnotations");
    EXPECT_EQ(annotations.begin().value().at("needsConfirmation"), true);
}

TEST_F(CodeActions, AnEditorWithoutAnnotationsGetsNone) {
    client.initialize({{"capabilities", editorCapabilities()},
                       {"initializationOptions", {{"preview", {{"skills", true}}}}}});
    client.open(uri, transpose);
    const json resolved = client.call("codeAction/resolve", padding(), reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    EXPECT_EQ(resolved.dump().find("nnotation"), std::string::npos);
}

TEST_F(CodeActions, AStaleVersionIsRefused) {
    start();
    client.open(uri, transpose);
    const json action = padding();
    ASSERT_FALSE(action.is_null());
    client.change(uri, 2, json::array({{{"text", "// new first line\n" + transpose}}}));
    const json resolved = client.call("codeAction/resolve", action);
    EXPECT_EQ(resolved.at("error").at("code"), -32801);
}

TEST_F(CodeActions, AnEditDuringTheReviewRefusesIt) {
    start();
    client.open(uri, transpose);
    const json action = padding();
    ASSERT_FALSE(action.is_null());
    const int id = client.sendRequest("codeAction/resolve", action);
    client.change(uri, 2, json::array({{{"text", "// new first line\n" + transpose}}}));
    EXPECT_EQ(client.response(id, reviewTime).at("error").at("code"), -32801);
}

TEST_F(CodeActions, AReviewShowsProgressAndCanBeCancelled) {
    start();
    client.open(uri, transpose);
    const json action = padding();
    ASSERT_FALSE(action.is_null());
    const int id = client.sendRequest("codeAction/resolve", action);
    client.notify("$/cancelRequest", {{"id", id}});
    EXPECT_EQ(client.response(id).at("error").at("code"), -32800);
}

TEST_F(CodeActions, AClientWithoutResolveGetsACommandThatAppliesTheEdit) {
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"].erase("resolveSupport");
    const json initialized = client.initialize({{"capabilities", capabilities}});
    EXPECT_EQ(initialized.at("capabilities").at("codeActionProvider").at("resolveProvider"), false);
    client.open(uri, transpose);
    const json action = padding();
    ASSERT_TRUE(action.contains("command")) << action;
    const json result = client.call("workspace/executeCommand",
                                    {{"command", action.at("command").at("command")},
                                     {"arguments", action.at("command").at("arguments")}},
                                    reviewTime);
    ASSERT_TRUE(result.contains("result")) << result;
    EXPECT_TRUE(result.at("result").at("applied").get<bool>());
    EXPECT_TRUE(std::ranges::any_of(client.serverRequests, [](const json& request) {
        return request.at("method") == "workspace/applyEdit";
    }));
    const json message = client.notification("window/showMessage");
    EXPECT_THAT(message.at("params").at("message").get<std::string>(), isNoticeOfPadding());
}

class AppliedNotice : public CodeActions {
protected:
    /// Applies the padding in an editor that draws buttons in its notices; `edited` is what it
    /// makes of the text.
    void apply(const std::string& afterwards) {
        json capabilities = editorCapabilities();
        capabilities["experimental"]["kernelskill"]["noticeActions"] = true;
        start(capabilities);
        client.open(uri, transpose);
        client.chosenAction = "Undo";
        client.onApplyEdit = [this, afterwards](const json&) {
            client.change(uri, ++version, json::array({{{"text", afterwards}}}));
            client.onApplyEdit = nullptr;
        };
        client.call("workspace/executeCommand",
                    {{"command", "kernelskill.applySkill"},
                     {"arguments", json::array({{{"uri", uri},
                                                 {"kernel", "transpose"},
                                                 {"skill", "shared-memory-padding"}}})}},
                    reviewTime);
    }
    json lastRequest(const std::string& method) {
        const auto found =
            std::find_if(client.serverRequests.rbegin(), client.serverRequests.rend(),
                         [&](const json& request) { return request.at("method") == method; });
        return found == client.serverRequests.rend() ? json() : found->at("params");
    }
    static std::string padded() {
        std::string text = transpose;
        return text.replace(text.find("[TILE][TILE]"), 12, "[TILE][TILE + 1]");
    }
    int version = 1;
};

TEST_F(AppliedNotice, HasAButtonThatTakesTheEditBack) {
    apply(padded());
    const auto undone = client.waitFor([](const json& message) {
        return message.value("method", "") == "workspace/applyEdit" &&
               message.at("params").at("label").get<std::string>().starts_with("Undo: ");
    });
    ASSERT_TRUE(undone);
    const json asked = lastRequest("window/showMessageRequest");
    EXPECT_EQ(asked.at("actions"), json::array({{{"title", "Undo"}}}));
    EXPECT_THAT(asked.at("message").get<std::string>(), ::testing::Not(HasSubstr("One undo")));
    const json edit = undone->at("params").at("edit").at("documentChanges").at(0);
    EXPECT_EQ(edit.at("textDocument").at("version"), 2);
    // What it replaces and by what: the text of before.
    const json change = edit.at("edits").at(0);
    EXPECT_EQ(change.at("newText"), "");
    EXPECT_EQ(change.at("range").at("start"), placeOf(padded(), " + 1"));
    EXPECT_EQ(change.at("range").at("end"), placeOf(padded(), " + 1", 4));
}

TEST_F(AppliedNotice, TakesNothingBackOnceTheTextHasChanged) {
    apply("// typed\n" + padded());
    EXPECT_THAT(client.notification("window/showMessage").dump(),
                HasSubstr("The text has changed since the edit was applied"));
    EXPECT_TRUE(std::ranges::none_of(client.serverRequests, [](const json& request) {
        return request.at("method") == "workspace/applyEdit" &&
               request.at("params").at("label").get<std::string>().starts_with("Undo: ");
    }));
}

TEST_F(CodeActions, AKernelWithoutOffersIsAskedWhy) {
    const std::string sum =
        "__global__ void sum(const float* __restrict__ x, float* __restrict__ total) {\n"
        "    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]);\n"
        "}\n";
    start();
    client.open(uri, sum);
    const json action = withKind(actionsAt(sum, "atomicAdd"), "refactor.explain");
    ASSERT_FALSE(action.is_null());
    EXPECT_EQ(action.at("title"), "Why is nothing offered?");
    const json answer = client.call("workspace/executeCommand",
                                    {{"command", action.at("command").at("command")},
                                     {"arguments", action.at("command").at("arguments")}});
    EXPECT_GT(answer.at("result").at("ruled_out").size(), 20U);
    EXPECT_THAT(client.notification("window/showMessage").at("params").at("message").dump(),
                ::testing::AllOf(HasSubstr("No edit is offered for 'sum'."),
                                 HasSubstr("What would help is "), HasSubstr("check --why")));
    client.change(uri, 2, json::array({{{"text", transpose}}}));
    EXPECT_TRUE(withKind(actionsAt(transpose, "tile[threadIdx.x][threadIdx.y]"), "refactor.explain")
                    .is_null());
}

TEST_F(CodeActions, ARefusalIsToldOnceAndNamesItsRemedies) {
    client.initialize({{"capabilities", editorCapabilities()},
                       {"initializationOptions", {{"execution", {{"enabled", false}}}}}});
    client.open(uri, transpose);
    const json refused = client.call(
        "workspace/executeCommand",
        {{"command", "kernelskill.applySkill"},
         {"arguments",
          json::array(
              {{{"uri", uri}, {"kernel", "transpose"}, {"skill", "shared-memory-padding"}}})}});
    EXPECT_EQ(
        refused.at("error").at("data").at("remedies"),
        json::array({{{"title", "Open Settings"}, {"setting", "kernelskill.execution.enabled"}}}));
    EXPECT_FALSE(saysSomething()) << "the editor shows the error";
}

TEST_F(CodeActions, NothingThatRunsKernelsIsOfferedWhereThatIsTurnedOff) {
    client.initialize({{"capabilities", editorCapabilities()},
                       {"initializationOptions", {{"execution", {{"enabled", false}}}}}});
    client.open(uri, transpose);
    EXPECT_EQ(actionsAt(transpose, "tile[threadIdx.x][threadIdx.y]"), json::array());
    const json profile = client.call("kernelskill/profile", {{"textDocument", {{"uri", uri}}}});
    EXPECT_THAT(profile.at("error").at("message").get<std::string>(),
                HasSubstr("kernelskill.execution.enabled"));
}

TEST_F(CodeActions, ASoleFixIsPreferredAndCarriesItsDiagnostic) {
    start();
    client.open(uri, missingSemicolon);
    const json diagnostics = client.diagnostics(uri, 1);
    ASSERT_EQ(diagnostics.size(), 1u);
    const json fixes = actionsAt(missingSemicolon, "p[0] = 1",
                                 {{"diagnostics", diagnostics}, {"only", {"quickfix"}}});
    ASSERT_EQ(fixes.size(), 1u);
    const json& fix = fixes.at(0);
    EXPECT_THAT(fix.at("title").get<std::string>(), HasSubstr("Fix compile error: "));
    EXPECT_EQ(fix.at("kind"), "quickfix");
    EXPECT_EQ(fix.at("isPreferred"), true);
    EXPECT_EQ(fix.at("diagnostics"), diagnostics);
    const json resolved = client.call("codeAction/resolve", fix).at("result");
    const json edit = resolved.at("edit").at("documentChanges").at(0).at("edits").at(0);
    EXPECT_EQ(edit.at("newText"), ";");
    EXPECT_EQ(edit.at("range").at("start"), (json{{"line", 1}, {"character", 12}}));
}

TEST_F(CodeActions, AFixForAClientWithoutResolveCarriesItsEdit) {
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"].erase("resolveSupport");
    capabilities["workspace"]["workspaceEdit"] = json::object();
    start(capabilities);
    client.open(uri, missingSemicolon);
    const json fixes = actionsAt(missingSemicolon, "p[0] = 1");
    ASSERT_FALSE(fixes.empty());
    EXPECT_EQ(fixes.at(0).at("edit").at("changes").at(uri).at(0).at("newText"), ";");
}

TEST_F(CodeActions, AnEditThatNoRunCanCheckIsDisabledWithTheReason) {
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"]["disabledSupport"] = true;
    start(capabilities);
    const std::string text = transposeWithoutLaunch();
    client.open(uri, text);
    findings();
    const json action = withKind(actionsAt(text, "tile[threadIdx.x][threadIdx.y]"),
                                 "refactor.rewrite.shared-memory-padding");
    ASSERT_TRUE(action.contains("disabled")) << action;
    EXPECT_THAT(action.at("disabled").at("reason").get<std::string>(),
                HasSubstr("No run can check an edit of this kernel: parameter 'rows' of kernel "));
    EXPECT_FALSE(action.contains("data") || action.contains("command"));
}

TEST_F(CodeActions, AnEditThatNoRunCanCheckIsMarkedWhereNothingCanBeDisabled) {
    start();
    const std::string text = transposeWithoutLaunch();
    client.open(uri, text);
    findings();
    const json action = withKind(actionsAt(text, "tile[threadIdx.x][threadIdx.y]"),
                                 "refactor.rewrite.shared-memory-padding");
    ASSERT_FALSE(action.is_null());
    EXPECT_THAT(action.at("title").get<std::string>(), HasSubstr(" (cannot be checked)"));
}

TEST_F(CodeActions, AnEditOfAKernelThatDoesNotRunIsMarkedOnceThatIsKnown) {
    start();
    const std::string text = "__global__ void k(float* y, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    for (int s = 0; s < 4; ++s)\n"
                             "        if (i < n) y[4 * i + s] = ((float*)nullptr)[i];\n"
                             "}\n";
    client.open(uri, text);
    findings();
    const auto titled = [&] {
        const json actions = actionsAt(text, "y[4 * i");
        const auto found = std::ranges::find_if(actions, [](const json& action) {
            return action.value("kind", "").starts_with("refactor.rewrite.loop-unrolling");
        });
        return found == actions.end() ? json() : *found;
    };
    const json action = titled();
    ASSERT_FALSE(action.is_null());
    EXPECT_THAT(action.at("title").get<std::string>(), ::testing::Not(HasSubstr("cannot be")));
    const json answer = client.call("codeAction/resolve", action, reviewTime);
    ASSERT_TRUE(answer.contains("error")) << answer;
    EXPECT_THAT(titled().at("title").get<std::string>(), HasSubstr(" (cannot be checked)"))
        << answer;
}

} // namespace
} // namespace kernelskill::lsp::testing
