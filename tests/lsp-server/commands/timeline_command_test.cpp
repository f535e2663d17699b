// `kernelskill timeline` around a program, with a toolkit whose CUPTI needs no GPU.
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TimelineCommand : public ::testing::Test {
protected:
    void SetUp() override {
        ::unsetenv("KERNELSKILL_IGNORE_TOOLKIT"); // the toolkit is the test's own
        const std::string header = "toolkit/include/cuda_runtime.h";
        workspace_.write(header, "");
        std::filesystem::create_directories(workspace_.path("toolkit/lib64"));
        std::filesystem::create_symlink(paths::fakeCupti,
                                        workspace_.path("toolkit/lib64/libcupti.so"));
    }
    [[nodiscard]] CommandResult run(std::vector<std::string> options,
                                    const std::vector<std::string>& program) const {
        options.insert(options.begin(), {"timeline", "--cuda-path", workspace_.path("toolkit")});
        options.emplace_back("--");
        options.insert(options.end(), program.begin(), program.end());
        return runKernelskill(options, workspace_.path());
    }

    TemporaryWorkspace workspace_;
    const std::string program_ = paths::fakeTimelineProgram;
};

TEST_F(TimelineCommand, ListsKernelsByTheirTime) {
    const auto result = run({}, {program_, "hello"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, AllOf(HasSubstr("hello"), HasSubstr("GPU 0"), HasSubstr("busy"),
                                     HasSubstr("scale(float*)"),
                                     HasSubstr("grid 128x1x1, block 256x1x1, 40 registers")));
}

TEST_F(TimelineCommand, GivesOneDocumentAndKeepsTheProgramsOutputOutOfIt) {
    const auto result = run({"--json"}, {program_, "hello", "3"});
    EXPECT_EQ(result.status, 0);
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    EXPECT_EQ(document.at("status"), 3);
    EXPECT_EQ(document.at("kernels").at(0).at("name"), "scale(float*)");
    EXPECT_EQ(document.at("kernels").at(0).at("launches"), 2);
    EXPECT_EQ(document.at("kernels").at(0).at("total_ns"), 10'000);
    EXPECT_EQ(document.at("devices").at(0).at("busy_ns"), 12'500);
    EXPECT_THAT(result.errors, HasSubstr("hello"));
}

TEST_F(TimelineCommand, WritesATrace) {
    const auto path = workspace_.path("trace.json");
    EXPECT_EQ(run({"--trace", path}, {program_}).status, 0);
    std::ifstream stream(path);
    EXPECT_FALSE(json::parse(stream).at("traceEvents").empty());
}

TEST_F(TimelineCommand, NamesWhatIsMissing) {
    EXPECT_EQ(run({}, {}).status, 2);
    EXPECT_EQ(run({}, {"/nowhere/program"}).status, 3);
    const auto unused = run({}, {"/bin/true"});
    EXPECT_EQ(unused.status, 3);
    EXPECT_THAT(unused.errors, HasSubstr("never started the CUDA driver"));
}

TEST_F(TimelineCommand, DoesNotTakeThePlaceOfAnotherTool) {
    ::setenv("CUDA_INJECTION64_PATH", "/opt/another/tool.so", 1);
    const auto refused = run({}, {program_});
    ::unsetenv("CUDA_INJECTION64_PATH");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, HasSubstr("/opt/another/tool.so"));
}

} // namespace
} // namespace kernelskill::lsp::testing
