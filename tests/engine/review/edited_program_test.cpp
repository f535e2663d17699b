#include "engine/review/edited_program.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace kernelskill::engine {
namespace {

ProgramSource program() {
    ProgramSource source;
    source.file = "/nowhere/a.cu";
    source.text = "one two";
    source.unsaved["/nowhere/open.cuh"] = "open";
    source.model = std::make_shared<analysis::FileModel>();
    return source;
}

analysis::Diagnostic diagnostic(std::string message, analysis::Severity severity) {
    analysis::Diagnostic result;
    result.message = std::move(message);
    result.severity = severity;
    return result;
}

TEST(EditedProgram, EditsTheTextAndLosesTheModelOfTheOldOne) {
    auto edited = withEdits(program(), {{"/nowhere/a.cu", {{{0, 3}, "1"}}}});
    ASSERT_TRUE(edited) << edited.error().describe();
    EXPECT_EQ(edited->text, "1 two");
    EXPECT_EQ(edited->model, nullptr);
}

TEST(EditedProgram, EditsAHeaderAsTheEditorHasIt) {
    auto edited = withEdits(program(), {{"/nowhere/open.cuh", {{{4, 4}, "ed"}}}});
    ASSERT_TRUE(edited) << edited.error().describe();
    EXPECT_EQ(edited->unsaved.at("/nowhere/open.cuh"), "opened");
    EXPECT_EQ(edited->text, "one two");
}

TEST(EditedProgram, EditsAHeaderOnDiskWithoutWritingIt) {
    const kernelskill::testing::TemporaryFolder folder;
    const std::string header = (folder.path() / "closed.cuh").string();
    std::ofstream(header) << "closed";
    auto edited = withEdits(program(), {{header, {{{0, 0}, "en"}}}});
    ASSERT_TRUE(edited) << edited.error().describe();
    EXPECT_EQ(edited->unsaved.at(header), "enclosed");
    std::string onDisk;
    std::getline(std::ifstream(header), onDisk);
    EXPECT_EQ(onDisk, "closed");
}

TEST(EditedProgram, NamesTheFileThatCannotBeRead) {
    auto edited = withEdits(program(), {{"/nowhere/missing.cuh", {{{0, 0}, "x"}}}});
    ASSERT_FALSE(edited);
    EXPECT_EQ(edited.error().where, "/nowhere/missing.cuh");
}

TEST(EditedProgram, RefusesEditsPastTheEnd) {
    EXPECT_FALSE(withEdits(program(), {{"/nowhere/a.cu", {{{100, 101}, "x"}}}}));
}

TEST(EditedProgram, AnErrorIsNewWhereItIsMetMoreOften) {
    const auto error = diagnostic("unknown type name 'half'", analysis::Severity::Error);
    analysis::FileModel before;
    before.diagnostics = {error};
    analysis::FileModel after;
    after.diagnostics = {error, diagnostic("unused variable", analysis::Severity::Warning)};
    EXPECT_EQ(firstNewError(before, after), std::nullopt);
    after.diagnostics.push_back(error);
    EXPECT_EQ(firstNewError(before, after), error.message);
}

} // namespace
} // namespace kernelskill::engine
