/// `kernelskill generate` for PyTorch programs, as its users run it.
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string archiveOf(const std::string& name) {
    return std::string(paths::sourceFolder) + "/tests/engine/graph/programs/" + name;
}

class GenerateModel : public ::testing::Test {
protected:
    CommandResult generate(const std::string& archive, std::vector<std::string> options = {}) {
        std::vector<std::string> arguments{"generate", archiveOf(archive), "-o", folder};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return runKernelskill(arguments, workspace.path());
    }
    static std::string read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
    const std::string folder = workspace.path("model");
    const bool hasLibTorch = !std::string_view(paths::torchProgram).empty();
};

TEST_F(GenerateModel, ChecksKernelsOnTheEmulatorBesideLibTorch) {
    if (!hasLibTorch)
        GTEST_SKIP() << "LibTorch was not found";
    for (const std::string precision : {"float32", "tf32x3", "bf16x3", "tf32"}) {
        const CommandResult result = generate("mlp.pt2", {"--precision=" + precision});
        ASSERT_EQ(result.status, 0) << result.errors;
        EXPECT_THAT(result.output,
                    AllOf(HasSubstr("\nchecked: "), HasSubstr("agree with LibTorch on the "
                                                              "emulator, with x float32[")));
        EXPECT_THAT(read(folder + "/report.html"), HasSubstr("with LibTorch on the emulator"));
    }
    const json document = json::parse(generate("conv.pt2", {"--json"}).output);
    EXPECT_EQ(document.at("check").at("outcome"), "agrees");
    EXPECT_GT(document.at("check").at("kernels"), 1);
    EXPECT_LT(document.at("check").at("largest_error"), 1e-4);
}

TEST_F(GenerateModel, TakesResultsOfLibrariesFromLibTorch) {
    if (!hasLibTorch)
        GTEST_SKIP() << "LibTorch was not found";
    const CommandResult result = generate("lstm.pt2");
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, AllOf(HasSubstr("left to a library"), HasSubstr("\nchecked: ")));
}

TEST_F(GenerateModel, SaysThatNothingWasChecked) {
    const CommandResult result = generate("mlp.pt2", {"--no-check"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("\nnot checked on the emulator: not asked for\n"));
}

TEST_F(GenerateModel, SaysThatNothingWasMeasured) {
    ::setenv("CUDA_VISIBLE_DEVICES", "", 1); // Whatever GPU is here.
    const CommandResult result = generate("mlp.pt2", {"--no-check", "--libraries"});
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("\nnot measured, so all products are left to libraries: "),
                      HasSubstr("\nnot compared with LibTorch on a GPU: ")));
    EXPECT_THAT(read(folder + "/report.html"), HasSubstr("Nothing was measured"));
    const json document = json::parse(
        generate("mlp.pt2", {"--no-check", "--libraries", "--seconds=0", "--json"}).output);
    EXPECT_EQ(document.at("measured").at("gpu"), "");
    EXPECT_EQ(document.at("measured").at("why"), "not asked for");
    EXPECT_EQ(document.at("measured").at("accuracy").at("outcome"), "not compared");
    EXPECT_EQ(json::parse(read(folder + "/model.json")).at("measured"), document.at("measured"));
    EXPECT_FALSE(
        json::parse(generate("mlp.pt2", {"--no-check", "--json"}).output).contains("measured"));
}

TEST_F(GenerateModel, LeavesConvolutionsToLibrariesInEitherOrder) {
    const auto isInThatOrder = [&](std::vector<std::string> more) {
        std::vector<std::string> options{"--no-check", "--libraries", "--seconds=0"};
        options.insert(options.end(), more.begin(), more.end());
        const CommandResult result = generate("conv.pt2", std::move(options));
        EXPECT_EQ(result.status, 0) << result.errors;
        return result.output.contains(", in channels-last order");
    };
    EXPECT_FALSE(isInThatOrder({}));
    EXPECT_TRUE(isInThatOrder({"--channels-last"}));
    EXPECT_THAT(read(folder + "/report.html"), HasSubstr(", in channels-last order"));
}

TEST_F(GenerateModel, HasLibrariesWithoutTf32AtTheTightTolerance) {
    const auto needsFloat32 = [&](const std::string& tolerance) {
        const json document =
            json::parse(generate("conv.pt2", {"--no-check", "--libraries", "--seconds=0", "--json",
                                              "--tolerance=" + tolerance})
                            .output);
        EXPECT_EQ(document.at("measured").at("accuracy").at("tolerance"), tolerance);
        std::vector<bool> all;
        for (const json& step : document.at("steps"))
            if (step.contains("needs_float32"))
                all.push_back(step.at("needs_float32").get<bool>());
        return all;
    };
    EXPECT_THAT(needsFloat32("1e-2"), Not(Contains(true)));
    EXPECT_THAT(needsFloat32("1e-4"), Contains(true));
}

TEST_F(GenerateModel, WritesNothingOfWhatItRefuses) {
    const CommandResult mutation = generate("mutates.pt2");
    EXPECT_EQ(mutation.status, 1);
    EXPECT_THAT(mutation.errors, HasSubstr("error: "));
    EXPECT_FALSE(std::filesystem::exists(folder));

    std::string bytes = read(archiveOf("mlp.pt2"));
    bytes.resize(bytes.size() / 2);
    const std::string truncated = workspace.write("truncated.pt2", bytes);
    const CommandResult broken =
        runKernelskill({"generate", truncated, "-o", folder}, workspace.path());
    EXPECT_EQ(broken.status, 2);
    EXPECT_THAT(broken.errors, AllOf(HasSubstr("truncated.pt2"), Not(HasSubstr("internal"))));
    const CommandResult own = generate("mlp.pt2", {"--no-check", "--tolerance=1e-4"});
    EXPECT_EQ(own.status, 2);
    EXPECT_THAT(own.errors, HasSubstr("chosen by measurement"));
    EXPECT_EQ(generate("mlp.pt2", {"--libraries", "--tolerance=1e-3"}).status, 2);
    const CommandResult alone = generate("conv.pt2", {"--no-check", "--channels-last"});
    EXPECT_EQ(alone.status, 2);
    EXPECT_THAT(alone.errors, HasSubstr("convolutions that are left to libraries"));
    EXPECT_FALSE(std::filesystem::exists(folder));
}

} // namespace
} // namespace kernelskill::lsp::testing
