#include "engine/diagnosis/bottleneck.h"

#include "engine/diagnosis/rule_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A kernel can have hundreds of accesses; nobody reads more evidence than this of one rule.
constexpr std::size_t evidencePerRule = 4;

struct Match {
    const Rule* rule = nullptr;
    std::vector<const Signal*> signals; ///< Strongest first.
};

std::vector<Match> matchesOf(const RuleTable& table, const std::vector<Signal>& signals,
                             const std::set<BottleneckKind>& measuredKinds) {
    std::vector<Match> matches;
    for (const Rule& rule : table.rules) {
        if (rule.basis == RuleBasis::Static && measuredKinds.contains(rule.kind))
            continue;
        Match match{&rule, {}};
        for (const Signal& signal : signals) {
            if (rule.holds(signal))
                match.signals.push_back(&signal);
        }
        if (match.signals.empty())
            continue;
        std::ranges::stable_sort(match.signals, [&](const Signal* left, const Signal* right) {
            double leftWeight = left->value * left->share;
            double rightWeight = right->value * right->share;
            return rule.atLeast ? leftWeight > rightWeight : leftWeight < rightWeight;
        });
        matches.push_back(std::move(match));
    }
    return matches;
}

/// Kinds that the profile can speak about: there a rule's signal was counted, whether or not it
/// holds.
std::set<BottleneckKind> kindsMeasured(const RuleTable& table, const std::vector<Signal>& signals) {
    std::set<BottleneckKind> kinds;
    for (const Rule& rule : table.rules) {
        bool isCounted = std::ranges::any_of(
            signals, [&](const Signal& signal) { return signal.name == rule.signal; });
        if (rule.basis == RuleBasis::Profile && isCounted)
            kinds.insert(rule.kind);
    }
    return kinds;
}

/// Strongest first. What several places of one line have alike, such as the load and the store of
/// `y[i] += 1`, is said once.
std::vector<Evidence> evidenceOf(const Match& match, const Machine& machine) {
    std::vector<Evidence> evidence;
    std::vector<int> counts;
    for (const Signal* signal : match.signals) {
        Evidence found{match.rule->describe(*signal, machine), signal->file, signal->line};
        const auto same = std::ranges::find(evidence, found);
        if (same != evidence.end()) {
            ++counts[static_cast<std::size_t>(same - evidence.begin())];
        } else if (evidence.size() < evidencePerRule) {
            evidence.push_back(std::move(found));
            counts.push_back(1);
        }
    }
    for (std::size_t i = 0; i < evidence.size(); ++i)
        if (counts[i] > 1)
            evidence[i].text += "; " + std::to_string(counts[i]) + " alike" +
                                (evidence[i].line ? " on this line" : "");
    return evidence;
}

} // namespace

Bottleneck diagnose(const analysis::KernelModel& kernel, const analysis::Features& features,
                    const Profile* profile, const analysis::SourceText* source) {
    Bottleneck bottleneck;
    bottleneck.headroom = "low";
    const auto& table = builtinRules();
    if (!table) {
        bottleneck.rule = table.error().describe();
        return bottleneck;
    }
    std::vector<Signal> signals = staticSignals(kernel, features, source);
    std::set<BottleneckKind> measuredKinds;
    if (profile != nullptr) {
        auto counted = profileSignals(kernel, features, *profile, table->machine, source);
        measuredKinds = kindsMeasured(*table, counted);
        std::ranges::move(counted, std::back_inserter(signals));
    }
    auto matches = matchesOf(*table, signals, measuredKinds);
    if (matches.empty()) {
        bottleneck.rule = "no rule of the table holds";
        return bottleneck;
    }
    const Match& first = matches.front();
    bottleneck.kind = first.rule->kind;
    bottleneck.rule = first.rule->id;
    bottleneck.headroom = first.rule->headroomAt(first.signals.front()->value);
    for (const Match& match : matches) {
        if (match.rule->kind != bottleneck.kind) {
            if (std::ranges::find(bottleneck.others, match.rule->kind) == bottleneck.others.end())
                bottleneck.others.push_back(match.rule->kind);
            continue;
        }
        std::ranges::move(evidenceOf(match, table->machine),
                          std::back_inserter(bottleneck.evidence));
    }
    return bottleneck;
}

} // namespace kernelskill::engine
