/// The bottleneck rules as data, read from thresholds.yaml.
#pragma once

#include "analysis/source/error.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/signals.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// One end of a signal's range.
struct Threshold {
    std::optional<double> atLeast;
    std::optional<double> atMost;

    [[nodiscard]] bool holds(double value) const;
    [[nodiscard]] double value() const { return atLeast ? *atLeast : atMost.value_or(0); }
};

/// A further condition of a rule, on the kernel as a whole.
struct Condition {
    std::string signal;
    Threshold threshold;
    bool onlyIfKnown = false; ///< Without such a signal the condition holds.
};

struct Rule {
    std::string id;
    BottleneckKind kind = BottleneckKind::Balanced;
    SignalBasis basis = SignalBasis::Static;
    std::string signal;
    Threshold threshold;
    double share = 0;
    bool isSupport =
        false; ///< The rule adds evidence if another rule of its kind holds; it decides nothing.
    std::vector<Condition> conditions;
    double highHeadroom = 0; ///< The three headroom values apply if no gain is known.
    double mediumHeadroom = 0;
    bool headroomFalls = false; ///< Headroom is high at or below the value instead of above it.
    std::string text;
    std::string hint; ///< A few words for an editor's line; may be empty.
    std::string source;

    [[nodiscard]] bool holds(const Signal& signal) const;
    /// Whether `signals` meet the other conditions.
    [[nodiscard]] bool isAllowedBy(const std::vector<Signal>& signals) const;
    /// "high", "medium" or "low"
    [[nodiscard]] std::string_view headroomAt(double value) const;
    /// The evidence as a sentence.
    [[nodiscard]] std::string describe(const Signal& signal) const;
    /// The evidence as a few words.
    [[nodiscard]] std::string describeShortly(const Signal& signal) const;
};

struct RuleTable {
    double launchSeconds = 0; ///< The time of an empty launch.
    std::vector<Rule> rules;  ///< The first rule that matches decides.
};

/// Fails with InvalidInput and the line of the first mistake.
[[nodiscard]] Result<RuleTable> parseRuleTable(std::string_view yaml);

/// The text of thresholds.yaml that this program was built with.
[[nodiscard]] std::string_view builtinRuleText();
/// The parsed table. Its errors are a defect of the build; a test prevents them.
[[nodiscard]] const Result<RuleTable>& builtinRules();

/// The kind whose name is `text`; nullopt if there is none.
[[nodiscard]] std::optional<BottleneckKind> bottleneckSpelled(std::string_view text);

} // namespace kernelskill::engine
