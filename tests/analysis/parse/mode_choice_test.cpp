#include "analysis/parse/mode_choice.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;

/// A toolkit and a prelude of a few headers.
class ModeChoiceTest : public ::testing::Test {
protected:
    ModeChoiceTest() {
        write("cuda/include/cuda_runtime.h", "#include \"inner.h\"\nint cudaRareCall(int size);\n");
        write("cuda/include/inner.h", "struct cudaRareThing;\n");
        write("cuda/include/curand_mtgp32.h", "");
        write("cuda/include/cooperative_groups.h", "");
        write("cuda/include/cccl/cub/cub.cuh", "");
        write("prelude/prelude.h", "#include \"cuda_runtime.h\"\n");
        write("prelude/cuda_runtime.h", "int cudaMalloc(int size);\n");
        write("prelude/cooperative_groups.h", "");
        write("prelude/cub/cub.cuh", "");
        toolchain_.preludeInclude = root_ / "prelude";
        toolchain_.toolkit = CudaToolkit{root_ / "cuda", 13000};
    }
    ~ModeChoiceTest() override {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }

    fs::path root_ =
        fs::temp_directory_path() / ("kernelskill-mode-choice-" + std::to_string(::getpid()));
    Toolchain toolchain_;
};

TEST_F(ModeChoiceTest, AsksForTheToolkitWhereThePreludeLacksOrSketchesAHeader) {
    EXPECT_TRUE(isOnlyInToolkit("curand_mtgp32.h", toolchain_));
    EXPECT_TRUE(isOnlyInToolkit("cub/cub.cuh", toolchain_));
}

TEST_F(ModeChoiceTest, LeavesToThePreludeWhatItCoversAndWhatIsNotCudas) {
    EXPECT_FALSE(isOnlyInToolkit("cooperative_groups.h", toolchain_));
    EXPECT_FALSE(isOnlyInToolkit("vector", toolchain_));
    toolchain_.toolkit.reset();
    EXPECT_FALSE(isOnlyInToolkit("curand_mtgp32.h", toolchain_));
}

TEST_F(ModeChoiceTest, DropsFoldersOfCudasHeadersAndKeepsTheUsers) {
    CompileCommand command;
    const std::string own = (root_ / "mine").string();
    command.includeDirs = {(root_ / "cuda/include").string(), own};
    command.systemIncludeDirs = {(root_ / "cuda/include/cccl").string()};
    const CompileCommand left = withoutToolkitFolders(command);
    EXPECT_EQ(left.includeDirs, std::vector<std::string>{own});
    EXPECT_TRUE(left.systemIncludeDirs.empty());
}

TEST_F(ModeChoiceTest, KnowsWhichWordsOnlyTheToolkitHas) {
    const HeaderWords words(toolchain_, {});
    EXPECT_TRUE(words.isOnlyInToolkit("cudaRareCall"));
    EXPECT_TRUE(words.isOnlyInToolkit("cudaRareThing")) << "a header that a header includes";
    EXPECT_TRUE(words.isInToolkit("size"));
    EXPECT_FALSE(words.isOnlyInToolkit("size")) << "the prelude says it as well";
    EXPECT_FALSE(words.isInToolkit("cudaRare")) << "part of a word";
}

TEST(NamesInErrors, AreTheQuotedIdentifiersOfErrorsOnly) {
    Diagnostic error;
    error.message = "no member named 'pitch' in 'const cudaExtent'; expected ';'";
    Diagnostic warning;
    warning.severity = Severity::Warning;
    warning.message = "unused variable 'unused'";
    EXPECT_EQ(namesInErrors({error, warning}), (std::set<std::string>{"cudaExtent", "pitch"}));
}

} // namespace
} // namespace kernelskill::analysis
