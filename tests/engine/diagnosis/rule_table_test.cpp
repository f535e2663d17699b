#include "engine/diagnosis/rule_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const RuleTable& builtin() {
    const auto& table = builtinRules();
    EXPECT_TRUE(table) << table.error().describe();
    return *table;
}

std::string withRule(const std::string& rule) {
    std::string text(builtinRuleText());
    return text.substr(0, text.find("rules:")) + "rules:\n  - {" + rule + "}\n";
}

TEST(RuleTable, TheBuiltinTableIsRead) {
    EXPECT_GE(builtin().rules.size(), 10u);
    EXPECT_GT(builtin().launchSeconds, 0);
}

TEST(RuleTable, EveryThresholdHasASourceAndEveryRuleItsOwnName) {
    std::set<std::string> names;
    for (const Rule& rule : builtin().rules) {
        EXPECT_FALSE(rule.source.empty()) << rule.id;
        EXPECT_TRUE(names.insert(rule.id).second) << rule.id;
    }
}

TEST(RuleTable, EveryRuleSaysItsValueAndItsThreshold) {
    for (const Rule& rule : builtin().rules) {
        bool isYesOrNo = rule.threshold.atLeast == 1.0 && rule.basis == SignalBasis::Static;
        if (isYesOrNo)
            continue;
        // An explanation of the features names the value itself.
        EXPECT_THAT(rule.text, ::testing::AnyOf(HasSubstr("{value}"), HasSubstr("{explanation}")))
            << rule.id;
        EXPECT_THAT(rule.text, HasSubstr("threshold")) << rule.id;
    }
}

TEST(RuleTable, HasARuleForEachKind) {
    std::set<BottleneckKind> kinds;
    for (const Rule& rule : builtin().rules)
        kinds.insert(rule.kind);
    EXPECT_EQ(kinds.size(), 12u);
}

TEST(RuleTable, AConditionIsReadWithItsThresholdAndItsSignalMustExist) {
    const std::string rule = "id: x, kind: compute, basis: measured, signal: sm_percent, "
                             "at_least: 70, headroom: {high: 1, medium: 1}, text: t, source: s, ";
    const auto table =
        parseRuleTable(withRule(rule + "and: [{signal: dram_percent, at_most: 60}], "
                                       "and_if_known: [{signal: microseconds, at_least: 5}]"));
    ASSERT_TRUE(table) << table.error().describe();
    const Rule& parsed = table->rules.front();
    ASSERT_EQ(parsed.conditions.size(), 2u);
    Signal dram;
    dram.name = "dram_percent";
    dram.value = 50;
    EXPECT_FALSE(parsed.isAllowedBy({}));
    EXPECT_TRUE(parsed.isAllowedBy({dram})); // The time was not measured.
    Signal time;
    time.name = "microseconds";
    time.value = 4;
    EXPECT_FALSE(parsed.isAllowedBy({dram, time}));
    time.value = 5;
    EXPECT_TRUE(parsed.isAllowedBy({dram, time}));
    dram.value = 61;
    EXPECT_FALSE(parsed.isAllowedBy({dram, time}));
    EXPECT_FALSE(parseRuleTable(withRule(rule + "and: [{signal: luck, at_most: 60}]")));
    EXPECT_FALSE(parseRuleTable(withRule(rule + "and: [{signal: dram_percent}]")));
}

TEST(RuleTable, AnUnknownKindIsAnErrorWithItsLine) {
    auto table = parseRuleTable(
        withRule("id: x, kind: boredom, basis: static, signal: static_intensity_over_balance, "
                 "at_least: 1, headroom: {high: 1, medium: 1}, text: t, source: s"));
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(table.error().where, HasSubstr("thresholds.yaml:"));
}

TEST(RuleTable, AnUnknownSignalOrBothThresholdsAreErrors) {
    EXPECT_FALSE(
        parseRuleTable(withRule("id: x, kind: compute, basis: static, signal: luck, at_least: 1, "
                                "headroom: {high: 1, medium: 1}, text: t, source: s")));
    EXPECT_FALSE(parseRuleTable(withRule(
        "id: x, kind: compute, basis: static, signal: static_intensity_over_balance, at_least: 1, "
        "at_most: 2, headroom: {high: 1, medium: 1}, text: t, source: s")));
    EXPECT_FALSE(parseRuleTable(
        withRule("id: x, kind: compute, basis: static, signal: static_intensity_over_balance, "
                 "at_least: often, headroom: {high: 1, medium: 1}, text: t, source: s")));
    EXPECT_FALSE(parseRuleTable("rules: ["));
}

TEST(Rule, HoldsFromItsThresholdOnAndOnlyWithItsShare) {
    Rule rule;
    rule.signal = "s";
    rule.threshold.atLeast = 2;
    rule.share = 0.1;
    Signal signal;
    signal.name = "s";
    signal.value = 2;
    signal.share = 0.1;
    EXPECT_TRUE(rule.holds(signal));
    signal.value = 1.99;
    EXPECT_FALSE(rule.holds(signal));
    signal.value = 3;
    signal.share = 0.05;
    EXPECT_FALSE(rule.holds(signal));
    signal.share = 1;
    signal.name = "other";
    EXPECT_FALSE(rule.holds(signal));
}

TEST(Rule, HeadroomRisesOrFallsWithTheValue) {
    Rule rule;
    rule.highHeadroom = 4;
    rule.mediumHeadroom = 2;
    EXPECT_EQ(rule.headroomAt(8), "high");
    EXPECT_EQ(rule.headroomAt(2), "medium");
    EXPECT_EQ(rule.headroomAt(1), "low");
    rule.headroomFalls = true;
    rule.mediumHeadroom = 8;
    EXPECT_EQ(rule.headroomAt(3), "high");
    EXPECT_EQ(rule.headroomAt(8), "medium");
    EXPECT_EQ(rule.headroomAt(9), "low");
}

TEST(Rule, CountsAreWrittenAsIntegersAndLinesAsPeopleCountThem) {
    Rule rule;
    rule.threshold.atLeast = 1.5;
    rule.text = "{value} vs {threshold} {where}: {count}";
    Signal signal;
    signal.value = 8;
    signal.numbers["count"] = 1048576;
    signal.line = 11;
    EXPECT_EQ(rule.describe(signal), "8 vs 1.50 on line 12: 1048576");
    signal.value = 0.00208;
    EXPECT_THAT(rule.describe(signal), HasSubstr("0.0021 vs 1.50"));
    signal.line.reset();
    EXPECT_THAT(rule.describe(signal), HasSubstr("in the kernel"));
}

} // namespace
} // namespace kernelskill::engine
