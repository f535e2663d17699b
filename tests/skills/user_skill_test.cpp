#include "skills/skill_library.h"
#include "skills/user_skill.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace kernelskill::skills {
namespace {

constexpr std::string_view head = R"(---
name: halve
description: Halves by a product. Use where divisions are slow.
numerics: exact
metavariables:
  x: expression of float
---
Why it is better.

)";
constexpr std::string_view blocks = R"(```cuda before
$x / 2.0f
```

and then

```cuda after
$x * 0.5f
```
)";

std::string complete() {
    return std::string(head) + std::string(blocks);
}

std::string replaced(std::string_view from, std::string_view to) {
    std::string text = complete();
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(UserSkillDocument, HasItsPatternsInTheProse) {
    const auto skill = parseUserSkill(complete(), "halve/SKILL.md");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_EQ(skill->metadata.id, "halve");
    EXPECT_EQ(skill->metadata.title, "Halve");
    EXPECT_EQ(skill->metadata.description, "Halves by a product. Use where divisions are slow.");
    EXPECT_EQ(skill->metadata.numerics, Numerics::Exact);
    EXPECT_TRUE(skill->metadata.method.starts_with("Why it is better."));
    ASSERT_EQ(skill->patterns.size(), 1u);
    EXPECT_FALSE(skill->patterns[0].isStatements);
    EXPECT_EQ(skill->patterns[0].metavariables[0].type, "float");
    EXPECT_EQ(skill->patterns[0].after, "$x * 0.5f\n");
}

TEST(UserSkillDocument, OfAnotherToolIsReadAsAText) {
    const auto skill = parseUserSkill("---\n"
                                      "name: review-kernels\n"
                                      "description: How we review CUDA kernels.\n"
                                      "license: MIT\n"
                                      "allowed-tools: Read Grep\n"
                                      "model: whatever\n"
                                      "---\n"
                                      "Look at this:\n```cuda\nint i;\n```\n",
                                      "s");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_TRUE(skill->patterns.empty());
    EXPECT_EQ(skill->metadata.title, "Review kernels");
}

TEST(UserSkillDocument, ThatIsNewLoads) {
    const auto skill = parseUserSkill(newUserSkill("my-skill"), "s");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_EQ(skill->metadata.id, "my-skill");
    EXPECT_EQ(skill->patterns.size(), 1u);
}

/// The first indented block of the page that describes the format, which is an example.
std::string documentedExample() {
    std::ifstream page(std::string(paths::sourceFolder) + "/docs/user-skills.md");
    std::string example;
    for (std::string line; std::getline(page, line);) {
        const bool isIndented = line.starts_with("    ");
        if (!isIndented && !line.empty() && !example.empty())
            break;
        if (isIndented)
            example += line.substr(4) + "\n";
        else if (!example.empty())
            example += "\n";
    }
    return example;
}

TEST(UserSkillDocument, ThatTheManualShowsLoads) {
    const auto skill = parseUserSkill(documentedExample(), "s");
    ASSERT_TRUE(skill) << skill.error().describe();
    EXPECT_EQ(skill->metadata.id, "divide-by-constant");
    EXPECT_EQ(skill->patterns.size(), 1u);
}

struct BadUserSkill {
    std::string name;
    std::string text;
    int line;
    std::string what;
};

class UserSkillMistake : public ::testing::TestWithParam<BadUserSkill> {};

TEST_P(UserSkillMistake, IsAnErrorWithItsPlace) {
    const auto skill = parseUserSkill(GetParam().text, "s");
    ASSERT_FALSE(skill);
    EXPECT_EQ(skill.error().where, "s:" + std::to_string(GetParam().line)) << skill.error().what;
    EXPECT_TRUE(skill.error().what.contains(GetParam().what)) << skill.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    Documents, UserSkillMistake,
    ::testing::Values(
        BadUserSkill{"NoName", replaced("name: halve\n", ""), 1, "'name' is missing"},
        BadUserSkill{"NoDescription", "---\nname: a\n---\n", 1, "'description' is missing"},
        BadUserSkill{"NoNumerics", replaced("numerics: exact\n", ""), 1, "'numerics'"},
        BadUserSkill{"UnknownField", replaced("numerics: exact", "numerics: exact\nmetavars: 1"), 5,
                     "unknown field 'metavars'"},
        BadUserSkill{"UnknownBottleneck",
                     replaced("numerics: exact", "numerics: exact\nbottlenecks: [memory]"), 5,
                     "'memory' is no kind of bottleneck"},
        BadUserSkill{"NotOfSource", replaced("numerics: exact", "kind: launch\nnumerics: exact"), 4,
                     "source alone"},
        BadUserSkill{"UnknownMetavariableKind", replaced("expression of float", "thing"), 6,
                     "'thing' is no kind"},
        BadUserSkill{"TypeOfAStatement", replaced("expression of float", "statement of float"), 6,
                     "only an expression"},
        BadUserSkill{"UndeclaredMetavariable", replaced("$x * 0.5f", "$y * 0.5f"), 17,
                     "'$y' is not declared"},
        BadUserSkill{"UnboundMetavariable",
                     replaced("  x: expression of float", "  x: expression\n  y: constant"), 7,
                     "binds '$y'"},
        BadUserSkill{"MatchesEverywhere", replaced("$x / 2.0f", "$x"), 11, "everywhere"},
        BadUserSkill{"Unbalanced", replaced("$x / 2.0f", "($x / 2.0f"), 11, "'('"},
        BadUserSkill{"Directive", replaced("$x * 0.5f", "#include <x>\n$x * 0.5f"), 17,
                     "directive"},
        BadUserSkill{"StatementForExpression", replaced("$x * 0.5f", "$x * 0.5f;"), 17,
                     "is a statement"},
        BadUserSkill{"NothingForExpression", replaced("$x * 0.5f\n", ""), 17, "become nothing"},
        BadUserSkill{"NoAfter", replaced("```cuda after", "```cuda"), 10, "no 'after' block"},
        BadUserSkill{"NoBefore", replaced("```cuda before", "```cuda"), 16, "no 'before' block"},
        BadUserSkill{"NoBlock", std::string(head), 6, "no 'before' block"},
        BadUserSkill{"OpenBlock", complete().substr(0, complete().size() - 4), 16, "not closed"}),
    [](const auto& info) { return info.param.name; });

class Library : public ::testing::Test {
protected:
    void write(const std::string& name, std::string_view text) const {
        const auto folder = std::filesystem::path(folder_.path()) / name;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "SKILL.md") << text;
    }
    [[nodiscard]] SkillLibrary load() const {
        return loadSkillLibrary(
            std::string(paths::sourceFolder) + "/skills",
            {{folder_.path(), SkillOrigin::Workspace},
             {std::filesystem::path(folder_.path()) / "absent", SkillOrigin::User}});
    }

    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(Library, HasTheUsersSkillsBehindItsOwn) {
    const std::size_t own = load().skills.size();
    write("halve", complete());
    write("review", "---\nname: review\ndescription: How to.\n---\nText\n");
    const SkillLibrary library = load();
    EXPECT_TRUE(library.errors.empty()) << library.errors.front().describe();
    ASSERT_EQ(library.skills.size(), own + 1);
    EXPECT_EQ(library.skills.back()->id(), "halve");
    const auto halve = std::ranges::find(library.documents, "halve", &SkillMetadata::id);
    ASSERT_NE(halve, library.documents.end());
    EXPECT_EQ(halve->origin, SkillOrigin::Workspace);
    EXPECT_NE(std::ranges::find(library.documents, "review", &SkillMetadata::id),
              library.documents.end());
}

TEST_F(Library, LeavesOutWhatCannotBeRead) {
    write("halve", replaced("$x * 0.5f", "$y"));
    write("other", complete());
    std::string taken = complete();
    taken.replace(taken.find("halve"), 5, "loop-unrolling");
    write("loop-unrolling", taken);
    const SkillLibrary library = load();
    ASSERT_EQ(library.errors.size(), 3u);
    EXPECT_TRUE(library.errors[0].where.ends_with("halve/SKILL.md:17"));
    EXPECT_TRUE(library.errors[1].what.contains("already"));
    EXPECT_TRUE(library.errors[2].what.contains("name of its folder"));
}

} // namespace
} // namespace kernelskill::skills
