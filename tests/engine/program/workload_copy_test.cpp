#include "engine/program/command_words.h"
#include "engine/program/workload_copy.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(WorkloadCopy, MovesPathsOfTheTreeAndNoOthers) {
    const auto moved = [](std::string_view text) {
        return withMovedPath(text, "/home/a", "/tmp/c");
    };
    EXPECT_EQ(moved("/home/a"), "/tmp/c");
    EXPECT_EQ(moved("-I/home/a/include:/home/a/x"), "-I/tmp/c/include:/tmp/c/x");
    EXPECT_EQ(moved("/home/ab /home/a-b /home/a.b"), "/home/ab /home/a-b /home/a.b");
    EXPECT_EQ(moved("make -C \"/home/a\""), "make -C \"/tmp/c\"");
    EXPECT_EQ(moved(""), "");
}

TEST(WorkloadCopy, DoesNotMoveThePartOfALongerPath) {
    const auto moved = [](std::string_view text) { return withMovedPath(text, "/src", "/tmp/c"); };
    for (const char* text : {"/usr/src/include", "-I/usr/src", "sub/src", "../src/a.cu",
                             "-Isub/src", "$HOME/src", "${X}/src", "$(pwd)/src", "\"$ROOT\"/src",
                             "~/src", "*/src", "/usr//src", "/src+1", "ä/src", "/srcä"})
        EXPECT_EQ(moved(text), text);
    for (const char* prefix :
         {"", "-I", "-isystem", "-L", "-Wl,-rpath,", "--data=", "-DX=\\\"", "\"", "a \"", "-I\"",
          "/usr/include:", "cd ", "(", "a;", "<", "@", "file://"})
        EXPECT_EQ(moved(std::string(prefix) + "/src/a"), std::string(prefix) + "/tmp/c/a");
}

/// A tree with a second path that leads to it by a link.
class LinkedTree : public ::testing::Test {
protected:
    LinkedTree() {
        folder_.write("tree/bench/a.cu", "");
        std::filesystem::create_directory_symlink("tree", folder_.path() / "link");
        if (const char* folder = std::getenv("PWD"))
            before_ = folder;
        ::setenv("PWD", (folder_.path() / "link/bench").c_str(), 1);
    }
    ~LinkedTree() override { ::setenv("PWD", before_.c_str(), 1); }
    [[nodiscard]] std::string path(const char* name) const { return folder_.path() / name; }

    testing::ProgramFolder folder_;
    std::string before_;
};

TEST_F(LinkedTree, MovesTheOtherSpellingOfTheTree) {
    const auto moved = [&](const std::string& text) {
        return withMovedPath(text, path("tree"), "/tmp/c");
    };
    EXPECT_EQ(moved(path("link/data") + ":" + path("tree/lib")), "/tmp/c/data:/tmp/c/lib");
    EXPECT_EQ(moved(path("link")), "/tmp/c");
    EXPECT_EQ(moved(path("linked")), path("linked"));
    EXPECT_EQ(withMovedPath(path("link/bench"), path("tree/bench"), "/tmp/c"), "/tmp/c")
        << "a folder of the tree";
}

TEST(WorkloadCopy, NamesTheBuildFolderOfCmake) {
    Workload workload;
    workload.folder = "/home/a";
    workload.build = {"make"};
    EXPECT_EQ(cmakeBuildFolder(workload), std::nullopt);
    workload.build = {"/usr/bin/cmake", "--build", "../out/", "-j"};
    EXPECT_EQ(cmakeBuildFolder(workload), "/home/out/");
    workload.build = {"cmake", "--build", "/out"};
    EXPECT_EQ(cmakeBuildFolder(workload), "/out");
}

TEST(WorkloadCopy, RunsInTheCopy) {
    const Workload workload{.name = "w",
                            .command = {"./run", "/home/a/data"},
                            .folder = "/home/a/bench",
                            .environment = {{"LIBS", "/home/a/lib:/usr/lib"}},
                            .build = {"make", "-C", "/home/a"},
                            .check = {"diff", "-", "/home/a/expected"},
                            .pattern = "^ok",
                            .origin = "settings"};
    const Workload copy = workloadInCopy(workload, "/home/a", "/tmp/c");
    EXPECT_EQ(copy.command, (std::vector<std::string>{"./run", "/tmp/c/data"}));
    EXPECT_EQ(copy.folder, "/tmp/c/bench");
    EXPECT_EQ(copy.environment.front().second, "/tmp/c/lib:/usr/lib");
    EXPECT_EQ(copy.build.back(), "/tmp/c");
    EXPECT_EQ(copy.check.back(), "/tmp/c/expected");
    EXPECT_EQ(copy.pattern, "^ok");
}

TEST(WorkloadCopy, ConfiguresABuildFolderOfCmakeAsItIs) {
    const testing::ProgramFolder folder;
    const std::string root = folder.path().string();
    folder.write("build/CMakeCache.txt", "# comment\n//Help: a=b\n"
                                         "CMAKE_BUILD_TYPE:STRING=Release\n"
                                         "MY_DATA:PATH=" +
                                             root +
                                             "/data\n"
                                             "EMPTY:STRING=\n"
                                             "MY_FLAG:UNINITIALIZED=3\n"
                                             "demo_BINARY_DIR:STATIC=" +
                                             root +
                                             "/build\n"
                                             "CMAKE_GENERATOR:INTERNAL=Ninja\n"
                                             "CMAKE_HOME_DIRECTORY:INTERNAL=" +
                                             root + "\n");
    Workload workload{.name = "w",
                      .command = {"./build/demo"},
                      .folder = root,
                      .environment = {},
                      .build = {"cmake", "--build", "build", "--target", "demo"},
                      .check = {},
                      .pattern = {},
                      .origin = {}};
    const auto line = commandText(workloadInCopy(workload, root, "/tmp/c").build);
    EXPECT_THAT(line,
                AllOf(HasSubstr("cmake -B build -DCMAKE_BUILD_TYPE:STRING=Release "
                                "-DMY_DATA:PATH=/tmp/c/data -DMY_FLAG=3 -G Ninja -S /tmp/c && "
                                "cmake --build build --target demo"),
                      Not(HasSubstr("EMPTY")), Not(HasSubstr("STATIC"))));
    folder.write("build/CMakeCache.txt", "no cache\n");
    EXPECT_EQ(workloadInCopy(workload, root, "/tmp/c").build, workload.build);
    workload.build = {"make"};
    EXPECT_EQ(workloadInCopy(workload, root, "/tmp/c").build, workload.build);
}

} // namespace
} // namespace kernelskill::engine
