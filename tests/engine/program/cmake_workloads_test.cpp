#include "engine/program/cmake_text.h"
#include "engine/program/cmake_workloads.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CmakeWorkloads : public ::testing::Test {
protected:
    [[nodiscard]] FoundWorkloads found(std::string_view text) const {
        folder.write("CMakeLists.txt", text);
        return cmakeWorkloads(folder.path());
    }
    /// A build folder of this project.
    void configure(const std::string& name) const {
        folder.write(name + "/CMakeCache.txt",
                     "# cache\nCMAKE_HOME_DIRECTORY:INTERNAL=" + folder.path().string() + "\n");
    }
    ProgramFolder folder;
};

TEST(CmakeText, CommandsAreReadWithoutCommentsAndQuotes) {
    const auto commands =
        readCmakeCommands("# add_executable(no)\n#[==[ add_executable(no)\n ]] ]==]\n"
                          "Add_Executable( app # one\n  \"a b.cu\" [=[c]]]=] x;y "
                          "$<$<A:b>:c;d> e\\ f )\nif((A) AND B)\nendif ()");
    ASSERT_EQ(commands.size(), 3U);
    EXPECT_EQ(commands[0].name, "add_executable");
    EXPECT_EQ(commands[0].line, 4U);
    EXPECT_THAT(commands[0].arguments,
                ElementsAre("app", "a b.cu", "c]]", "x", "y", "$<$<A:b>:c;d>", "e f"));
    EXPECT_THAT(commands[1].arguments, ElementsAre("A", "AND", "B"));
    for (const char* text :
         {"", "(", ")", "a(", "a(\"", "a([[", "#[[", "a(\\", "a($<", "1 2 )(", "a\n("})
        EXPECT_LE(readCmakeCommands(text).size(), 1U) << text;
}

TEST_F(CmakeWorkloads, ExecutablesAndTestsAreFoundInTheText) {
    folder.write("sub/CMakeLists.txt", "add_executable(inner inner.cu)\n");
    const auto all = found("project(demo LANGUAGES CXX CUDA)\n"
                           "set(SOURCES main.cu util.cpp)\n"
                           "add_executable(tool tool.cpp)\n"
                           "add_executable(${PROJECT_NAME}_app ${SOURCES})\n"
                           "add_executable(other ALIAS tool)\n"
                           "add_subdirectory(sub)\n"
                           "add_test(NAME small COMMAND $<TARGET_FILE:demo_app> 16 \"a b\")\n"
                           "add_test(old inner 3)\n"
                           "add_test(NAME script COMMAND python3 x.py)\n");
    std::vector<std::string> names;
    for (const Workload& workload : all.workloads)
        names.push_back(workload.name);
    EXPECT_THAT(names, ElementsAre("small", "old", "demo_app", "inner", "tool"));
    EXPECT_THAT(named(all, "small").command, ElementsAre("build/demo_app", "16", "a b"));
    EXPECT_THAT(named(all, "old").command, ElementsAre("build/sub/inner", "3"));
    EXPECT_EQ(named(all, "inner").origin, "sub/CMakeLists.txt:1");
    EXPECT_THAT(
        named(all, "tool").build,
        ElementsAre("/bin/sh", "-c", "cmake -S . -B build && cmake --build build --target tool"));
}

TEST_F(CmakeWorkloads, AConfiguredFolderIsBuiltThere) {
    configure("out/release");
    folder.write("elsewhere/CMakeCache.txt", "\nCMAKE_HOME_DIRECTORY:INTERNAL=/another\n");
    const auto app = named(found("add_executable(app a.cu)\n"), "app");
    EXPECT_THAT(app.command, ElementsAre("out/release/app"));
    EXPECT_THAT(app.build, ElementsAre("cmake", "--build", "out/release", "--target", "app"));
}

TEST_F(CmakeWorkloads, OutputFoldersAndNamesOfTheTextCount) {
    const auto all = found("set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\n"
                           "add_executable(one one.cu)\nadd_executable(two two.cu)\n"
                           "add_executable(three three.cu)\nadd_executable(four four.cu)\n"
                           "set_target_properties(two PROPERTIES OUTPUT_NAME zwei)\n"
                           "set_target_properties(three PROPERTIES RUNTIME_OUTPUT_DIRECTORY "
                           "${CMAKE_BINARY_DIR}/$<CONFIG>)\n"
                           "set_target_properties(four PROPERTIES FOLDER x "
                           "RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/own)\n");
    EXPECT_THAT(named(all, "one").command, ElementsAre("build/bin/one"));
    EXPECT_THAT(named(all, "two").command, ElementsAre("build/bin/zwei"));
    EXPECT_THAT(named(all, "four").command, ElementsAre("build/own/four"));
    EXPECT_THAT(named(all, "three").command, IsEmpty());
    EXPECT_THAT(all.notes, ElementsAre(HasSubstr("in which folder 'three' is built")));
}

TEST_F(CmakeWorkloads, ComputedNamesAndGeneratorExpressionsAreNotes) {
    const auto all = found("foreach(name a b)\n add_executable(${name} ${name}.cu)\nendforeach()\n"
                           "function(app name)\n add_executable(${name} x.cu)\nendfunction()\n"
                           "add_executable(${UNKNOWN} y.cu)\nadd_executable(known k.cu)\n"
                           "add_test(NAME t COMMAND known $<IF:$<CONFIG:Debug>,1,2>)\n");
    ASSERT_EQ(all.workloads.size(), 1U);
    EXPECT_EQ(all.workloads[0].name, "known");
    EXPECT_THAT(all.notes, ElementsAre(HasSubstr(":2: the name of this executable is computed"),
                                       HasSubstr(":5: the name"), HasSubstr(":7: the name"),
                                       HasSubstr(":9: the command of this test is computed")));
}

TEST_F(CmakeWorkloads, TestsOfAnotherFolderRunThere) {
    const auto all = found("add_executable(app a.cu)\nadd_test(NAME t COMMAND app "
                           "WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/data)\n");
    const auto test = named(all, "t");
    EXPECT_EQ(test.folder, folder.path() / "data");
    EXPECT_THAT(test.command, ElementsAre((folder.path() / "build/app").string()));
    EXPECT_THAT(test.build.back(), HasSubstr("cd " + folder.path().string() + " && "));
}

TEST_F(CmakeWorkloads, TheFileApisReplyIsBelievedBeforeTheText) {
    configure("build");
    const std::string reply = "build/.cmake/api/v1/reply/";
    folder.write(reply + "index-2024-01-01.json", "{\"objects\": []}");
    folder.write(
        reply + "index-2025-01-01.json",
        R"({"objects": [{"kind": "cache"}, {"kind": "codemodel", "jsonFile": "m.json"}]})");
    folder.write(reply + "m.json", R"({"configurations": [{"targets": [{"jsonFile": "a.json"},
        {"jsonFile": "lib.json"}, {"jsonFile": "../../out.json"}, {"jsonFile": "absent.json"}]}]})");
    folder.write(reply + "a.json", R"({"type": "EXECUTABLE", "name": "bench_a",
        "artifacts": [{"path": "bin/bench_a"}], "compileGroups": [{"language": "CUDA"}]})");
    folder.write(reply + "lib.json", R"({"type": "STATIC_LIBRARY", "name": "lib"})");
    folder.write("build/.cmake/api/out.json", R"({"type": "EXECUTABLE", "name": "out",
        "artifacts": [{"path": "x"}]})");
    const auto all = found("foreach(n a)\nadd_executable(bench_${n} x.cu)\nendforeach()\n");
    ASSERT_EQ(all.workloads.size(), 1U);
    EXPECT_THAT(all.workloads[0].command, ElementsAre("build/bin/bench_a"));
    EXPECT_EQ(all.workloads[0].origin, "build (CMake)");
    EXPECT_THAT(all.notes, IsEmpty());
}

TEST_F(CmakeWorkloads, ADamagedReplyIsNoReply) {
    configure("build");
    for (const char* text : {"", "[]", "{\"objects\": 3}", "{\"objects\": [1]}",
                             R"({"objects": [{"kind": "codemodel", "jsonFile": 3}]})"}) {
        folder.write("build/.cmake/api/v1/reply/index-1.json", text);
        EXPECT_THAT(named(found("add_executable(app a.cu)\n"), "app").command,
                    ElementsAre("build/app"))
            << text;
    }
}

TEST_F(CmakeWorkloads, FoldersOutsideAndInACircleAreNotRead) {
    folder.write("a/CMakeLists.txt", "add_subdirectory(../a)\nadd_subdirectory(..)\n");
    EXPECT_THAT(
        found("add_subdirectory(a)\nadd_subdirectory(../..)\nadd_subdirectory(${X})\n").workloads,
        IsEmpty());
}

} // namespace
} // namespace kernelskill::engine::testing
