// Headers and fragments, read as a part of the source that includes them.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Milliseconds reviewTime{120000};

/// Cannot be compiled alone; its block is known from the launch.
const std::string fragment =
    "__global__ void transpose(real* out, const real* in, int width, int height) {\n"
    "    __shared__ real tile[TILE][TILE];\n"
    "    int x = blockIdx.x * TILE + threadIdx.x;\n"
    "    int y = blockIdx.y * TILE + threadIdx.y;\n"
    "    tile[threadIdx.y][threadIdx.x] = in[y * width + x];\n"
    "    __syncthreads();\n"
    "    out[(blockIdx.x * TILE + threadIdx.y) * height + blockIdx.y * TILE + threadIdx.x] =\n"
    "        tile[threadIdx.x][threadIdx.y];\n"
    "}\n";
const std::string mainText = "#include <cstdio>\n"
                             "typedef float real;\n"
                             "#define TILE 32\n"
                             "#include \"transpose.cuh\"\n"
                             "int main() {\n"
                             "    float *out, *in;\n"
                             "    cudaMalloc(&out, 128 * 64 * sizeof(float));\n"
                             "    cudaMalloc(&in, 128 * 64 * sizeof(float));\n"
                             "    dim3 block(TILE, TILE);\n"
                             "    dim3 grid(4, 2);\n"
                             "    transpose<<<grid, block>>>(out, in, 128, 64);\n"
                             "}\n";

class HeaderReading : public ::testing::Test {
protected:
    void start() {
        client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", workspace.uri()}});
    }

    /// The skills that are offered for the kernel's whole definition.
    std::string skillsOffered(const std::string& text = fragment) {
        const json actions =
            client.call("textDocument/codeAction",
                        {{"textDocument", {{"uri", uri}}},
                         {"range", pointRange(placeOf(text, "tile[threadIdx.x][threadIdx.y]", 1))},
                         {"context", {{"diagnostics", json::array()}}}});
        std::string kinds;
        for (const json& action : actions.at("result"))
            kinds += action.value("kind", "") + " ";
        return kinds;
    }

    json check(const std::string& name) {
        const CommandResult result = runKernelskill({"check", "--json", name}, workspace.path());
        EXPECT_EQ(result.status, 0) << result.errors;
        return json::parse(result.output);
    }

    static std::string ruledOut(const json& document, const std::string& skill) {
        for (const json& entry : document.at("kernels").at(0).at("ruled_out"))
            if (entry.at("skill") == skill)
                return entry.at("why");
        return {};
    }

    static bool offers(const json& document, const std::string& skill) {
        return std::ranges::any_of(document.at("kernels").at(0).at("skills"),
                                   [&](const json& entry) { return entry.at("id") == skill; });
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("transpose.cuh");
};

TEST_F(HeaderReading, AHeaderInTheEditorHasNoFalseErrorsAndItsSkills) {
    workspace.write("main.cu", mainText);
    workspace.write("transpose.cuh", fragment);
    start();
    client.open(uri, fragment);
    json diagnostics = client.diagnostics(uri, 1);
    for (const json& diagnostic : diagnostics)
        EXPECT_NE(diagnostic.at("severity"), 1) << diagnostic;
    const std::string skills = skillsOffered();
    EXPECT_THAT(skills, HasSubstr("shared-memory-padding"));
    EXPECT_THAT(skills, HasSubstr("restrict-and-const")) << "the launch shows what pointers are";
}

TEST_F(HeaderReading, AnAppliedSkillEditsTheHeader) {
    workspace.write("main.cu", mainText);
    workspace.write("transpose.cuh", fragment);
    start();
    client.open(uri, fragment);
    json padding;
    const json actions =
        client.call("textDocument/codeAction",
                    {{"textDocument", {{"uri", uri}}},
                     {"range", pointRange(placeOf(fragment, "tile[threadIdx.x][threadIdx.y]", 1))},
                     {"context", {{"diagnostics", json::array()}}}});
    for (const json& action : actions.at("result"))
        if (action.value("kind", "") == "refactor.rewrite.shared-memory-padding")
            padding = action;
    ASSERT_FALSE(padding.is_null()) << actions;
    const json resolved = client.call("codeAction/resolve", padding, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json& changes = resolved.at("result").at("edit").at("documentChanges");
    ASSERT_EQ(changes.size(), 1u) << changes;
    EXPECT_EQ(changes.at(0).at("textDocument").at("uri"), uri);
    EXPECT_THAT(changes.dump(), HasSubstr("\" + 1\""));
}

TEST_F(HeaderReading, EditsOfTheHeaderAndOfItsIncluderAreSeen) {
    workspace.write("main.cu", mainText);
    workspace.write("transpose.cuh", fragment);
    start();
    client.open(uri, fragment);
    ASSERT_FALSE(client.diagnostics(uri, 1).is_null());
    client.change(uri, 2, json::array({{{"text", fragment + "int oops = undeclared;\n"}}}));
    EXPECT_THAT(client.diagnostics(uri, 2).dump(), HasSubstr("undeclared"));
    client.change(uri, 3, json::array({{{"text", fragment}}}));
    EXPECT_THAT(client.diagnostics(uri, 3).dump(), Not(HasSubstr("undeclared")));
    // The header is read with the includer's unsaved text.
    std::string renamed = mainText;
    renamed.replace(renamed.find("real;"), 5, "reel;");
    ASSERT_THAT(skillsOffered(), HasSubstr("shared-memory-padding"));
    client.open(workspace.uri("main.cu"), renamed);
    EXPECT_THAT(skillsOffered(), Not(HasSubstr("shared-memory-padding")))
        << "real is not declared any more, so the kernel does not compile";
}

TEST_F(HeaderReading, AHeaderAmongTheFirstIncludesIsReadThroughToo) {
    workspace.write("other.h", "#pragma once\n");
    workspace.write("main.cu", "#include <cstdio>\n#include \"other.h\"\n" +
                                   mainText.substr(mainText.find("#include \"transpose")));
    const std::string header = "#pragma once\ntypedef float real;\n#define TILE 32\n" + fragment;
    workspace.write("transpose.cuh", header);
    start();
    client.open(uri, header);
    ASSERT_FALSE(client.diagnostics(uri, 1).is_null());
    EXPECT_THAT(skillsOffered(header), HasSubstr("restrict-and-const"));
    client.change(uri, 2, json::array({{{"text", header + "int oops = undeclared;\n"}}}));
    EXPECT_THAT(client.diagnostics(uri, 2).dump(), HasSubstr("undeclared"));
    client.change(uri, 3, json::array({{{"text", "\n" + header}}}));
    EXPECT_THAT(client.diagnostics(uri, 3).dump(), Not(HasSubstr("undeclared")));
    EXPECT_THAT(skillsOffered("\n" + header), HasSubstr("restrict-and-const"));
}

TEST_F(HeaderReading, AnIncluderThatVanishesLeavesTheHeaderAlone) {
    const std::string path = workspace.write("main.cu", mainText);
    workspace.write("transpose.cuh", fragment);
    start();
    client.open(uri, fragment);
    ASSERT_THAT(skillsOffered(), HasSubstr("restrict-and-const"));
    std::filesystem::remove(path);
    client.notify("workspace/didChangeWatchedFiles",
                  {{"changes", {{{"uri", workspace.uri("main.cu")}, {"type", 3}}}}});
    EXPECT_THAT(skillsOffered(), Not(HasSubstr("restrict-and-const")));
    // And comes back.
    workspace.write("main.cu", mainText);
    client.notify("workspace/didChangeWatchedFiles",
                  {{"changes", {{{"uri", workspace.uri("main.cu")}, {"type", 1}}}}});
    EXPECT_THAT(skillsOffered(), HasSubstr("restrict-and-const"));
}

TEST_F(HeaderReading, TheCommandLineReadsAHeaderThroughItsIncluder) {
    workspace.write("main.cu", mainText);
    workspace.write("transpose.cuh", fragment);
    const json document = check("transpose.cuh");
    EXPECT_EQ(document.at("read_through"), workspace.path("main.cu"));
    for (const json& diagnostic : document.at("diagnostics"))
        EXPECT_NE(diagnostic.at("severity"), "error") << diagnostic;
    ASSERT_EQ(document.at("kernels").size(), 1u);
    const json& launches = document.at("kernels").at(0).at("launches");
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches.at(0).at("line"), 10);
    EXPECT_EQ(launches.at(0).at("grid"), "grid");
    EXPECT_EQ(launches.at(0).at("file"), workspace.path("main.cu"));
    EXPECT_TRUE(offers(document, "shared-memory-padding"));
    // The source itself lists the kernel as before.
    const json whole = check("main.cu");
    EXPECT_FALSE(whole.contains("read_through"));
    EXPECT_EQ(whole.at("kernels").at(0).at("file"), workspace.path("transpose.cuh"));
    EXPECT_EQ(whole.at("kernels").at(0).at("skills"), json::array());
}

TEST_F(HeaderReading, TheCommandLineRunsAndWritesTheHeader) {
    workspace.write("main.cu", mainText);
    const std::string path = workspace.write("transpose.cuh", fragment);
    const CommandResult result =
        runKernelskill({"apply", "shared-memory-padding", "transpose.cuh:2", "--write", "--json"},
                       workspace.path());
    ASSERT_EQ(result.status, 0) << result.output << result.errors;
    const json document = json::parse(result.output);
    EXPECT_EQ(document.at("verdict").at("status"), "unmeasured") << document.at("verdict");
    std::ifstream stream(path);
    const std::string after(std::istreambuf_iterator<char>(stream), {});
    EXPECT_THAT(after, HasSubstr("tile[TILE][TILE + 1]"));
    const CommandResult profile =
        runKernelskill({"profile", "transpose.cuh", "--json"}, workspace.path());
    ASSERT_EQ(profile.status, 0) << profile.errors;
    const json launch = json::parse(profile.output).at("kernels").at(0).at("launch");
    EXPECT_THAT(launch.dump(), Not(HasSubstr("guess"))) << launch;
}

TEST_F(HeaderReading, SkillsThatEditLaunchesNameTheFileOfTheLaunch) {
    workspace.write("scale.cuh", "__global__ void scale(float* x, int n) {\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n)\n"
                                 "        x[i] *= 2.0f;\n"
                                 "}\n");
    workspace.write("main.cu", "#include \"scale.cuh\"\n"
                               "void run(float* x, int n) {\n"
                               "    scale<<<(n + 47) / 48, 48>>>(x, n);\n"
                               "}\n");
    const json document = check("scale.cuh");
    EXPECT_THAT(ruledOut(document, "launch-tuning"),
                HasSubstr("scale is launched on line 3 of main.cu"));
}

TEST_F(HeaderReading, NoLaunchIsTakenForAllWhereTwoSourcesLaunch) {
    workspace.write("a.cu", mainText);
    std::string other = mainText;
    // Here both pointers are the same.
    other.replace(other.find("(out, in,"), 9, "(out, out,");
    workspace.write("b.cu", other);
    workspace.write("transpose.cuh", fragment);
    const json both = check("transpose.cuh");
    EXPECT_EQ(both.at("read_through"), workspace.path("a.cu"));
    EXPECT_FALSE(offers(both, "restrict-and-const"));
    EXPECT_THAT(ruledOut(both, "restrict-and-const"), HasSubstr("b.cu may also launch transpose"));
    // Another source that does not launch it is no obstacle.
    workspace.write("b.cu", "typedef float real;\n#define TILE 32\n#include \"transpose.cuh\"\n");
    EXPECT_TRUE(offers(check("transpose.cuh"), "restrict-and-const"));
}

TEST_F(HeaderReading, AFragmentNamedAsASourceIsReadThroughItsIncluder) {
    workspace.write("kernel.cu", fragment);
    std::string text = mainText;
    text.replace(text.find("transpose.cuh"), 13, "kernel.cu");
    workspace.write("main.cu", text);
    const json document = check("kernel.cu");
    EXPECT_EQ(document.at("read_through"), workspace.path("main.cu"));
    // A source that stands on its own is read so.
    workspace.write("tests.cu", "#include \"main.cu\"\n");
    EXPECT_FALSE(check("main.cu").contains("read_through"));
}

TEST_F(HeaderReading, AReadingWithMoreErrorsThanTheFileAloneIsNotTaken) {
    workspace.write("good.cuh", "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n");
    workspace.write("bad.cu", "#define x y z\n#include \"good.cuh\"\n");
    const json document = check("good.cuh");
    EXPECT_FALSE(document.contains("read_through"));
    EXPECT_EQ(document.at("diagnostics"), json::array());
}

TEST_F(HeaderReading, AFileThatIsReadTwiceIsReadAlone) {
    workspace.write("good.cuh", "__global__ void NAME(float* x) { x[threadIdx.x] = 1; }\n");
    workspace.write("main.cu", "#define NAME first\n#include \"good.cuh\"\n#undef NAME\n"
                               "#define NAME second\n#include \"good.cuh\"\n");
    EXPECT_FALSE(check("good.cuh").contains("read_through"));
}

} // namespace
} // namespace kernelskill::lsp::testing
