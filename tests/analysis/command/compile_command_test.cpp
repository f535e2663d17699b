#include "analysis/command/compile_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::analysis {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CompileCommandTest : public ::testing::Test {
protected:
    CompileCommandTest() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::weakly_canonical(::testing::TempDir()) / (std::string("ks_") + test->name());
        fs::remove_all(root_);
        fs::create_directories(root_);
    }
    ~CompileCommandTest() override { fs::remove_all(root_); }

    fs::path write(const fs::path& name, const std::string& text) const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
        return root_ / name;
    }

    fs::path root_;
};

TEST_F(CompileCommandTest, FindsTheDatabaseInABuildFolderAbove) {
    write(
        "build/compile_commands.json",
        R"([{"directory": "..", "file": "src/a.cu", "command": "nvcc -DNAME=\"x y\" -I inc -c src/a.cu"}])");
    const fs::path file = write("src/a.cu", "");
    const Result<CompileCommand> command = CompileCommands().commandFor(file, root_);
    ASSERT_TRUE(command) << command.error().describe();
    EXPECT_EQ(command->origin, CommandOrigin::CompilationDatabase);
    EXPECT_THAT(command->definitions, ElementsAre("NAME=x y"));
    EXPECT_THAT(command->includeDirs, ElementsAre((root_ / "inc").string()));
}

TEST_F(CompileCommandTest, UnderstandsArgumentListsAndLaunchers) {
    write(
        "compile_commands.json",
        R"([{"directory": ".", "file": "a.cu", "arguments": ["ccache", "nvcc", "-DONE", "-c", "a.cu"]}])");
    const Result<CompileCommand> command = CompileCommands().commandFor(write("a.cu", ""), root_);
    ASSERT_TRUE(command);
    EXPECT_THAT(command->definitions, ElementsAre("ONE"));
}

TEST_F(CompileCommandTest, SaysWhichFileALeftOutFlagIsFrom) {
    const fs::path database = write(
        "compile_commands.json",
        R"([{"directory": ".", "file": "a.cu", "command": "/evil/nvcc -ccbin /evil.sh -c a.cu"}])");
    const Result<CompileCommand> command = CompileCommands().commandFor(write("a.cu", ""), root_);
    ASSERT_TRUE(command);
    EXPECT_THAT(command->notes,
                ElementsAre(database.string() + ": '-ccbin /evil.sh' is left out: it could make a "
                                                "compiler run a program or a plug-in"));
}

TEST_F(CompileCommandTest, AHeaderTakesTheCommandOfTheClosestSource) {
    write("compile_commands.json", R"([
        {"directory": ".", "file": "far/b.cu", "command": "nvcc -DFAR -c far/b.cu"},
        {"directory": ".", "file": "near/a.cu", "command": "nvcc -DNEAR -c near/a.cu"}])");
    const Result<CompileCommand> command =
        CompileCommands().commandFor(write("near/deep/h.cuh", ""), root_);
    ASSERT_TRUE(command);
    EXPECT_THAT(command->definitions, ElementsAre("NEAR"));
}

TEST_F(CompileCommandTest, AKernelsSourceTakesNoCommandOfACppFile) {
    write("compile_commands.json", R"([
        {"directory": ".", "file": "near/host.cpp", "command": "g++ -DHOST -Iinc -c near/host.cpp"}])");
    const Result<CompileCommand> unlisted =
        CompileCommands().commandFor(write("near/kernel.cu", ""), root_);
    ASSERT_TRUE(unlisted);
    EXPECT_EQ(unlisted->origin, CommandOrigin::Inferred);
    EXPECT_THAT(unlisted->definitions, IsEmpty());
    const Result<CompileCommand> header =
        CompileCommands().commandFor(write("near/shared.h", ""), root_);
    ASSERT_TRUE(header);
    EXPECT_THAT(header->definitions, ElementsAre("HOST"));
}

TEST_F(CompileCommandTest, AMalformedDatabaseIsNamedWithItsLine) {
    const fs::path database =
        write("compile_commands.json", "[\n  {\"file\": \"a.cu\",\n  oops\n]");
    const Result<CompileCommand> command = CompileCommands().commandFor(write("a.cu", ""), root_);
    ASSERT_FALSE(command);
    EXPECT_EQ(command.error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(command.error().where, database.string() + ":3");
}

TEST_F(CompileCommandTest, ADatabaseThatIsNoListIsRefused) {
    write("compile_commands.json", "{}");
    EXPECT_FALSE(CompileCommands().commandFor(write("a.cu", ""), root_));
}

TEST_F(CompileCommandTest, FlagsFilesHoldOneArgumentALine) {
    write("compile_flags.txt", "-DX=1\n\n-I\ninc\n");
    const Result<CompileCommand> command =
        CompileCommands().commandFor(write("src/a.cu", ""), root_);
    ASSERT_TRUE(command);
    EXPECT_EQ(command->origin, CommandOrigin::FlagsFile);
    EXPECT_THAT(command->definitions, ElementsAre("X=1"));
    EXPECT_THAT(command->includeDirs, ElementsAre((root_ / "inc").string()));
}

TEST_F(CompileCommandTest, NothingAboveTheWorkspaceIsLookedAt) {
    write("compile_flags.txt", "-DOUTSIDE\n");
    const fs::path file = write("project/a.cu", "");
    const Result<CompileCommand> command = CompileCommands().commandFor(file, root_ / "project");
    ASSERT_TRUE(command);
    EXPECT_EQ(command->origin, CommandOrigin::Inferred);
    EXPECT_THAT(command->definitions, IsEmpty());
}

TEST_F(CompileCommandTest, InfersFoldersOfHeadersThatTheFileNames) {
    write("include/util.h", "#include \"deep.h\"\n");
    write("third/party/deep.h", "");
    write("common/inc/helper_cuda.h", "");
    write("unused/other.h", "");
    const fs::path file =
        write("src/sample/a.cu", "#include \"util.h\"\n#include <helper_cuda.h>\n");
    const CompileCommand command = CompileCommands().inferred(file, root_);
    EXPECT_THAT(command.includeDirs, Contains((root_ / "include").string()));
    EXPECT_THAT(command.includeDirs, Contains((root_ / "third/party").string()));
    EXPECT_THAT(command.includeDirs, Contains((root_ / "common/inc").string()));
    EXPECT_THAT(command.includeDirs, ::testing::Not(Contains((root_ / "unused").string())));
}

TEST_F(CompileCommandTest, DoesNotGuessFoldersForHeadersOfTheToolkit) {
    write("copies/cuda_runtime.h", "");
    const fs::path file = write("a.cu", "#include <cuda_runtime.h>\n");
    EXPECT_THAT(CompileCommands().inferred(file, root_).includeDirs, IsEmpty());
}

TEST_F(CompileCommandTest, GuessesNoFolderThatWouldHideAHeaderOfCudaOrTheSystem) {
    write("vendors/cuda.h", "#include <cuda.h>\n");
    write("vendors/other.h", "#include <other.h>\n");
    write("compat/math.h", "");
    write("compat/unistd_w.h", "");
    const fs::path file =
        write("a.cu", "#include \"vendors/cuda.h\"\n#include \"vendors/other.h\"\n"
                      "#include \"unistd_w.h\"\n");
    EXPECT_THAT(CompileCommands().inferred(file, root_).includeDirs, IsEmpty());
}

TEST_F(CompileCommandTest, FindsTheUsersHeadersThatSoundLikeCudas) {
    write("common/cuda_utils.h", "");
    write("tools/cublas_helper.h", "");
    const fs::path file =
        write("src/a.cu", "#include \"cuda_utils.h\"\n#include \"cublas_helper.h\"\n");
    EXPECT_THAT(
        CompileCommands().inferred(file, root_).includeDirs,
        ::testing::UnorderedElementsAre((root_ / "common").string(), (root_ / "tools").string()));
}

TEST_F(CompileCommandTest, LooksForNoHeaderOfAnotherPlatform) {
    write("win/windows.h", "");
    write("mac/Accelerate.h", "");
    write("posix/clock.h", "");
    const fs::path file = write("a.cu", "#if defined(_WIN32) || defined(_WIN64)\n"
                                        "#  include <windows.h>\n"
                                        "#elif defined __APPLE__\n"
                                        "#ifdef SOMETHING\n#include <Accelerate.h>\n#endif\n"
                                        "#else\n#include <clock.h>\n#endif\n"
                                        "#ifdef _MSC_VER\n#include <windows.h>\n#endif\n");
    EXPECT_THAT(CompileCommands().inferred(file, root_).includeDirs,
                ElementsAre((root_ / "posix").string()));
}

} // namespace
} // namespace kernelskill::analysis
