// `kernelskill optimize -- ./program`, on a stand-in of driver and CUPTI: what is kept, said and
// written.
#include "tests/lsp-server/commands/optimize_program_workspace.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class OptimizeProgram : public OptimizeProgramWorkspace {};

TEST_F(OptimizeProgram, KeepsWhatBuildsAndPassesAndTakesBackTheRest) {
    const auto result = optimize({"--json", "--build", build()});
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    EXPECT_EQ(document.at("check"), "output");
    EXPECT_EQ(document.at("output_note"), "");
    const json buffers{{"compared", 3}, {"bytes", 10 * 65536 * 4}, {"note", ""}};
    EXPECT_EQ(document.at("buffers"), buffers) << "they are compared at the program's end";
    EXPECT_EQ(document.at("written"), false);
    ASSERT_EQ(document.at("kernels").size(), 2u);
    // The stand-in of nvcc knows neither shared memory nor barriers.
    const auto& sums = document.at("kernels").at(0);
    EXPECT_EQ(sums.at("outcome"), "taken-back");
    EXPECT_THAT(sums.at("why").get<std::string>(), HasSubstr("the build ended with status 1"));
    EXPECT_TRUE(sums.at("speedup").is_null());
    const auto& scale = document.at("kernels").at(1);
    EXPECT_EQ(scale.at("outcome"), "kept");
    EXPECT_EQ(scale.at("why"), "");
    EXPECT_EQ(scale.at("file"), "columns.cu");
    EXPECT_EQ(scale.at("executor"), "emulator");
    EXPECT_TRUE(scale.at("held").is_null());
    EXPECT_EQ(scale.at("not_held"), "") << "nobody wanted it held";
    EXPECT_FALSE(scale.at("skills").empty());
    EXPECT_GT(scale.at("speedup"), 1);
    EXPECT_TRUE(scale.at("search_speedup").is_null()) << "nothing was measured in the search";
    EXPECT_GT(scale.at("model_gain"), 1);
    EXPECT_GT(document.at("gpu_time").at("speedup"), 1);
    EXPECT_EQ(document.at("gpu_time").at("seconds").size(), 3u);
    EXPECT_EQ(document.at("program_time").at("seconds").size(), 3u);
    const auto diff = document.at("diff").get<std::string>();
    EXPECT_THAT(diff, AllOf(HasSubstr("--- a/columns.cu\n+++ b/columns.cu\n"),
                            HasSubstr("-    scale<<<32, 128>>>(ds, dt, 4096);"),
                            Not(HasSubstr("__shared__")), Not(HasSubstr("/tmp"))));
    EXPECT_EQ(read(workspace.path("columns.cu")), columnProgram);
    expectNothingLeft();
}

TEST_F(OptimizeProgram, SearchesAllHotKernelsUnlessToldOtherwise) {
    std::string text = columnProgram;
    const auto replace = [&](const std::string& what, const std::string& by) {
        text.replace(text.find(what), what.size(), by);
    };
    for (const char* name : {"twice", "thrice"}) {
        replace("int main", std::string("__global__ void ") + name +
                                "(const float* x, float* y, int n) {\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i < n)\n"
                                "        y[i] = 3 * x[i];\n}\n\nint main");
        replace("    cudaMemcpy(sums.data()", std::string("    ") + name +
                                                  "<<<64, 128>>>(ds, dt, 8192);\n"
                                                  "    cudaMemcpy(sums.data()");
    }
    replace("scale<<<32, 128>>>(ds, dt, 4096)", "scale<<<64, 128>>>(ds, dt, 8192)");
    workspace.write("columns.cu", text);
    // A failed check makes the end short.
    const auto outcomes = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"--json", "--build", build(), "--check",
                                       "cmp columns.cu ../original/columns.cu"});
        const auto document = json::parse(optimize(options).output, nullptr, false);
        std::vector<std::string> all;
        if (document.is_object())
            for (const auto& kernel : document.at("kernels"))
                all.push_back(kernel.at("outcome") == "not-searched"
                                  ? kernel.at("why").get<std::string>()
                                  : "searched");
        return all;
    };
    EXPECT_THAT(outcomes({}), ElementsAre("searched", "searched", "searched", "searched"));
    EXPECT_THAT(outcomes({"--kernels", "1"}),
                ElementsAre("searched", "1 kernel at most is searched",
                            "1 kernel at most is searched", "1 kernel at most is searched"));
    const std::string less = "4 s are enough for 2 kernels that can gain more; for this one, too, ";
    EXPECT_THAT(outcomes({"--seconds", "4"}),
                UnorderedElementsAre("searched", "searched", less + "give --seconds 6",
                                     less + "give --seconds 8"));
    EXPECT_THAT(outcomes({"--seconds", "8"}),
                ElementsAre("searched", "searched", "searched", "searched"))
        << "a short try for each";
}

TEST_F(OptimizeProgram, WritesWhenAskedTo) {
    workspace.write(
        ".kernelskill/programs.json",
        json({{"columns", {{"command", "./columns"}, {"build", build()}, {"pattern", "^total"}}}})
            .dump());
    const auto result = optimize({"--program", "columns", "--kernel", "scale", "--write"}, "");
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("kept"), HasSubstr("checked by its pattern"),
                      HasSubstr("kernels of the program: "), HasSubstr("GPU time with copies: ")));
    EXPECT_THAT(result.errors, HasSubstr("written"));
    const auto text = read(workspace.path("columns.cu"));
    EXPECT_NE(text, columnProgram);
    EXPECT_THAT(text, HasSubstr("sums[column] += a[row * columns + column];"))
        << "--kernel names the other one";
    expectNothingLeft();
    // The words of a program that the workspace knows are built as it says.
    const auto again = optimize({"--kernel", "columnSums", "--check", "false"});
    EXPECT_EQ(again.status, 1);
    EXPECT_THAT(again.errors, HasSubstr("the check ended with status 1"));
}

TEST_F(OptimizeProgram, EditsAHeaderAndTheLaunchInAnotherFile) {
    writeHeaderAndSource();
    const auto result = optimize({"--kernel", "scale", "--json", "--write", "--build", build()});
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    EXPECT_EQ(document.at("kernels").at(0).at("file"), "kernels.cuh");
    EXPECT_EQ(document.at("written"), true);
    EXPECT_THAT(document.at("diff").get<std::string>(),
                AllOf(HasSubstr("+++ b/columns.cu"), HasSubstr("+++ b/kernels.cuh")));
    EXPECT_THAT(read(workspace.path("kernels.cuh")), HasSubstr("float4"));
    EXPECT_THAT(read(workspace.path("columns.cu")), Not(HasSubstr("scale<<<32, 128>>>")));
}

TEST_F(OptimizeProgram, AFailedCheckTakesEverythingBack) {
    // Passes for the original's source alone, which is beside it.
    const auto result = optimize({"--kernel", "scale", "--build", build(), "--check",
                                  "cmp columns.cu ../original/columns.cu"});
    EXPECT_EQ(result.status, 1) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("taken-back"), HasSubstr("the check ended with status 1"),
                      HasSubstr("nothing is better than the original")));
    EXPECT_THAT(result.output, Not(HasSubstr("@@")));
    expectNothingLeft();
}

TEST_F(OptimizeProgram, SaysWhatItNeeds) {
    const auto unbuilt = optimize({});
    EXPECT_EQ(unbuilt.status, 2);
    EXPECT_THAT(unbuilt.errors,
                AllOf(HasSubstr("not known how the program is built"), HasSubstr("--build 'nvcc")));
    EXPECT_EQ(run({"optimize"}).status, 2);
    EXPECT_EQ(optimize({"columns.cu", "--build", build()}).status, 2);
    EXPECT_EQ(optimize({"--report", "x.html", "--build", build()}).status, 2);
    const auto failed = optimize({"--build", "false"});
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.errors, HasSubstr("the original fails in a copy of the tree"));
    const auto unknown = optimize({"--build", build(), "--kernel", "nobody"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("no kernel 'nobody'"));
    workspace.write("big.dat", std::string(2 << 20, 'x'));
    const auto large = optimize({"--build", build(), "--copy-limit", "1"});
    EXPECT_EQ(large.status, 2);
    EXPECT_THAT(large.errors, HasSubstr("too large to copy"));
    fs::remove(workspace.path("big.dat"));
    const auto idle = optimize({"--build", "true"}, "/bin/true");
    EXPECT_EQ(idle.status, 3);
    EXPECT_THAT(idle.errors, HasSubstr("never started the CUDA driver"));
    expectNothingLeft();
}

TEST_F(OptimizeProgram, WritesNothingIfAFileChanged) {
    writeHeaderAndSource();
    const auto header = read(workspace.path("kernels.cuh"));
    const auto source = read(workspace.path("columns.cu"));
    // The user saves the file while the program is checked. Its path does not name the tree.
    fs::create_directory_symlink(workspace.path(), elsewhere.path("tree"));
    const auto result = optimize({"--kernel", "scale", "--write", "--build", build(), "--check",
                                  "echo '// new' >> " + elsewhere.path("tree/columns.cu")});
    EXPECT_EQ(result.status, 2) << result.errors;
    EXPECT_THAT(result.errors, AllOf(HasSubstr("columns.cu"), HasSubstr("nothing was written")));
    EXPECT_EQ(read(workspace.path("kernels.cuh")), header);
    EXPECT_THAT(read(workspace.path("columns.cu")), StartsWith(source + "// new\n"));
    EXPECT_THAT(read(workspace.path("columns.cu")), HasSubstr("scale<<<32, 128>>>"));
}

} // namespace
} // namespace kernelskill::lsp::testing
