#include "skills/catalogue.h"
#include "skills/skill_document.h"
#include "tests/paths.h"
#include "tests/skills/compiled_examples.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kernelskill::skills {
namespace {

std::vector<std::string> catalogueIds() {
    std::vector<std::string> ids;
    for (const auto& skill : makeCatalogue())
        ids.emplace_back(skill->id());
    return ids;
}

SkillDocuments builtInDocuments() {
    return loadSkillDocuments(std::string(paths::sourceFolder) + "/skills");
}

class Example : public testing::TestWithParam<std::string> {
protected:
    [[nodiscard]] std::string before() const {
        return readSource("skills/" + GetParam() + "/before.cu");
    }
    [[nodiscard]] std::string after() const {
        return readSource("skills/" + GetParam() + "/after.cu");
    }
    [[nodiscard]] std::optional<CompiledKernel> compiledBefore() const {
        const CompiledExample* example = compiledExample(GetParam());
        return example != nullptr ? std::optional(example->before) : std::nullopt;
    }
};

TEST_P(Example, BeforeBecomesAfter) {
    checkApplicable(GetParam(), before(), after(), compiledBefore());
}

TEST_P(Example, BeforeParsesWithoutErrors) {
    for (const auto& diagnostic : parseSubject(before()).file.diagnostics)
        EXPECT_NE(diagnostic.severity, analysis::Severity::Error) << diagnostic.message;
}

TEST_P(Example, KeepsEveryComment) {
    const std::string text = after();
    const std::string source = before();
    for (auto at = source.find("//"); at != std::string::npos; at = source.find("//", at + 2))
        EXPECT_TRUE(text.contains(source.substr(at, source.find('\n', at) - at)))
            << source.substr(at, source.find('\n', at) - at);
}

TEST_P(Example, IsNotOfferedOutsideTheKernel) {
    Subject subject = parseSubject(before());
    subject.range = {0, 0};
    const auto offer = skillNamed(GetParam()).prepare(subject.context());
    ASSERT_FALSE(offer);
    EXPECT_EQ(offer.error().gate, "cursor-outside");
}

TEST_P(Example, IsOfferedFromTheKernelsName) {
    Subject subject = parseSubject(before());
    const auto begin = subject.file.kernels.at(0).nameSpan.begin;
    subject.range = {begin, begin};
    subject.compiled = compiledBefore();
    const auto offer = skillNamed(GetParam()).prepare(subject.context());
    EXPECT_TRUE(offer) << offer.error().reason;
}

TEST_P(Example, IsNotOfferedWhereTheKernelDoesNotCompile) {
    std::string source = before();
    const Subject parsed = parseSubject(source);
    source.insert(parsed.file.kernels.at(0).bodySpan.begin + 1, " undeclaredName = 1; ");
    checkNotApplicable(GetParam(), source, "does-not-compile", compiledBefore());
}

TEST_P(Example, KeepsTheLineEndsOfTheFile) {
    std::string source;
    for (const char c : before())
        source += c == '\n' ? std::string("\r\n") : std::string(1, c);
    std::string expected;
    for (const char c : after())
        expected += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(appliedText(GetParam(), source, compiledBefore()), expected);
}

TEST_P(Example, KeepsTabsAsIndentation) {
    // Levels of four spaces become tabs; the five columns that align with `for (` stay spaces.
    const auto tabbed = [](const std::string& text) {
        std::string result;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
            const std::string line = text.substr(begin, end - begin);
            const std::size_t spaces = line.find_first_not_of(' ');
            const std::size_t aligned = spaces % 4 == 0 ? 0 : 5;
            result += std::string((spaces - aligned) / 4, '\t') + line.substr(spaces - aligned);
            begin = end;
        }
        return result;
    };
    EXPECT_EQ(appliedText(GetParam(), tabbed(before()), compiledBefore()), tabbed(after()));
}

INSTANTIATE_TEST_SUITE_P(Skills, Example, testing::ValuesIn(catalogueIds()), [](const auto& info) {
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(SkillDocuments, OfTheBuiltInSkillsAreAllRead) {
    const SkillDocuments documents = builtInDocuments();
    for (const Error& error : documents.errors)
        ADD_FAILURE() << error.describe();
    std::set<std::string> documented;
    for (const SkillMetadata& skill : documents.skills)
        documented.insert(skill.id);
    const std::vector<std::string> ids = catalogueIds();
    EXPECT_EQ(documented, std::set<std::string>(ids.begin(), ids.end()));
}

TEST(SkillDocuments, NameOnlyKnownBottlenecks) {
    const std::set<std::string> known = {
        "memory-bandwidth", "memory-latency",       "uncoalesced-access", "bank-conflicts",
        "compute",          "tensor-core-eligible", "occupancy",          "register-spill",
        "divergence",       "launch-overhead",      "synchronization",    "balanced"};
    for (const SkillMetadata& skill : builtInDocuments().skills)
        for (const std::string& bottleneck : skill.bottlenecks)
            EXPECT_TRUE(known.contains(bottleneck)) << skill.id << ": " << bottleneck;
}

TEST(SkillDocuments, HaveARowOnThePageAboutSkills) {
    const std::string page = readSource("docs/skills.md");
    for (const std::string& id : catalogueIds())
        EXPECT_TRUE(page.contains("\n| [" + id + "](#")) << id << ": run script/sync-skills";
}

TEST(CompiledExamples, AreBetterAfterwards) {
    for (const CompiledExample& example : compiledExamples()) {
        SCOPED_TRACE(example.skill);
        const bool spillsLess = example.after.spilledBytes() < example.before.spilledBytes();
        const bool spillsMore = example.after.spilledBytes() > example.before.spilledBytes();
        ASSERT_TRUE(example.before.occupancy && example.after.occupancy);
        const double percent = example.before.occupancy->percent;
        EXPECT_FALSE(spillsMore);
        EXPECT_GE(example.after.occupancy->percent, percent);
        // A second buffer may cost nothing but shared memory, and wins time.
        const bool buysTime = example.after.sharedBytes() > example.before.sharedBytes();
        EXPECT_TRUE(buysTime || spillsLess || example.after.occupancy->percent > percent);
    }
}

TEST(Catalogue, HasEverySkillOnce) {
    const std::vector<std::string> ids = catalogueIds();
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

} // namespace
} // namespace kernelskill::skills
