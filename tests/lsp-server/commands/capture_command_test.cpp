// `kernelskill capture` around a program, on a stand-in of driver and CUPTI
// (tests/engine/capture/fake_gpu).
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As the program has it.
constexpr const char* saxpy = R"(
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
)";

class CaptureCommand : public ::testing::Test {
protected:
    CaptureCommand() {
        ::setenv("LD_LIBRARY_PATH", paths::fakeGpuFolder, 1);
        workspace_.write("saxpy.cu", saxpy);
        // A toolkit with the stand-in of CUPTI.
        workspace_.write("toolkit/include/cuda_runtime.h", "");
        fs::create_directories(workspace_.path("toolkit/lib64"));
        fs::create_symlink(fs::path(paths::fakeGpuFolder) / "libcupti.so.13",
                           workspace_.path("toolkit/lib64/libcupti.so"));
    }
    ~CaptureCommand() override { ::unsetenv("LD_LIBRARY_PATH"); }

    [[nodiscard]] CommandResult run(const std::vector<std::string>& arguments) const {
        return runKernelskill(arguments, workspace_.path());
    }
    [[nodiscard]] CommandResult capture(const std::vector<std::string>& words,
                                        std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"capture", "--cuda-path", workspace_.path("toolkit")});
        options.insert(options.end(), {"--", paths::fakeCaptureProgram});
        options.insert(options.end(), words.begin(), words.end());
        return run(options);
    }
    [[nodiscard]] json list() const {
        return json::parse(run({"capture", "list", "--json"}).output, nullptr, false);
    }

    TemporaryWorkspace workspace_;
};

TEST_F(CaptureCommand, LeavesTheProgramAsItIs) {
    const auto result = capture({"launch", "launch", "fail"});
    EXPECT_EQ(result.status, 7) << result.errors;
    EXPECT_EQ(result.output, "2502500\n");
    EXPECT_THAT(result.errors, AllOf(HasSubstr("captured 1 launch, 8 kB"),
                                     HasSubstr("saxpy  launch 1, grid 4x1x1, block 256x1x1")));
    const auto listed = list();
    ASSERT_TRUE(listed.is_object());
    ASSERT_EQ(listed.at("launches").size(), 1u);
    const auto& launch = listed.at("launches").at(0);
    EXPECT_EQ(launch.at("kernel"), "saxpy");
    EXPECT_EQ(launch.at("parameters").at(2).at("buffer").at("bytes"), 4000);
    EXPECT_TRUE(fs::exists(launch.at("manifest").get<std::string>()));
    EXPECT_TRUE(fs::exists(workspace_.path(".kernelskill/captures/.gitignore")));
    for (const auto& entry : fs::directory_iterator(workspace_.path(".kernelskill/captures")))
        EXPECT_THAT(entry.path().filename().string(),
                    ::testing::AnyOf("launches", "data", ".gitignore"));
}

TEST_F(CaptureCommand, MakesProfilesUseTheData) {
    const auto before = run({"profile", "saxpy.cu", "--kernel", "saxpy", "--json"});
    ASSERT_EQ(before.status, 0) << before.errors;
    EXPECT_EQ(json::parse(before.output).at("launch").at("origin"), "guessed");
    ASSERT_EQ(capture({"launch"}).status, 0);
    const auto after = run({"profile", "saxpy.cu", "--kernel", "saxpy", "--json"});
    ASSERT_EQ(after.status, 0) << after.errors;
    const auto launch = json::parse(after.output).at("launch");
    EXPECT_EQ(launch.at("origin"), "captured");
    EXPECT_EQ(launch.at("grid"), json({4, 1, 1}));
    EXPECT_THAT(launch.at("notes").dump(),
                HasSubstr("captured from '" + std::string(paths::fakeCaptureProgram) +
                          " launch', launch 1 of this kernel"));
    ASSERT_EQ(run({"capture", "clear"}).status, 0);
    const auto cleared = run({"profile", "saxpy.cu", "--kernel", "saxpy", "--json"});
    EXPECT_EQ(json::parse(cleared.output).at("launch").at("origin"), "guessed");
}

TEST_F(CaptureCommand, GivesOneDocument) {
    const auto result = capture({"launch", "own-stream", "empty"}, {"--json", "--launches", "2"});
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    EXPECT_EQ(document.at("status"), 0);
    EXPECT_EQ(document.at("launches").size(), 3u);
    EXPECT_THAT(result.errors, HasSubstr("2502500")) << "what the program says";
}

TEST_F(CaptureCommand, SaysWhatIsMissing) {
    const auto none = run({"capture"});
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.errors, HasSubstr("no program to run"));
    EXPECT_EQ(run({"capture", "--", "/nowhere/program"}).status, 3);
    const auto idle = run({"capture", "--", "/bin/true"});
    EXPECT_EQ(idle.status, 1);
    EXPECT_THAT(idle.errors, HasSubstr("did not start the CUDA driver"));
    const auto other = capture({"launch"}, {"--kernel", "softmax"});
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.errors, HasSubstr("no kernel that was asked for"));
    EXPECT_EQ(run({"capture", "--launches", "0", "--", "/bin/true"}).status, 2);
    EXPECT_EQ(run({"capture", "list"}).status, 1);
}

TEST_F(CaptureCommand, NamesDamagedCaptures) {
    ASSERT_EQ(capture({"launch"}).status, 0);
    workspace_.write(".kernelskill/captures/launches/other.json", "{}");
    const auto listed = run({"capture", "list"});
    EXPECT_EQ(listed.status, 0);
    EXPECT_THAT(listed.errors, AllOf(HasSubstr("a capture is ignored"), HasSubstr("other.json")));
}

} // namespace
} // namespace kernelskill::lsp::testing
