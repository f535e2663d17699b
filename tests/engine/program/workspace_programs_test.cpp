#include "analysis/source/json.h"
#include "engine/program/workload_json.h"
#include "engine/program/workspace_programs.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class WorkspacePrograms : public ::testing::Test {
protected:
    [[nodiscard]] engine::WorkspacePrograms programs(const char* settings = "{}") const {
        return programsOf(folder.path(), {folder.path()},
                          readWorkloads(json::parse(settings), folder.path(), "settings"));
    }
    [[nodiscard]] std::vector<std::string> names(const char* settings = "{}") const {
        std::vector<std::string> all;
        for (const Workload& workload : programs(settings).workloads)
            all.push_back(workload.name);
        return all;
    }
    ProgramFolder folder;
};

TEST_F(WorkspacePrograms, ASettingHasAllFields) {
    const auto found = readWorkloads(
        json::parse(R"({"small": {"command": "./a 'x y'", "folder": "sub/", "build": ["make", "-j"],
            "environment": {"N": "1"}, "check": "diff - out.txt && true", "pattern": "^OK"}})"),
        "/project", "settings");
    ASSERT_EQ(found.workloads.size(), 1U);
    const Workload& workload = found.workloads[0];
    EXPECT_THAT(workload.command, ElementsAre("./a", "x y"));
    EXPECT_EQ(workload.folder, "/project/sub");
    EXPECT_THAT(workload.build, ElementsAre("make", "-j"));
    EXPECT_THAT(workload.check, ElementsAre("/bin/sh", "-c", "diff - out.txt && true"));
    EXPECT_THAT(workload.environment, ElementsAre(Pair("N", "1")));
    EXPECT_EQ(workload.pattern, "^OK");
    EXPECT_EQ(workloadJson(workload).at("command"), json({"./a", "x y"}));
}

TEST_F(WorkspacePrograms, SettingsThatCannotBeUsedAreSaid) {
    const auto found = readWorkloads(
        json::parse(R"({"a": 3, "b": {}, "c": {"command": [1]}, "d": {"command": "x", "args": []},
            "e": {"command": "x", "environment": {"A=B": "1"}}, "f": {"command": "x", "folder": 1},
            "": {"command": "x"}, "good": {"command": "x"}})"),
        "/project", "settings");
    EXPECT_EQ(found.workloads.size(), 1U);
    EXPECT_THAT(found.notes,
                ElementsAre(HasSubstr("it has no name"), HasSubstr("\"a\" is left out"),
                            HasSubstr("its `command` is missing"),
                            HasSubstr("`command` is neither a text nor a list"),
                            HasSubstr("there is no `args`; there are command, folder"),
                            HasSubstr("`environment` is no object"),
                            HasSubstr("`folder` and `pattern` are texts")));
    EXPECT_THAT(readWorkloads(json(3), "/", "x").notes, ElementsAre(HasSubstr("no object")));
}

TEST_F(WorkspacePrograms, SettingsComeBeforeWhatIsFoundAndNamesAreUnique) {
    folder.write("Makefile", "run:\n\t./made\n");
    folder.write(".vscode/tasks.json", R"({"tasks": [{"label": "run", "command": "./task"},
                                                    {"label": "run it", "command": "./made"}]})");
    folder.write(".kernelskill/programs.json", "{\"own\": {\"command\": \"./own\"}, // mine\n}");
    folder.write(
        ".vscode/settings.json",
        R"({"kernelskill.program": {"own": {"command": "./x"}, "editor": {"command": "./e"}}})");
    EXPECT_THAT(names(R"({"given": {"command": "./given"}})"),
                ElementsAre("given", "own", "editor", "run", "run it"));
    const auto own = chooseProgram(programs(), "own");
    ASSERT_TRUE(own);
    EXPECT_EQ(own->origin, ".kernelskill/programs.json");
    EXPECT_THAT(own->command, ElementsAre("./own"));
}

TEST_F(WorkspacePrograms, ThePickedOneIsRemembered) {
    const char* two = R"({"a": {"command": "./a"}, "b": {"command": "./b"}})";
    const auto none = chooseProgram(programs(two), "");
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().describe(),
                AllOf(HasSubstr("none is picked"), HasSubstr("there are: a, b")));
    ASSERT_TRUE(rememberProgram(folder.path(), "b"));
    EXPECT_EQ(programs(two).picked, "b");
    EXPECT_EQ(chooseProgram(programs(two), "")->name, "b");
    EXPECT_EQ(chooseProgram(programs(two), "a")->name, "a");
    const auto gone = chooseProgram(programs(R"({"a": {"command": "./a"}})"), "");
    ASSERT_FALSE(gone);
    EXPECT_THAT(gone.error().what, HasSubstr("there is no program \"b\", which was picked here"));
}

TEST_F(WorkspacePrograms, TheOnlyOneNeedsNoChoiceAndNoneIsMissing) {
    EXPECT_EQ(chooseProgram(programs(R"({"a": {"command": "./a"}})"), "")->name, "a");
    EXPECT_EQ(chooseProgram(programs(), "").error().kind, ErrorKind::Missing);
}

TEST_F(WorkspacePrograms, AChoiceThatCannotBeKeptSaysSo) {
    folder.write(".kernelskill", "a file");
    const auto kept = rememberProgram(folder.path(), "a");
    ASSERT_FALSE(kept);
    EXPECT_THAT(kept.error().describe(), HasSubstr("make the folder writable"));
}

TEST_F(WorkspacePrograms, WithoutARootNoSettingOfAFolderIsRead) {
    folder.write(".kernelskill/programs.json", R"({"own": {"command": "./own"}})");
    folder.write(".kernelskill/picked-program", "own\n");
    folder.write("Makefile", "run:\n\t./made\n");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const auto programs = programsOf({}, {folder.path()}, {});
    std::filesystem::current_path(before);
    ASSERT_EQ(programs.workloads.size(), 1U);
    EXPECT_EQ(programs.workloads[0].name, "run");
    EXPECT_EQ(programs.picked, "");
}

TEST_F(WorkspacePrograms, DamagedSettingsAreNotes) {
    folder.write(".kernelskill/programs.json", "{");
    folder.write(".vscode/settings.json", "[]");
    EXPECT_THAT(programs().notes, ElementsAre(HasSubstr("the file is no JSON")));
}

} // namespace
} // namespace kernelskill::engine::testing
