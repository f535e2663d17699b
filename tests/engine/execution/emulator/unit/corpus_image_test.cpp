/// Every kernel of the corpus and the examples either builds or is refused by name with its line.
#include "analysis/command/compile_command.h"
#include "analysis/parse/translation_unit.h"
#include "engine/execution/emulator/emulation_image.h"
#include "engine/inputs/launch_inference.h"
#include "tests/file_parameters.h"
#include "tests/paths.h"
#include "tests/samples.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;

std::vector<std::filesystem::path> corpus() {
    std::vector<std::filesystem::path> files;
    for (const auto* folder : {"examples", "tests/corpus"}) {
        std::error_code ignored;
        for (const auto& item : std::filesystem::directory_iterator(
                 std::filesystem::path(paths::sourceFolder) / folder, ignored)) {
            if (item.path().extension() == ".cu")
                files.push_back(item.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

class CorpusImage : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(CorpusImage, isBuiltOrRefusedByName) {
    const auto toolchain = analysis::findToolchain({.cudaPath = {}, .ignoreToolkit = true});
    ASSERT_TRUE(toolchain) << toolchain.error().describe();
    std::ifstream stream(GetParam(), std::ios::binary);
    std::ostringstream contents;
    contents << stream.rdbuf();
    ProgramSource program;
    program.file = GetParam().string();
    program.text = contents.str();
    program.command = analysis::CompileCommands().inferred(GetParam(), GetParam().parent_path());
    auto model = analysis::analyzeFile(program.file, program.text, program.command, *toolchain);
    ASSERT_TRUE(model) << model.error().describe();
    program.model = std::make_shared<analysis::FileModel>(std::move(*model));

    const TemporaryFolder cache;
    const ImageOptions options{.hostCompiler = findHostCompiler({}).value(),
                               .preludeInclude = toolchain->preludeInclude,
                               .cacheDirectory = cache.path()};
    for (const auto& kernel : program.model->kernels) {
        const auto launches = inferLaunches(*program.model, kernel);
        if (!launches) {
            EXPECT_EQ(launches.error().kind, ErrorKind::Unsupported) << launches.error().describe();
            EXPECT_FALSE(launches.error().where.empty()) << kernel.name;
            continue;
        }
        ASSERT_FALSE(launches->empty()) << kernel.name;
        EXPECT_EQ(launches->front().arguments.size(), kernel.parameters.size()) << kernel.name;
        const auto image = buildEmulationImage({program, kernel}, launches->front(), options, {});
        if (!image) {
            EXPECT_EQ(image.error().kind, ErrorKind::Unsupported)
                << kernel.name << ": " << image.error().describe();
            EXPECT_FALSE(image.error().where.empty()) << kernel.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Files, CorpusImage, ::testing::ValuesIn(sampleOf(corpus(), 3)),
                         kernelskill::testing::fileTestName);

} // namespace
} // namespace kernelskill::engine
