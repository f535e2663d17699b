#include "skills/skill_document.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::skills {
namespace {

constexpr std::string_view complete = R"(---
name: unroll-more
description: Unrolls more. Use on loops.
title: Unroll more
kind: source
numerics: reassociates
bottlenecks: [compute, memory-latency]
when:
  - a loop
  - "no barrier: none at all"
expected_gain: >-
  Some,
  perhaps.
failure_modes: [spills]
sources: [a book]
lens: unroll more
---

# Method
Text with --- inside.
)";

std::string replaced(std::string_view from, std::string_view to) {
    std::string text(complete);
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
}

TEST(SkillDocument, YieldsEveryField) {
    const auto skill = parseSkillDocument(complete, "s/SKILL.md");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_EQ(skill->id, "unroll-more");
    EXPECT_EQ(skill->description, "Unrolls more. Use on loops.");
    EXPECT_EQ(skill->file, "s/SKILL.md");
    EXPECT_EQ(skill->title, "Unroll more");
    EXPECT_EQ(skill->kind, SkillKind::Source);
    EXPECT_EQ(skill->numerics, Numerics::Reassociates);
    EXPECT_EQ(skill->bottlenecks, (std::vector<std::string>{"compute", "memory-latency"}));
    EXPECT_EQ(skill->when, (std::vector<std::string>{"a loop", "no barrier: none at all"}));
    EXPECT_EQ(skill->expectedGain, "Some, perhaps.");
    EXPECT_EQ(skill->failureModes, std::vector<std::string>{"spills"});
    EXPECT_EQ(skill->sources, std::vector<std::string>{"a book"});
    EXPECT_EQ(skill->method, "# Method\nText with --- inside.\n");
}

TEST(SkillDocument, IsAnAnswerUnlessItSaysThatItIsHygiene) {
    EXPECT_EQ(parseSkillDocument(complete, "s/SKILL.md")->role, SkillRole::Answer);
    const auto skill =
        parseSkillDocument(replaced("kind: source", "kind: source\nrole: hygiene"), "s/SKILL.md");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_EQ(skill->role, SkillRole::Hygiene);
    EXPECT_EQ(spelling(skill->role), "hygiene");
    const auto wrong =
        parseSkillDocument(replaced("kind: source", "kind: source\nrole: advice"), "s/SKILL.md");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().where, "s/SKILL.md:6");
    EXPECT_TRUE(wrong.error().what.contains("known are 'answer', 'hygiene'")) << wrong.error().what;
}

std::string stating(std::string_view error) {
    return replaced("numerics: reassociates",
                    "numerics: reduced-precision\nerror:\n" + std::string(error));
}

TEST(SkillDocument, AddsUpTheErrorsOfFunctions) {
    EXPECT_EQ(parseSkillDocument(complete, "s/SKILL.md")->error, std::nullopt);
    const auto skill = parseSkillDocument(
        stating("  __fdividef: documented\n  f: 2^-22 absolute + 3 ulp\n  g: 2^-21 relative"),
        "s/SKILL.md");
    ASSERT_TRUE(skill) << skill.error().describe();
    ASSERT_TRUE(skill->error);
    EXPECT_DOUBLE_EQ(skill->error->ulps, 2 + 3 + 4);
    EXPECT_DOUBLE_EQ(skill->error->absolute, 0x1p-22);
}

TEST(SkillDocument, RefusesAnErrorThatIsNone) {
    for (const char* error :
         {"  f: documented", "  f: 2", "  f: -2 ulp", "  f: nan ulp", "  f: 2 ulps", "  f: 1 ulp +",
          "  f: 2^ ulp", "  f: 10^400 ulp", "  f: 0.1 relative"}) {
        const auto skill = parseSkillDocument(stating(error), "s/SKILL.md");
        ASSERT_FALSE(skill) << error;
        EXPECT_TRUE(skill.error().where.starts_with("s/SKILL.md:")) << skill.error().describe();
    }
    EXPECT_FALSE(parseSkillDocument(
        replaced("numerics: reassociates", "numerics: reassociates\nerror:\n  f: 2 ulp"),
        "s/SKILL.md"));
}

TEST(SkillDocument, AcceptsWindowsLineEndsAndAByteOrderMark) {
    std::string text = "\xEF\xBB\xBF";
    for (const char c : complete)
        text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    const auto skill = parseSkillDocument(text, "s/SKILL.md");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_EQ(skill->id, "unroll-more");
}

struct BadDocument {
    std::string name;
    std::string text;
    std::string where;
    std::string what;
};

class BadSkillDocument : public testing::TestWithParam<BadDocument> {};

TEST_P(BadSkillDocument, IsAnErrorWithItsPlace) {
    const auto skill = parseSkillDocument(GetParam().text, "s/SKILL.md");
    ASSERT_FALSE(skill);
    EXPECT_EQ(skill.error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(skill.error().where, GetParam().where);
    EXPECT_TRUE(skill.error().what.contains(GetParam().what)) << skill.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    Documents, BadSkillDocument,
    testing::Values(
        BadDocument{"Empty", "", "s/SKILL.md:1", "front matter"},
        BadDocument{"NoFrontMatter", "# Method\n", "s/SKILL.md:1", "front matter"},
        BadDocument{"OpenFrontMatter", "---\nname: a\n", "s/SKILL.md:1", "front matter"},
        BadDocument{"NotYaml", "---\nname: [a\n---\ntext\n", "s/SKILL.md:3", "YAML"},
        BadDocument{"NotAMap", "---\n- a\n---\ntext\n", "s/SKILL.md:2", "field: value"},
        BadDocument{"MissingField", replaced("title: Unroll more\n", ""), "s/SKILL.md:1",
                    "'title'"},
        BadDocument{"UnknownField", replaced("title:", "tilte:"), "s/SKILL.md:4", "'tilte'"},
        BadDocument{"UnknownKind", replaced("kind: source", "kind: magic"), "s/SKILL.md:5",
                    "'source', 'launch', 'library'"},
        BadDocument{"ListExpected", replaced("[compute, memory-latency]", "compute"),
                    "s/SKILL.md:7", "list"},
        BadDocument{"TextExpected", replaced("name: unroll-more", "name: [a]"), "s/SKILL.md:2",
                    "text"},
        BadDocument{"NoMethod", std::string(complete.substr(0, complete.find("# Method"))),
                    "s/SKILL.md:1", "method"}),
    [](const auto& info) { return info.param.name; });

class SkillFolders : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("skill-folder-" +
                   std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::remove_all(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, std::string_view text) const {
        std::filesystem::create_directories(folder_ / name);
        std::ofstream(folder_ / name / "SKILL.md") << text;
    }
    std::filesystem::path folder_;
};

TEST_F(SkillFolders, ReportsABadDocumentAndReadsTheOthers) {
    write("unroll-more", complete);
    write("broken", "no front matter");
    const SkillDocuments documents = loadSkillDocuments(folder_);
    ASSERT_EQ(documents.skills.size(), 1u);
    EXPECT_EQ(documents.skills[0].id, "unroll-more");
    EXPECT_EQ(documents.lensTitles, (LensTitles{{"unroll-more", "unroll more"}}));
    ASSERT_EQ(documents.errors.size(), 1u);
    EXPECT_TRUE(documents.errors[0].where.contains("broken"));
}

TEST_F(SkillFolders, RefusesATitleThatNoLensHolds) {
    write("unroll-more", replaced("lens: unroll more", "lens: unroll much more"));
    const SkillDocuments documents = loadSkillDocuments(folder_);
    EXPECT_TRUE(documents.skills.empty());
    ASSERT_EQ(documents.errors.size(), 1u);
    EXPECT_TRUE(documents.errors[0].what.contains("a line of lenses does not hold it"))
        << documents.errors[0].describe();
}

TEST_F(SkillFolders, RefusesANameThatIsNotTheFolders) {
    write("other", complete);
    const SkillDocuments documents = loadSkillDocuments(folder_);
    EXPECT_TRUE(documents.skills.empty());
    ASSERT_EQ(documents.errors.size(), 1u);
    EXPECT_TRUE(documents.errors[0].what.contains("folder"));
}

TEST_F(SkillFolders, IsMissingWhenItIsNotThere) {
    const SkillDocuments documents = loadSkillDocuments(folder_ / "nowhere");
    EXPECT_TRUE(documents.skills.empty());
    ASSERT_EQ(documents.errors.size(), 1u);
    EXPECT_EQ(documents.errors[0].kind, ErrorKind::Missing);
}

TEST(SkillName, IsOneThatAgentSkillsMayHave) {
    for (const char* good : {"a", "loop-unrolling", "x2"})
        EXPECT_TRUE(isSkillName(good)) << good;
    for (const char* bad : {"", "-a", "a-", "a--b", "A", "a b", "../a", "a_b"})
        EXPECT_FALSE(isSkillName(bad)) << bad;
    EXPECT_FALSE(isSkillName(std::string(65, 'a')));
}

TEST(SkillSpelling, IsThatOfTheContract) {
    EXPECT_EQ(spelling(SkillKind::Source), "source");
    EXPECT_EQ(spelling(SkillKind::Launch), "launch");
    EXPECT_EQ(spelling(SkillKind::Library), "library");
    EXPECT_EQ(spelling(Numerics::Exact), "exact");
    EXPECT_EQ(spelling(Numerics::Reassociates), "reassociates");
    EXPECT_EQ(spelling(Numerics::ReducedPrecision), "reduced-precision");
}

} // namespace
} // namespace kernelskill::skills
