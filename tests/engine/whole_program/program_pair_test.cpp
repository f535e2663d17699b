#include "engine/program/command_words.h"
#include "engine/whole_program/program_pair.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A shell script is the program; `build` makes it executable.
class ProgramPairTest : public ::testing::Test {
protected:
    ProgramPairTest() {
        folder_.write("src/program.sh", "#!/bin/sh\necho sum 4\n");
        workload_ = {.name = "w",
                     .command = {"./program"},
                     .folder = folder_.path() / "src",
                     .environment = {},
                     .build = commandWords("cp program.sh program && chmod +x program"),
                     .check = {},
                     .pattern = {},
                     .origin = {}};
        options_.betweenRuns = std::chrono::milliseconds(1);
        options_.timeline = [](const Workload& workload, const std::stop_token&) {
            TimelineSummary summary;
            KernelTimes kernel;
            kernel.symbol = workload.folder.string().contains("/original/") ? "before" : "after";
            summary.kernels.push_back(kernel);
            return summary;
        };
    }

    [[nodiscard]] std::unique_ptr<ProgramPair> make() {
        const auto tree = listTree(folder_.path(), {});
        EXPECT_TRUE(tree);
        auto pair = ProgramPair::make(*tree, workload_, options_, stop_.get_token());
        EXPECT_TRUE(pair) << pair.error().describe();
        return std::move(*pair);
    }
    /// The number that the edit writes in place of "4".
    static analysis::EditSet edit(std::string text) {
        return {{"src/program.sh", {{{19, 20}, std::move(text)}}}};
    }
    static std::string why(ProgramPair& pair, const analysis::EditSet& edits) {
        const auto tried = pair.tryEdits(edits);
        EXPECT_TRUE(tried) << tried.error().describe();
        return tried->value_or("passes");
    }
    static std::string text(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    testing::ProgramFolder folder_;
    Workload workload_;
    ProgramPairOptions options_;
    std::stop_source stop_;
};

TEST_F(ProgramPairTest, EditsAreBuiltAndTheirOutputCompared) {
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(pair->check(), ProgramCheck::Output);
    EXPECT_EQ(pair->outputNote(), "");
    EXPECT_EQ(why(*pair, edit("5")), "the output differs: line 1 is 'sum 5' instead of 'sum 4'");
    EXPECT_EQ(why(*pair, edit("4; exit 3")), "the run ended with status 3: sum 4");
    EXPECT_EQ(why(*pair, edit("'4'")), "passes");
    EXPECT_EQ(why(*pair, {}), "passes") << "earlier edits are undone";
    EXPECT_EQ(text(pair->originalRoot() / "src/program.sh"), "#!/bin/sh\necho sum 4\n");
    EXPECT_EQ(text(folder_.path() / "src/program.sh"), "#!/bin/sh\necho sum 4\n");
    EXPECT_FALSE(fs::exists(folder_.path() / "src/program")) << "nothing is built in the tree";
}

TEST_F(ProgramPairTest, AFailedBuildNamesItsError) {
    workload_.build = commandWords("grep -q 4 program.sh || { echo 'x.cu(3): error: bad' >&2; echo "
                                   "done; exit 2; }; cp program.sh program; chmod +x program");
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(why(*pair, edit("5")), "the build ended with status 2: x.cu(3): error: bad");
}

TEST_F(ProgramPairTest, ACheckOrAPatternDecidesInPlaceOfTheOutput) {
    workload_.check = {"grep", "-q", "sum"};
    auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(pair->check(), ProgramCheck::Command);
    EXPECT_EQ(why(*pair, edit("5")), "passes");
    EXPECT_THAT(why(*pair, {{"src/program.sh", {{{15, 18}, "s"}}}}),
                HasSubstr("the check ended with status 1"));
    workload_.check.clear();
    workload_.pattern = "sum [45]$";
    pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(pair->check(), ProgramCheck::Pattern);
    EXPECT_EQ(why(*pair, edit("5")), "passes");
    EXPECT_THAT(why(*pair, edit("6")), HasSubstr("no line of the output matches"));
}

TEST_F(ProgramPairTest, OutputsThatAreNotComparableLeaveTheStatus) {
    folder_.write("src/program.sh", "#!/bin/sh\necho $$\n");
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(pair->check(), ProgramCheck::Status);
    EXPECT_THAT(pair->outputNote(), HasSubstr("only the exit status counts"));
    const analysis::EditSet other{{"src/program.sh", {{{15, 17}, "x"}}}};
    EXPECT_EQ(why(*pair, other), "passes");
}

TEST_F(ProgramPairTest, ADifferenceThatTheOriginalHasInAFurtherRunIsNone) {
    const std::string program = "#!/bin/sh\necho sum 4\nn=$(cat runs 2>/dev/null || echo 0)\n"
                                "echo $((n + 1)) >runs\n"
                                "if [ $n -lt 2 ]; then echo early; else echo late; fi\n";
    folder_.write("src/program.sh", program);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    const auto at = static_cast<std::uint32_t>(program.find("early"));
    EXPECT_EQ(why(*pair, {{"src/program.sh", {{{at, at + 5}, "other"}}}}), "passes");
    EXPECT_THAT(pair->outputNote(), HasSubstr("1 of 2 lines differ"));
    EXPECT_THAT(why(*pair, edit("5")), HasSubstr("line 1 is 'sum 5' instead of 'sum 4'"));
}

/// The program writes the files of a recorder, whose buffer holds a digit.
class ProgramPairBuffersTest : public ProgramPairTest {
protected:
    ProgramPairBuffersTest() {
        FinalBuffer buffer;
        buffer.number = 1;
        buffer.bytes = 1;
        buffer.offset = 0;
        const std::string list = bufferListHead() + lineOf(buffer) + bufferListEnd();
        // The program that is edited prints the same, whatever is in the buffer.
        program_ = "#!/bin/sh\necho sum 4\ncontents=4\n[ -z \"$BUFFERS\" ] && exit 0\n"
                   "printf '%s' \"$contents\" >\"$BUFFERS/contents-1\"\n"
                   "cat >\"$BUFFERS/buffers-1\" <<'END'\n" +
                   list + "END\n";
        folder_.write("src/program.sh", program_);
        options_.recordBuffers = [](const fs::path& folder) {
            return std::vector<std::pair<std::string, std::string>>{{"BUFFERS", folder.string()}};
        };
    }
    /// Replaces the first `before` in the program.
    [[nodiscard]] analysis::EditSet replaced(std::string_view before, std::string after) const {
        const auto at = static_cast<std::uint32_t>(program_.find(before));
        const auto end = at + static_cast<std::uint32_t>(before.size());
        return {{"src/program.sh", {{{at, end}, std::move(after)}}}};
    }

    std::string program_;
};

TEST_F(ProgramPairBuffersTest, BuffersAreComparedBesideTheOutput) {
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(pair->check(), ProgramCheck::Output);
    ASSERT_TRUE(pair->buffers().compared());
    EXPECT_EQ(pair->buffers().compared()->count(), 1u);
    EXPECT_EQ(pair->buffers().note(), "");
    EXPECT_EQ(why(*pair, replaced("contents=4", "contents='4'")), "passes");
    EXPECT_EQ(why(*pair, replaced("contents=4", "contents=5")),
              "the GPU's memory differs at the end: buffer 1 of 1 bytes: 1 of 1 bytes differ, the "
              "first at 0");
    EXPECT_THAT(why(*pair, replaced("[ -z \"$BUFFERS\" ] &&", "")),
                HasSubstr("its buffers on the GPU cannot be compared"));
    EXPECT_TRUE(pair->time()) << "it is timed without a recorder";
}

TEST_F(ProgramPairBuffersTest, TheyCountWhereTheOutputCannotBeCompared) {
    program_.replace(program_.find("sum 4"), 5, "$$");
    folder_.write("src/program.sh", program_);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(pair->check(), ProgramCheck::Buffers);
    EXPECT_THAT(pair->outputNote(), HasSubstr("only the exit status and the GPU's memory count"));
    EXPECT_THAT(why(*pair, replaced("contents=4", "contents=5")), HasSubstr("differs at the end"));
}

TEST_F(ProgramPairBuffersTest, WhatDiffersByItselfIsNotCompared) {
    program_.replace(program_.find("contents=4"), 10,
                     "contents=$(cat runs 2>/dev/null || echo 1)\necho 2 >runs");
    folder_.write("src/program.sh", program_);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_THAT(pair->buffers().note(), HasSubstr("1 not the same after all runs of the original"));
    EXPECT_FALSE(pair->buffers().compared());
}

TEST_F(ProgramPairBuffersTest, WhatDiffersInAFurtherRunIsNotComparedEither) {
    program_.replace(program_.find("contents=4"), 10,
                     "n=$(cat runs 2>/dev/null || echo 0)\necho $((n + 1)) >runs\n"
                     "contents=4; [ $n -lt 2 ] || contents=3");
    folder_.write("src/program.sh", program_);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_TRUE(pair->buffers().compared());
    EXPECT_EQ(why(*pair, replaced("contents=4;", "contents=5;")), "passes");
    EXPECT_THAT(pair->buffers().note(), HasSubstr("1 not the same after all runs of the original"));
}

TEST_F(ProgramPairBuffersTest, WhatIsPrintedOtherwiseWithoutARecorderIsNotCompared) {
    program_.replace(program_.find("echo sum 4"), 10,
                     "echo sum 4; if [ -z \"$BUFFERS\" ]; then echo plain; else echo recorded; fi");
    folder_.write("src/program.sh", program_);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(why(*pair, replaced("contents=4", "contents='4'")), "passes");
    const auto timed = pair->time();
    ASSERT_TRUE(timed) << timed.error().describe();
    EXPECT_EQ(timed->failure, std::nullopt);
    EXPECT_THAT(pair->outputNote(), HasSubstr("differ between runs of the original"));
}

TEST_F(ProgramPairBuffersTest, ACheckLeavesThemAlone) {
    workload_.check = {"true"};
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_FALSE(pair->buffers().compared());
    EXPECT_EQ(pair->buffers().note(), "");
}

TEST_F(ProgramPairBuffersTest, AProgramThatFailsWithARecorderRunsWithoutOne) {
    program_.replace(program_.find("printf"), 6, "exit 3; printf");
    folder_.write("src/program.sh", program_);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_FALSE(pair->buffers().compared());
    EXPECT_EQ(pair->buffers().note(),
              "buffers on the GPU are not compared: the program fails while "
              "they are recorded");
    EXPECT_EQ(why(*pair, replaced("contents=4", "contents=5")), "passes");
}

TEST_F(ProgramPairBuffersTest, SaysWhyNothingIsRecorded) {
    options_.recordBuffers =
        [](const fs::path&) -> Result<std::vector<std::pair<std::string, std::string>>> {
        return std::unexpected(Error{ErrorKind::Missing, "there is no recorder", {}, {}});
    };
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_THAT(pair->buffers().note(), HasSubstr("are not compared: there is no recorder"));
}

TEST_F(ProgramPairTest, AnOriginalThatFailsIsAnError) {
    workload_.build = {"false"};
    folder_.write("src/old", std::string("\x7f"
                                         "ELF"));
    auto failed = make()->buildOriginal();
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().what,
                HasSubstr("the original fails in a copy of the tree: the build ended"));
    EXPECT_THAT(failed.error().remedy, HasSubstr("src/old"));
    workload_.build = commandWords("cp program.sh program && chmod +x program");
    folder_.write("src/program.sh", "#!/bin/sh\necho error: no GPU\nexit 9\n");
    failed = make()->buildOriginal();
    EXPECT_THAT(failed.error().what, HasSubstr("status 9: error: no GPU"));
}

TEST_F(ProgramPairTest, TimesBothInTurns) {
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    ASSERT_EQ(why(*pair, edit("4; sleep 0.05")), "passes");
    const auto timed = pair->time();
    ASSERT_TRUE(timed) << timed.error().describe();
    EXPECT_EQ(timed->failure, std::nullopt);
    const ProgramTurns& turns = timed->turns;
    ASSERT_EQ(turns.wall.size(), 3u);
    ASSERT_EQ(turns.kernels.size(), 3u);
    for (const TimePair& pair : turns.wall)
        EXPECT_GT(pair.after, 0.05);
    EXPECT_EQ(turns.kernels.front().before.kernels.front().symbol, "before");
    EXPECT_EQ(turns.kernels.front().after.kernels.front().symbol, "after");
}

TEST_F(ProgramPairTest, TimesALongProgramOnce) {
    options_.longRun = std::chrono::milliseconds(0);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_TRUE(pair->runsLong());
    ASSERT_EQ(why(*pair, edit("4")), "passes");
    const auto timed = pair->time();
    ASSERT_TRUE(timed);
    EXPECT_EQ(timed->turns.wall.size(), 1u);
}

TEST_F(ProgramPairTest, TheEditedProgramIsCheckedWhileItIsTimed) {
    // The edited program passes its trial and fails in a later run.
    const std::string later = "4; echo x >> runs; test $(wc -l < runs) -lt 3 || ";
    for (const auto& [failing, reason] :
         {std::pair("exit 3", "the run ended with status 3"),
          std::pair("echo more", "the output differs: it prints 2 lines instead of 1")}) {
        const auto pair = make();
        ASSERT_TRUE(pair->buildOriginal());
        ASSERT_EQ(why(*pair, edit(later + failing)), "passes");
        const auto timed = pair->time();
        ASSERT_TRUE(timed) << timed.error().describe();
        EXPECT_THAT(timed->failure.value_or("none"),
                    HasSubstr(std::string("while it was timed, ") + reason));
    }
    workload_.check = commandWords("test $(wc -l) -eq 1");
    auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    ASSERT_EQ(why(*pair, edit(later + "echo more")), "passes");
    EXPECT_THAT(pair->time()->failure.value_or("none"), HasSubstr("the check ended"));
    const auto timeline = options_.timeline;
    options_.timeline = [&](const Workload& workload, const std::stop_token& stop) {
        auto summary = timeline(workload, stop);
        return summary->kernels.front().symbol == "before"
                   ? summary
                   : std::unexpected(Error{ErrorKind::Missing, "no driver", {}, {}});
    };
    pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    ASSERT_EQ(why(*pair, edit("'4'")), "passes");
    EXPECT_THAT(pair->time()->failure.value_or("none"), HasSubstr("no driver"));
}

TEST_F(ProgramPairTest, AProgramThatRunsTenTimesAsLongHasFailed) {
    folder_.write("src/program.sh", "#!/bin/sh\necho sum 4; sleep 0.1\n");
    options_.minPatience = std::chrono::milliseconds(1);
    const auto pair = make();
    ASSERT_TRUE(pair->buildOriginal());
    EXPECT_EQ(why(*pair, edit("4; sleep 0.2")), "passes");
    EXPECT_THAT(why(*pair, edit("4; sleep 60")), HasSubstr("timed out after"));
}

TEST_F(ProgramPairTest, CopiesGoAwayAlsoWhenItIsStopped) {
    fs::path folder;
    {
        const auto pair = make();
        folder = pair->folder();
        EXPECT_TRUE(fs::exists(folder / "original/src/program.sh"));
        EXPECT_TRUE(fs::exists(folder / "edited/src/program.sh"));
        ASSERT_TRUE(pair->buildOriginal());
        ASSERT_EQ(why(*pair, edit("'4'")), "passes");
        stop_.request_stop();
        EXPECT_EQ(pair->buildOriginal().error().kind, ErrorKind::Cancelled);
        EXPECT_EQ(pair->tryEdits(edit("5")).error().kind, ErrorKind::Cancelled);
        EXPECT_EQ(pair->time().error().kind, ErrorKind::Cancelled);
    }
    EXPECT_FALSE(fs::exists(folder));
}

TEST_F(ProgramPairTest, ACompilationDatabaseNamesTheCopy) {
    folder_.write(".gitignore", "compile_commands.json\nbuild\n");
    const std::string root = folder_.path().string();
    folder_.write("build/compile_commands.json",
                  R"([{"directory": ")" + root + R"(", "file": "a.cu", "command": "nvcc a.cu"}])");
    fs::create_symlink("build/compile_commands.json", folder_.path() / "compile_commands.json");
    const auto pair = make();
    const auto copied = text(pair->originalRoot() / "compile_commands.json");
    EXPECT_THAT(copied, HasSubstr("\"directory\": \"" + pair->originalRoot().string() + "\""));
    EXPECT_TRUE(fs::exists(pair->originalRoot() / "build/compile_commands.json"));
}

TEST_F(ProgramPairTest, ADatabaseOfTheSettingsNamesTheCopy) {
    folder_.write(".gitignore", "out\n");
    const testing::ProgramFolder elsewhere;
    const std::string database =
        R"([{"directory": ")" + folder_.path().string() + R"(", "file": "a.cu"}])";
    elsewhere.write("compile_commands.json", database);
    folder_.write("out/debug/compile_commands.json", database);
    const auto pair = make();
    const std::string root = pair->originalRoot().string();
    EXPECT_EQ(pair->databaseFolder(folder_.path() / "out/debug"), root + "/out/debug");
    for (const fs::path& folder : {folder_.path() / "out/debug", elsewhere.path()}) {
        const fs::path moved = pair->databaseFolder(folder);
        EXPECT_TRUE(moved.string().starts_with(root)) << moved;
        EXPECT_THAT(text(moved / "compile_commands.json"),
                    HasSubstr("\"directory\": \"" + root + "\""));
        EXPECT_EQ(text(folder / "compile_commands.json"), database);
    }
    EXPECT_EQ(pair->databaseFolder("/nowhere"), "/nowhere") << "the reader says that it is missing";
}

TEST_F(ProgramPairTest, ALinkedBuildFolderStaysAsItIs) {
    const std::string root = folder_.path().string();
    const testing::ProgramFolder elsewhere;
    const std::string database = R"([{"directory": ")" + root + R"(", "file": "a.cu"}])";
    for (const bool isOfCmake : {false, true}) {
        if (isOfCmake)
            elsewhere.write("CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=" + root + "\n");
        elsewhere.write("compile_commands.json", database);
        fs::remove(folder_.path() / "build");
        fs::create_directory_symlink(elsewhere.path(), folder_.path() / "build");
        folder_.write(".gitignore", "build/\n");
        const auto pair = make();
        EXPECT_EQ(text(elsewhere.path() / "compile_commands.json"), database);
        EXPECT_EQ(fs::is_symlink(pair->originalRoot() / "build"), !isOfCmake);
    }
}

TEST_F(ProgramPairTest, ABuildFolderOutsideOfTheTreeIsRefused) {
    const testing::ProgramFolder elsewhere;
    fs::create_directory_symlink(elsewhere.path(), folder_.path() / "src/out");
    for (const std::string& folder : {elsewhere.path().string(), std::string("out/b")}) {
        workload_.build = {"cmake", "--build", folder};
        const auto tree = listTree(folder_.path(), {});
        const auto pair = ProgramPair::make(*tree, workload_, options_, {});
        ASSERT_FALSE(pair) << folder;
        EXPECT_EQ(pair.error().kind, ErrorKind::InvalidInput);
        EXPECT_THAT(pair.error().what, HasSubstr("outside of the workspace"));
    }
}

TEST_F(ProgramPairTest, AProgramOfOneNvccIsReadWithItsFlags) {
    workload_.build = {"nvcc", "-DN=4", "-Iinclude", "a.cu", "-o", "a"};
    EXPECT_EQ(text(make()->originalRoot() / "src/compile_flags.txt"), "-DN=4\n-Iinclude\n");
    folder_.write("compile_flags.txt", "-DN=5\n");
    const auto pair = make();
    EXPECT_FALSE(fs::exists(pair->originalRoot() / "src/compile_flags.txt"));
    EXPECT_EQ(text(pair->originalRoot() / "compile_flags.txt"), "-DN=5\n");
}

} // namespace
} // namespace kernelskill::engine
