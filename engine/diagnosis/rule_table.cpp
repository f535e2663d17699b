#include "engine/diagnosis/rule_table.h"

#include <spdlog/fmt/fmt.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::array<std::pair<BottleneckKind, std::string_view>, 12> kindSpellings{{
    {BottleneckKind::MemoryBandwidth, "memory-bandwidth"},
    {BottleneckKind::MemoryLatency, "memory-latency"},
    {BottleneckKind::UncoalescedAccess, "uncoalesced-access"},
    {BottleneckKind::BankConflicts, "bank-conflicts"},
    {BottleneckKind::Compute, "compute"},
    {BottleneckKind::TensorCoreEligible, "tensor-core-eligible"},
    {BottleneckKind::Occupancy, "occupancy"},
    {BottleneckKind::RegisterSpill, "register-spill"},
    {BottleneckKind::Divergence, "divergence"},
    {BottleneckKind::LaunchOverhead, "launch-overhead"},
    {BottleneckKind::Synchronization, "synchronization"},
    {BottleneckKind::Balanced, "balanced"},
}};

/// Formats counts as integers and ratios with two digits: "31", "1.03", "0.0021", "1048576".
std::string spelled(double value) {
    if (std::abs(value - std::round(value)) < 5e-4 && std::abs(value) < 1e15)
        return fmt::format("{}", static_cast<std::int64_t>(std::llround(value)));
    if (std::abs(value) < 0.1)
        return fmt::format("{:.2g}", value);
    return std::abs(value) < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

/// Replaces each `{name}` by its value. An unknown name stays; a test of the table catches that.
std::string fillIn(std::string_view pattern, const std::map<std::string, std::string>& values) {
    std::string text;
    while (!pattern.empty()) {
        std::size_t open = pattern.find('{');
        text += pattern.substr(0, open);
        if (open == std::string_view::npos)
            break;
        std::size_t close = pattern.find('}', open);
        if (close == std::string_view::npos)
            return text + std::string(pattern.substr(open));
        auto value = values.find(std::string(pattern.substr(open + 1, close - open - 1)));
        text += value != values.end() ? value->second
                                      : std::string(pattern.substr(open, close - open + 1));
        pattern.remove_prefix(close + 1);
    }
    return text;
}

constexpr std::array<std::pair<std::string_view, SignalBasis>, 4> basisSpellings{{
    {"static", SignalBasis::Static},
    {"compiler", SignalBasis::Compiler},
    {"profile", SignalBasis::Profile},
    {"measured", SignalBasis::Measured},
}};

Error wrong(const YAML::Mark& mark, std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what),
                 fmt::format("thresholds.yaml:{}", mark.line + 1), ""};
}

Result<Threshold> thresholdOf(const YAML::Node& node) {
    Threshold threshold;
    if (node["at_least"])
        threshold.atLeast = node["at_least"].as<double>();
    if (node["at_most"])
        threshold.atMost = node["at_most"].as<double>();
    if (threshold.atLeast.has_value() == threshold.atMost.has_value())
        return std::unexpected(wrong(node.Mark(), "there must be either at_least or at_most"));
    return threshold;
}

/// A condition may use signals of any origin.
bool isKnownSignal(std::string_view name) {
    return std::ranges::any_of(basisSpellings, [&](const auto& entry) {
        const auto names = signalNames(entry.second);
        return std::ranges::find(names, name) != names.end();
    });
}

Result<Condition> conditionOf(const YAML::Node& node, bool onlyIfKnown) {
    Condition condition{node["signal"].as<std::string>(), {}, onlyIfKnown};
    if (!isKnownSignal(condition.signal))
        return std::unexpected(wrong(node["signal"].Mark(), "unknown signal " + condition.signal));
    auto threshold = thresholdOf(node);
    if (!threshold)
        return std::unexpected(threshold.error());
    condition.threshold = *threshold;
    return condition;
}

Result<Rule> ruleOf(const YAML::Node& node) {
    Rule rule;
    rule.id = node["id"].as<std::string>();
    const auto kind = bottleneckSpelled(node["kind"].as<std::string>());
    if (!kind)
        return std::unexpected(wrong(node["kind"].Mark(), "unknown bottleneck kind"));
    rule.kind = *kind;
    const auto basis = node["basis"].as<std::string>();
    const auto known =
        std::ranges::find(basisSpellings, basis, &std::pair<std::string_view, SignalBasis>::first);
    if (known == basisSpellings.end())
        return std::unexpected(
            wrong(node["basis"].Mark(), "basis is static, compiler, profile or measured"));
    rule.basis = known->second;
    rule.signal = node["signal"].as<std::string>();
    const auto names = signalNames(rule.basis);
    if (std::ranges::find(names, rule.signal) == names.end())
        return std::unexpected(wrong(node["signal"].Mark(), "unknown signal " + rule.signal));
    auto threshold = thresholdOf(node);
    if (!threshold)
        return std::unexpected(threshold.error());
    rule.threshold = *threshold;
    if (node["share"])
        rule.share = node["share"].as<double>();
    rule.isSupport = node["support"] && node["support"].as<bool>();
    for (const bool onlyIfKnown : {false, true}) {
        for (const YAML::Node& entry : node[onlyIfKnown ? "and_if_known" : "and"]) {
            auto condition = conditionOf(entry, onlyIfKnown);
            if (!condition)
                return std::unexpected(condition.error());
            rule.conditions.push_back(std::move(*condition));
        }
    }
    const YAML::Node headroom = node["headroom"];
    rule.highHeadroom = headroom["high"].as<double>();
    rule.mediumHeadroom = headroom["medium"].as<double>();
    rule.headroomFalls = headroom["falling"] && headroom["falling"].as<bool>();
    rule.text = node["text"].as<std::string>();
    if (node["hint"])
        rule.hint = node["hint"].as<std::string>();
    rule.source = node["source"].as<std::string>();
    return rule;
}

/// `{name}` is the number, `{name:s}` the ending of what it counts.
void add(std::string name, double number, std::map<std::string, std::string>& values) {
    std::string text = spelled(number);
    values[name + ":s"] = text == "1" ? "" : "s";
    values[std::move(name)] = std::move(text);
}

std::string filledIn(std::string_view pattern, const Rule& rule, const Signal& fact) {
    std::map<std::string, std::string> values = fact.words;
    for (const auto& [name, number] : fact.numbers)
        add(name, number, values);
    add("value", fact.value, values);
    values["threshold"] = spelled(rule.threshold.value());
    values.try_emplace("where",
                       fact.line ? fmt::format("on line {}", *fact.line + 1) : "in the kernel");
    return fillIn(pattern, values);
}

} // namespace

std::string_view spelling(BottleneckKind kind) {
    for (const auto& [candidate, spelledKind] : kindSpellings) {
        if (candidate == kind)
            return spelledKind;
    }
    return "balanced";
}

std::optional<BottleneckKind> bottleneckSpelled(std::string_view text) {
    for (const auto& [kind, spelledKind] : kindSpellings) {
        if (spelledKind == text)
            return kind;
    }
    return std::nullopt;
}

bool Threshold::holds(double value) const {
    return std::isfinite(value) && (atLeast ? value >= *atLeast : value <= *atMost);
}

bool Rule::holds(const Signal& candidate) const {
    return candidate.name == signal && candidate.share >= share && threshold.holds(candidate.value);
}

bool Rule::isAllowedBy(const std::vector<Signal>& signals) const {
    return std::ranges::all_of(conditions, [&](const Condition& condition) {
        const auto fact = std::ranges::find(signals, condition.signal, &Signal::name);
        return fact == signals.end() ? condition.onlyIfKnown
                                     : condition.threshold.holds(fact->value);
    });
}

std::string_view Rule::headroomAt(double value) const {
    auto reaches = [&](double limit) { return headroomFalls ? value <= limit : value >= limit; };
    if (reaches(highHeadroom))
        return "high";
    return reaches(mediumHeadroom) ? "medium" : "low";
}

std::string Rule::describe(const Signal& fact) const {
    return filledIn(text, *this, fact);
}

std::string Rule::describeShortly(const Signal& fact) const {
    return filledIn(hint, *this, fact);
}

Result<RuleTable> parseRuleTable(std::string_view yaml) {
    try {
        YAML::Node root = YAML::Load(std::string(yaml));
        RuleTable table;
        table.launchSeconds = root["launch"]["seconds"].as<double>();
        for (const YAML::Node& node : root["rules"]) {
            auto rule = ruleOf(node);
            if (!rule)
                return std::unexpected(rule.error());
            table.rules.push_back(std::move(*rule));
        }
        return table;
    } catch (const YAML::Exception& error) {
        return std::unexpected(wrong(error.mark, error.msg));
    }
}

const Result<RuleTable>& builtinRules() {
    static const Result<RuleTable> table = parseRuleTable(builtinRuleText());
    return table;
}

} // namespace kernelskill::engine
