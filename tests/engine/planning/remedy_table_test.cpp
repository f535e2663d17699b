#include "engine/diagnosis/code_shape.h"
#include "engine/diagnosis/rule_table.h"
#include "engine/planning/remedy_table.h"
#include "skills/skill_document.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const RemedyTable& table() {
    EXPECT_TRUE(builtinRemedies()) << builtinRemedies().error().describe();
    return *builtinRemedies();
}

Bottleneck bottleneckOf(BottleneckKind kind, std::vector<std::string> shapes = {}) {
    Bottleneck bottleneck;
    bottleneck.kind = kind;
    bottleneck.shapes = std::move(shapes);
    return bottleneck;
}

TEST(RemedyTable, DescribesEachMethodThatIsNoSkill) {
    const auto skills =
        skills::loadSkillDocuments(std::string(paths::sourceFolder) + "/skills").skills;
    ASSERT_FALSE(skills.empty());
    for (const RemedyAnswer& answer : table().answers)
        for (const std::string& id : answer.methods)
            EXPECT_TRUE(table().method(id) != nullptr ||
                        std::ranges::find(skills, id, &skills::SkillMetadata::id) != skills.end())
                << id;
    for (const std::string& id : table().certain)
        EXPECT_TRUE(std::ranges::find(skills, id, &skills::SkillMetadata::id) != skills.end())
            << id;
}

TEST(RemedyTable, NamesEachMethodThatItDescribesAndNoneTwice) {
    std::set<std::string> named;
    for (const RemedyAnswer& answer : table().answers)
        named.insert(answer.methods.begin(), answer.methods.end());
    std::set<std::string> described;
    for (const RemedyMethod& method : table().methods) {
        EXPECT_THAT(named, Contains(method.id));
        EXPECT_TRUE(described.insert(method.id).second) << method.id;
        EXPECT_FALSE(method.text.empty() || method.why.empty()) << method.id;
    }
}

TEST(RemedyTable, HasAnAnswerForEachBottleneckThatRulesFind) {
    for (const Rule& rule : builtinRules()->rules)
        if (rule.kind != BottleneckKind::Balanced)
            EXPECT_NE(table().answerTo(bottleneckOf(rule.kind)), nullptr) << spelling(rule.kind);
}

TEST(RemedyTable, HasNoAnswerThatAnEarlierOneHides) {
    const auto& answers = table().answers;
    for (auto later = answers.begin(); later != answers.end(); ++later)
        for (auto earlier = answers.begin(); earlier != later; ++earlier) {
            const bool isHidden =
                earlier->bottleneck == later->bottleneck &&
                std::ranges::all_of(earlier->shapes, [&](const std::string& shape) {
                    return std::ranges::find(later->shapes, shape) != later->shapes.end();
                });
            EXPECT_FALSE(isHidden) << spelling(later->bottleneck) << ": " << later->source;
        }
}

TEST(RemedyTable, TheFirstAnswerWhoseShapesAreFoundDecides) {
    const auto first = [&](const Bottleneck& bottleneck) {
        return table().answerTo(bottleneck)->methods.front();
    };
    EXPECT_EQ(first(bottleneckOf(BottleneckKind::UncoalescedAccess, {"row-reduction"})),
              "row-per-warp");
    EXPECT_EQ(first(bottleneckOf(BottleneckKind::UncoalescedAccess)), "coalesced-access");
    EXPECT_EQ(first(bottleneckOf(BottleneckKind::Synchronization, {"histogram"})),
              "atomics-privatization");
}

TEST(RemedyTable, MistakesAreNamedWithTheirLine) {
    const auto mistake = [](const std::string& text) { return parseRemedyTable(text).error(); };
    const std::string good = "answers:\n  - bottleneck: compute\n    methods: [none]\n"
                             "    source: a book\nmethods: []\n";
    EXPECT_TRUE(parseRemedyTable(good));
    std::string kind = good;
    kind.replace(kind.find("compute"), 7, "slowness");
    EXPECT_EQ(mistake(kind).where, "remedies.yaml:2");
    std::string shape = good;
    shape.replace(shape.find("    methods"), 0, "    shapes: [round]\n");
    EXPECT_THAT(mistake(shape).what, HasSubstr("unknown shape round"));
    EXPECT_EQ(mistake(shape).where, "remedies.yaml:3");
    std::string none = good;
    none.replace(none.find("[none]"), 6, "[]");
    EXPECT_THAT(mistake(none).what, HasSubstr("there must be methods"));
}

} // namespace
} // namespace kernelskill::engine
