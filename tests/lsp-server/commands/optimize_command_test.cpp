// `kernelskill optimize` and `kernelskill memory export|import`, as a user types them.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OptimizeCommand : public ::testing::Test {
protected:
    OptimizeCommand() { setData("data"); }
    ~OptimizeCommand() override { ::unsetenv("XDG_DATA_HOME"); }

    void setData(const char* folder) const {
        ::setenv("XDG_DATA_HOME", workspace.path(folder).c_str(), 1);
    }
    json runJson(std::vector<std::string> arguments, int status) const {
        arguments.emplace_back("--json");
        const CommandResult result = runKernelskill(arguments, workspace.path());
        EXPECT_EQ(result.status, status) << result.errors << result.output;
        return json::parse(result.output, nullptr, false);
    }
    static std::string read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
};

TEST_F(OptimizeCommand, SaysWhatEachRoundTriedAndWritesNothingUnasked) {
    const std::string file = workspace.write("t.cu", transpose);
    const std::string page = workspace.path("t.html");
    const json found = runJson(
        {"optimize", file, "--on", "emulator", "--seed", "3", "--rounds", "2", "--report", page},
        0);
    EXPECT_EQ(found.at("kernel"), "transpose");
    EXPECT_EQ(found.at("executor"), "emulator");
    EXPECT_EQ(found.at("seed"), 3);
    ASSERT_FALSE(found.at("rounds").empty());
    const json& first = found.at("rounds").at(0);
    EXPECT_EQ(first.at("round"), 1);
    EXPECT_EQ(first.at("bottleneck").at("kind"), "bank-conflicts");
    EXPECT_EQ(first.at("plan").at("skill"), "shared-memory-padding");
    EXPECT_THAT(first.at("plan").at("why").get<std::string>(), HasSubstr("bank-conflicts"));
    EXPECT_FALSE(first.at("plan").at("expected").get<std::string>().empty());
    EXPECT_FALSE(first.at("plan").at("ruled_out").empty());
    EXPECT_EQ(first.at("verdict").at("status"), "unmeasured");
    EXPECT_TRUE(first.at("kept").get<bool>());
    EXPECT_THAT(first.at("model").at("before").at("text").get<std::string>(),
                HasSubstr("(roofline of the counts, not measured)"));
    // No time beyond the least is said: it would read as a prediction.
    const json& model = first.at("model").at("before");
    EXPECT_GT(model.at("least_seconds").get<double>(), 0);
    EXPECT_FALSE(model.contains("seconds"));
    double weights = 0;
    for (const json& weight : model.at("weights"))
        weights += weight.get<double>();
    EXPECT_NEAR(weights, 1, 1e-9);
    EXPECT_GT(first.at("plan").at("score"), 0);
    EXPECT_TRUE(first.at("diagnosis").is_null()) << "it was kept";
    int dropped = 0;
    for (const json& round : found.at("rounds")) {
        if (round.at("kept") == true || round.at("verdict").is_null())
            continue;
        ++dropped;
        EXPECT_FALSE(round.at("diagnosis").at("cause").get<std::string>().empty()) << round;
    }
    EXPECT_GT(dropped, 0);
    EXPECT_TRUE(found.at("best").at("speedup").is_null()) << "it was not measured";
    EXPECT_FALSE(found.at("best").at("edits").empty());
    EXPECT_THAT(found.at("diff").get<std::string>(), HasSubstr("@@"));
    EXPECT_EQ(read(file), transpose);
    EXPECT_THAT(read(page),
                AllOf(HasSubstr("<html"), HasSubstr("Rounds"), HasSubstr("shared-memory-padding"),
                      HasSubstr("--seed 3"), HasSubstr("cause: "), Not(HasSubstr("<script"))));
    const json memory = runJson({"memory", "show", file}, 0);
    const json& last = memory.at("entries").back();
    EXPECT_EQ(last.at("kind"), "verdict");
    for (const char* field : {"kernelHash", "resultHash", "architecture", "kept"})
        EXPECT_TRUE(last.contains(field)) << field;
}

TEST_F(OptimizeCommand, WritesTheBestAndFindsNothingMoreInIt) {
    const std::string file = workspace.write("t.cu", transpose);
    const json first = runJson({"optimize", file, "--on", "emulator", "--write"}, 0);
    const std::string written = read(file);
    EXPECT_NE(written, transpose);
    const json second = runJson({"optimize", file, "--on", "emulator", "--write"}, 1);
    EXPECT_FALSE(second.at("best").at("improved").get<bool>());
    EXPECT_EQ(read(file), written);
    EXPECT_FALSE(second.at("stop").at("text").get<std::string>().empty());
}

TEST_F(OptimizeCommand, TheLaunchInTheFileThatIncludesTheKernelFollows) {
    const std::string kernel = "__global__ void sums(float* a, float* y, int rows, int columns) {\n"
                               "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (row >= rows)\n"
                               "        return;\n"
                               "    float sum = 0.0f;\n"
                               "    for (int column = 0; column < columns; ++column)\n"
                               "        sum += a[row * columns + column];\n"
                               "    y[row] = sum;\n"
                               "}\n";
    const std::string launches = "#include \"sums_kernel.cu\"\n"
                                 "int main() {\n"
                                 "    float *a, *y;\n"
                                 "    cudaMalloc(&a, 8192 * 512 * sizeof(float));\n"
                                 "    cudaMalloc(&y, 8192 * sizeof(float));\n"
                                 "    sums<<<8192 / 128, 128>>>(a, y, 8192, 512);\n"
                                 "}\n";
    const std::string file = workspace.write("sums_kernel.cu", kernel);
    const std::string main = workspace.write("sums.cu", launches);
    const json found =
        runJson({"optimize", file, "--on", "emulator", "--rounds", "1", "--write"}, 0);
    EXPECT_THAT(found.at("diff").get<std::string>(),
                AllOf(HasSubstr("b/sums_kernel.cu"), HasSubstr("b/sums.cu")));
    EXPECT_NE(read(file), kernel);
    EXPECT_THAT(read(main), Not(HasSubstr("sums<<<8192 / 128, 128>>>")));
}

TEST_F(OptimizeCommand, AKernelThatNoSkillFitsIsLeftAloneAndThatIsSaid) {
    const std::string file =
        workspace.write("one.cu", "// kernelskill: launch one<<<1, 32>>>(p=zero[32])\n"
                                  "__global__ void one(volatile int* p) { p[threadIdx.x] = 1; }\n");
    const json found = runJson({"optimize", file, "--on", "emulator"}, 1);
    EXPECT_EQ(found.at("stop").at("reason"), "no-plan-left");
    EXPECT_FALSE(found.at("ruled_out").empty());
    const CommandResult said = runKernelskill({"optimize", file, "--on", "emulator"});
    EXPECT_EQ(said.status, 1);
    EXPECT_THAT(said.output, HasSubstr("nothing is better than the original"));
}

TEST_F(OptimizeCommand, RefusesWrongUsage) {
    const std::string file = workspace.write("t.cu", transpose);
    EXPECT_EQ(runKernelskill({"optimize", file, "--rounds", "0"}).status, 2);
    EXPECT_EQ(runKernelskill({"optimize", file, "--seconds", "-3"}).status, 2);
    EXPECT_EQ(runKernelskill({"optimize", file, "--on", "abacus"}).status, 2);
    EXPECT_EQ(runKernelskill({"optimize", file, "--kernel", "gone"}).status, 2);
    EXPECT_EQ(runKernelskill({"optimize", workspace.path("gone.cu")}).status, 2);
}

TEST_F(OptimizeCommand, OutcomesTravelToAnotherUserOnce) {
    const std::string file = workspace.write("t.cu", transpose);
    const std::string shared = workspace.path("outcomes.json");
    EXPECT_EQ(runKernelskill({"memory", "export", shared}).status, 1) << "there is none yet";
    const json found = runJson({"optimize", file, "--on", "emulator", "--rounds", "1"}, 0);
    const auto outcomes = found.at("rounds").size();
    EXPECT_EQ(runJson({"memory", "export", shared}, 0).at("outcomes"), outcomes);
    EXPECT_THAT(read(shared), Not(HasSubstr("blockIdx"))) << "no code leaves";
    setData("other");
    EXPECT_EQ(runJson({"memory", "import", shared}, 0).at("added"), outcomes);
    EXPECT_EQ(runJson({"memory", "import", shared}, 1).at("added"), 0);
    EXPECT_EQ(runKernelskill({"memory", "import", file}).status, 2);
    EXPECT_EQ(runKernelskill({"memory", "import", workspace.path("gone.json")}).status, 2);
}

} // namespace
} // namespace kernelskill::lsp::testing
