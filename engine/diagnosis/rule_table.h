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

enum class RuleBasis : std::uint8_t { Static, Profile };

struct Rule {
    std::string id;
    BottleneckKind kind = BottleneckKind::Balanced;
    RuleBasis basis = RuleBasis::Static;
    std::string signal;
    std::optional<double> atLeast;
    std::optional<double> atMost;
    double share = 0;
    double highHeadroom = 0;
    double mediumHeadroom = 0;
    bool headroomFalls = false; ///< Headroom is high at or below the value, not above it.
    std::string text;
    std::string source;

    [[nodiscard]] bool holds(const Signal& signal) const;
    [[nodiscard]] double threshold() const { return atLeast ? *atLeast : atMost.value_or(0); }
    /// "high", "medium" or "low"
    [[nodiscard]] std::string_view headroomAt(double value) const;
    /// The evidence as a sentence.
    [[nodiscard]] std::string describe(const Signal& signal, const Machine& machine) const;
};

struct RuleTable {
    Machine machine;
    std::vector<Rule> rules; ///< First match first.
};

/// InvalidInput with the line of the first thing that is wrong.
[[nodiscard]] Result<RuleTable> parseRuleTable(std::string_view yaml);

/// The text of thresholds.yaml that this program was built with.
[[nodiscard]] std::string_view builtinRuleText();
/// The same, parsed once. Its errors are a defect of the build; a test keeps them out.
[[nodiscard]] const Result<RuleTable>& builtinRules();

/// The kind that `text` spells; nullopt when there is none.
[[nodiscard]] std::optional<BottleneckKind> bottleneckSpelled(std::string_view text);

} // namespace kernelskill::engine
