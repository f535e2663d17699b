#include "engine/program/vscode_workloads.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class VscodeWorkloads : public ::testing::Test {
protected:
    void launch(std::string_view configuration) const {
        folder.write(".vscode/launch.json", "// made by hand\n{\"configurations\": [" +
                                                std::string(configuration) + ",]}");
    }
    void tasks(std::string_view list) const {
        folder.write(".vscode/tasks.json",
                     "{\"version\": \"2.0.0\", \"tasks\": [" + std::string(list) + "]}");
    }
    [[nodiscard]] FoundWorkloads found() const { return vscodeWorkloads(folder.path()); }
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder.path() / name).string();
    }
    ProgramFolder folder;
};

TEST_F(VscodeWorkloads, AConfigurationIsAProgramItsArgumentsAndTheTaskBeforeIt) {
    launch(R"({ /* the small one */ "name": "small", "type": "cuda-gdb", "request": "launch",
               "program": "${workspaceFolder}/bin/${workspaceFolderBasename}", // here
               "args": "1024 'a b'", "cwd": "${workspaceFolder}/data/",
               "environment": [{"name": "LEVEL", "value": "${workspaceRoot}/x"},],
               "preLaunchTask": "build all"})");
    tasks(R"({"label": "configure", "type": "process", "command": "cmake", "args": ["-B", "b c"]},
             {"label": "build all", "type": "shell", "command": "make -j8",
              "options": {"cwd": "${workspaceFolder}"}, "dependsOn": ["configure"]})");
    const auto workload = named(found(), "small");
    EXPECT_THAT(workload.command,
                ElementsAre(path("bin/" + folder.path().filename().string()), "1024", "a b"));
    EXPECT_EQ(workload.folder, folder.path() / "data");
    EXPECT_THAT(workload.environment, ElementsAre(Pair("LEVEL", path("x"))));
    EXPECT_THAT(workload.build,
                ElementsAre("/bin/sh", "-c",
                            "cmake -B 'b c' && ( cd " + path("").substr(0, path("").size() - 1) +
                                " && make -j8 )"));
    EXPECT_THAT(found().notes, IsEmpty());
}

TEST_F(VscodeWorkloads, WhatIsForLinuxCounts) {
    launch(R"({"name": "a", "type": "cppdbg", "program": "a.exe", "args": ["x"],
               "linux": {"program": "./a", "env": {"N": "1", "GONE": null}}})");
    const auto workload = named(found(), "a");
    EXPECT_THAT(workload.command, ElementsAre("./a", "x"));
    EXPECT_THAT(workload.environment, ElementsAre(Pair("N", "1")));
}

TEST_F(VscodeWorkloads, PythonProgramsAreRunByPython) {
    launch(R"({"name": "script", "type": "debugpy", "program": "${workspaceFolder}/train.py"},
              {"name": "module", "type": "python", "module": "torch.bench", "args": [1, true]})");
    EXPECT_THAT(named(found(), "script").command, ElementsAre("python3", path("train.py")));
    EXPECT_THAT(named(found(), "module").command,
                ElementsAre("python3", "-m", "torch.bench", "1", "true"));
}

TEST_F(VscodeWorkloads, WhatOnlyVscodeKnowsIsANote) {
    launch(R"({"name": "target", "program": "${command:cmake.launchTargetPath}"},
              {"name": "file", "program": "${fileDirname}/a"},
              {"name": "asked", "program": "./a", "args": ["${input:size}"]},
              {"name": "none"}, {"name": "attached", "request": "attach", "program": "./a"},
              {"name": "task", "program": "./a", "preLaunchTask": "absent"})");
    EXPECT_THAT(found().workloads, IsEmpty());
    EXPECT_THAT(found().notes,
                ElementsAre(HasSubstr("\"target\": only VS Code knows ${command:cmake"),
                            HasSubstr("\"file\": only VS Code knows ${fileDirname}"),
                            HasSubstr("\"asked\": only VS Code knows ${input:size}"),
                            HasSubstr("\"none\": it names no program"),
                            HasSubstr("\"task\": tasks.json has no task \"absent\"")));
}

TEST_F(VscodeWorkloads, TasksThatRunAreWorkloads) {
    tasks(
        R"({"label": "Run big", "type": "shell", "command": "./a", "args": ["9", {"value": "x y"}],
              "options": {"env": {"N": "1"}}, "dependsOn": "make"},
             {"label": "make", "command": "make"}, {"label": "runtime", "command": "./no"},
             {"label": "check", "type": "process", "command": "./test", "group": {"kind": "test"}},
             {"label": "run npm", "type": "npm", "script": "x"})");
    const auto all = found();
    ASSERT_EQ(all.workloads.size(), 2U);
    EXPECT_THAT(all.workloads[0].command, ElementsAre("./a", "9", "x y"));
    EXPECT_THAT(all.workloads[0].build, ElementsAre("make"));
    EXPECT_THAT(all.workloads[0].environment, ElementsAre(Pair("N", "1")));
    EXPECT_EQ(all.workloads[1].name, "check");
}

TEST_F(VscodeWorkloads, TasksInACircleAreRefused) {
    tasks(R"({"label": "run", "command": "./a", "dependsOn": "b"},
             {"label": "b", "command": "b", "dependsOn": "run"})");
    launch(R"({"name": "x", "program": "./a", "preLaunchTask": "run"})");
    EXPECT_THAT(found().workloads, IsEmpty());
    EXPECT_THAT(found().notes, ElementsAre(HasSubstr("depend on each other")));
}

TEST_F(VscodeWorkloads, OddFilesGiveNothing) {
    for (const std::string text :
         {"", "[]", "7", "{", "{\"configurations\": 3}", "{\"configurations\": [1, null, {}]}",
          "{\"configurations\": [{\"name\": 1, \"program\": {}, \"args\": {}}]}",
          "{\"configurations\": [{\"name\": \"a\", \"program\": \"./a\", \"args\": [[]]}]}",
          "{\"configurations\": [{\"name\": \"a\", \"program\": \"./a\", \"env\": 3}]}"}) {
        folder.write(".vscode/launch.json", text);
        folder.write(".vscode/tasks.json", text);
        EXPECT_THAT(found().workloads, IsEmpty()) << text;
    }
    folder.write(".vscode/launch.json", std::string(100'000, '['));
    EXPECT_THAT(found().notes, ::testing::Contains(HasSubstr("the file is no JSON")));
}

} // namespace
} // namespace kernelskill::engine::testing
