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

/// Counts as integers, ratios with two digits: "31", "1.03", "1048576".
std::string spelled(double value) {
    if (std::abs(value - std::round(value)) < 5e-4 && std::abs(value) < 1e15)
        return fmt::format("{}", static_cast<std::int64_t>(std::llround(value)));
    return std::abs(value) < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

/// Puts values in for `{name}`. A name nobody knows stays as it is, which a test of the table
/// catches.
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

Machine machineOf(const YAML::Node& node) {
    Machine machine;
    machine.name = node["name"].as<std::string>();
    machine.operationsPerSecond = node["operations_per_second"].as<double>();
    machine.bytesPerSecond = node["bytes_per_second"].as<double>();
    machine.multiprocessors = node["multiprocessors"].as<double>();
    machine.warpsPerMultiprocessor = node["warps_per_multiprocessor"].as<double>();
    machine.blocksPerMultiprocessor = node["blocks_per_multiprocessor"].as<double>();
    machine.sharedBytesPerMultiprocessor = node["shared_bytes_per_multiprocessor"].as<double>();
    machine.sharedBytesReservedPerBlock = node["shared_bytes_reserved_per_block"].as<double>();
    return machine;
}

Error wrong(const YAML::Mark& mark, std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what),
                 fmt::format("thresholds.yaml:{}", mark.line + 1), ""};
}

Result<Rule> ruleOf(const YAML::Node& node) {
    Rule rule;
    rule.id = node["id"].as<std::string>();
    auto kind = bottleneckSpelled(node["kind"].as<std::string>());
    if (!kind)
        return std::unexpected(wrong(node["kind"].Mark(), "unknown bottleneck kind"));
    rule.kind = *kind;
    auto basis = node["basis"].as<std::string>();
    if (basis != "static" && basis != "profile")
        return std::unexpected(wrong(node["basis"].Mark(), "basis is static or profile"));
    rule.basis = basis == "static" ? RuleBasis::Static : RuleBasis::Profile;
    rule.signal = node["signal"].as<std::string>();
    auto known = signalNames(rule.basis == RuleBasis::Profile);
    if (std::ranges::find(known, rule.signal) == known.end())
        return std::unexpected(wrong(node["signal"].Mark(), "unknown signal " + rule.signal));
    if (node["at_least"])
        rule.atLeast = node["at_least"].as<double>();
    if (node["at_most"])
        rule.atMost = node["at_most"].as<double>();
    if (rule.atLeast.has_value() == rule.atMost.has_value())
        return std::unexpected(wrong(node.Mark(), "a rule has either at_least or at_most"));
    if (node["share"])
        rule.share = node["share"].as<double>();
    const YAML::Node headroom = node["headroom"];
    rule.highHeadroom = headroom["high"].as<double>();
    rule.mediumHeadroom = headroom["medium"].as<double>();
    rule.headroomFalls = headroom["falling"] && headroom["falling"].as<bool>();
    rule.text = node["text"].as<std::string>();
    rule.source = node["source"].as<std::string>();
    return rule;
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

bool Rule::holds(const Signal& candidate) const {
    if (candidate.name != signal || candidate.share < share || !std::isfinite(candidate.value))
        return false;
    return atLeast ? candidate.value >= *atLeast : candidate.value <= *atMost;
}

std::string_view Rule::headroomAt(double value) const {
    auto reaches = [&](double limit) { return headroomFalls ? value <= limit : value >= limit; };
    if (reaches(highHeadroom))
        return "high";
    return reaches(mediumHeadroom) ? "medium" : "low";
}

std::string Rule::describe(const Signal& fact, const Machine& machine) const {
    std::map<std::string, std::string> values = fact.words;
    for (const auto& [name, number] : fact.numbers)
        values[name] = spelled(number);
    values["value"] = spelled(fact.value);
    values["threshold"] = spelled(threshold());
    values["where"] = fact.line ? fmt::format("on line {}", *fact.line + 1) : "in the kernel";
    values["machine"] = machine.name;
    values["multiprocessors"] = spelled(machine.multiprocessors);
    return fillIn(text, values);
}

Result<RuleTable> parseRuleTable(std::string_view yaml) {
    try {
        YAML::Node root = YAML::Load(std::string(yaml));
        RuleTable table;
        table.machine = machineOf(root["machine"]);
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
