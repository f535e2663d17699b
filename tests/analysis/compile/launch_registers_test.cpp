#include "analysis/command/toolchain.h"
#include "analysis/compile/launch_registers.h"
#include "analysis/parse/translation_unit.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const MultiprocessorLimits hopper = *limitsOf({9, 0});

TEST(LaunchRegisters, AreAsManyAsAMultiprocessorHas) {
    EXPECT_EQ(launchableRegisters({1024, 72, 0}, hopper), 64);
    EXPECT_EQ(launchableRegisters({1024, 64, 0}, hopper), std::nullopt);
    EXPECT_EQ(launchableRegisters({512, 255, 0}, hopper), 128);
    EXPECT_EQ(launchableRegisters({768, 96, 0}, hopper), 80); // in steps of 8
    EXPECT_EQ(launchableRegisters({256, 255, 0}, hopper), std::nullopt);
}

TEST(LaunchRegisters, AreNotWhatKeepsOtherBlocksFromALaunch) {
    EXPECT_EQ(launchableRegisters({2048, 16, 0}, hopper), std::nullopt);
    EXPECT_EQ(launchableRegisters({1024, 72, 1 << 20}, hopper), std::nullopt);
    EXPECT_EQ(launchableRegisters({1024, std::nullopt, 0}, hopper), std::nullopt);
}

FileModel parsed(const std::string& text) {
    const auto toolchain = findToolchain({.cudaPath = {}, .ignoreToolkit = true});
    EXPECT_TRUE(toolchain) << toolchain.error().describe();
    const auto path = std::filesystem::path(paths::sourceFolder) / "examples/registers.cu";
    auto model =
        analyzeFile(path, text, CompileCommands().inferred(path, path.parent_path()), *toolchain);
    EXPECT_TRUE(model) << model.error().describe();
    return model ? *std::move(model) : FileModel{};
}

std::vector<std::string> launchesFound(const FileModel& model, std::uint32_t registers,
                                       std::string_view architecture = "sm_90") {
    std::vector<std::string> places;
    for (const Diagnostic& finding :
         launchRegisterFindings(model, model.kernels.front(), architecture, registers))
        places.emplace_back(model.source->slice(finding.span));
    return places;
}

TEST(LaunchRegisters, AreFoundAtTheLaunchesThatFail) {
    const FileModel model = parsed(R"(
constexpr int wide = 32;
__global__ void k(float* x) { x[threadIdx.x] = 1; }
void run(float* x, int n) {
    dim3 block(wide, wide);
    k<<<1, block>>>(x);
    k<<<2, 512>>>(x);
    k<<<3, dim3(n, 1024)>>>(x);
    k<<<4, n>>>(x);
}
)");
    EXPECT_THAT(launchesFound(model, 72), ElementsAre("<<<1, block>>>", "<<<3, dim3(n, 1024)>>>"));
    EXPECT_THAT(launchesFound(model, 64), IsEmpty());
    EXPECT_THAT(launchesFound(model, 72, "native"), IsEmpty());
    const auto findings = launchRegisterFindings(model, model.kernels.front(), "sm_90", 72);
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].severity, Severity::Warning);
    EXPECT_FALSE(isCompileError(findings[0]));
    EXPECT_EQ(findings[0].code, "launch-registers");
    EXPECT_THAT(findings[0].message,
                HasSubstr("'k' takes 72 registers for each of 1024 threads, and such a block may "
                          "take 64; __launch_bounds__(1024)"));
}

TEST(LaunchRegisters, AreOfOneInstanceOfATemplate) {
    const std::string kernel = "template <int N> __global__ void k(float* x) { x[N] = 1; }\n";
    EXPECT_THAT(
        launchesFound(parsed(kernel + "void run(float* x) { k<1><<<1, 1024>>>(x); }\n"), 72),
        ElementsAre("<<<1, 1024>>>"));
    EXPECT_THAT(launchesFound(parsed(kernel + "void run(float* x) { k<1><<<1, 1024>>>(x);\n"
                                              "    k<2><<<1, 1024>>>(x); }\n"),
                              72),
                IsEmpty());
}

} // namespace
} // namespace kernelskill::analysis
