#include "engine/diagnosis/bottleneck.h"

#include "engine/diagnosis/code_shape.h"
#include "engine/diagnosis/gain_model.h"
#include "engine/diagnosis/rule_table.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A kernel can have hundreds of accesses. Users do not read more evidence than this per rule.
constexpr std::size_t evidencePerRule = 4;

struct Match {
    const Rule* rule = nullptr;
    std::vector<const Signal*> signals; ///< Strongest first.
};

/// The best origin that yields a signal for each kind, whether or not its rule holds.
using BestBasis = std::map<BottleneckKind, SignalBasis>;

BestBasis bestBasisOf(const RuleTable& table, const std::vector<Signal>& signals) {
    BestBasis best;
    for (const Rule& rule : table.rules) {
        const bool isKnown = std::ranges::any_of(
            signals, [&](const Signal& signal) { return signal.name == rule.signal; });
        if (!isKnown || rule.isSupport)
            continue;
        auto& basis = best.try_emplace(rule.kind, rule.basis).first->second;
        basis = std::max(basis, rule.basis);
    }
    return best;
}

std::vector<Match> matchesOf(const RuleTable& table, const std::vector<Signal>& signals) {
    const BestBasis best = bestBasisOf(table, signals);
    std::vector<Match> matches;
    for (const Rule& rule : table.rules) {
        const auto basis = best.find(rule.kind);
        if (basis == best.end() || rule.basis < basis->second || !rule.isAllowedBy(signals))
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
            return rule.threshold.atLeast ? leftWeight > rightWeight : leftWeight < rightWeight;
        });
        matches.push_back(std::move(match));
    }
    return matches;
}

/// Strongest first. If several places of one line say the same, as the load and the store of `y[i]
/// += 1`, it is said once.
std::vector<Evidence> evidenceOf(const Match& match) {
    std::vector<Evidence> evidence;
    std::vector<int> counts;
    for (const Signal* signal : match.signals) {
        Evidence found{match.rule->describe(*signal), match.rule->describeShortly(*signal),
                       signal->file, signal->line};
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

std::vector<Signal> allSignals(const DiagnosisInput& input, const WarpView* warp,
                               const CodeShape* shape, double launchSeconds) {
    const std::vector<Signal> fromText = staticSignals(input, warp, shape);
    std::vector<Signal> signals = fromText;
    for (auto more : {compilerSignals(input), profileSignals(input, fromText),
                      machineSignals(input, fromText, launchSeconds), measuredSignals(input)})
        std::ranges::move(more, std::back_inserter(signals));
    return signals;
}

/// The headroom from measured percentages of the GPU's peaks, whatever the bottleneck is.
std::optional<std::string> measuredHeadroom(const std::vector<Signal>& signals) {
    std::optional<double> nearest;
    for (const Signal& signal : signals)
        if (signal.name == "memory_percent" || signal.name == "sm_percent")
            nearest = std::max(nearest.value_or(0), signal.value);
    if (!nearest)
        return std::nullopt;
    return *nearest < 60 ? "high" : *nearest < 80 ? "medium" : "low";
}

/// A kernel that moves each byte once, in requests as wide as they can be, takes as long as the
/// memory takes, whatever its intensity; so does one that moves each byte once and was measured at
/// nearly the memory's peak.
bool isAtItsLimit(const Bottleneck& bottleneck, const std::vector<Signal>& signals) {
    constexpr double nearPeak = 90;
    constexpr double belowLow = 80; // As in measuredHeadroom().
    const auto has = [&](std::string_view name) {
        return std::ranges::find(bottleneck.shapes, name) != bottleneck.shapes.end();
    };
    if (bottleneck.kind != BottleneckKind::MemoryBandwidth || !has(shape::streaming))
        return false;
    const auto measured = std::ranges::find(signals, "memory_percent", &Signal::name);
    if (measured == signals.end())
        return has(shape::streamingWide);
    return measured->value >= (has(shape::streamingWide) ? belowLow : nearPeak);
}

} // namespace

Bottleneck diagnose(const DiagnosisInput& input) {
    Bottleneck bottleneck;
    const auto& table = builtinRules();
    if (!table) {
        bottleneck.rule = table.error().describe();
        return bottleneck;
    }
    std::optional<WarpView> warp;
    std::optional<CodeShape> shape;
    if (input.file != nullptr) {
        warp.emplace(*input.file, input.kernel);
        shape = codeShapeOf(*warp);
        for (const ShapeFact& fact : shape->facts)
            bottleneck.shapes.emplace_back(fact.name);
    }
    const auto signals =
        allSignals(input, warp ? &*warp : nullptr, shape ? &*shape : nullptr, table->launchSeconds);
    const auto matches = matchesOf(*table, signals);
    const auto decides = [](const Match& match) { return !match.rule->isSupport; };
    const auto first = std::ranges::find_if(matches, decides);
    if (first == matches.end()) {
        bottleneck.rule = "no rule of the table holds";
        bottleneck.evidence.push_back(
            {input.profile != nullptr ? "nothing that was counted points to a bottleneck"
                                      : "nothing in the text points to a bottleneck; a profile may",
             {},
             input.kernel.file,
             {}});
        return bottleneck;
    }
    const Signal& leading = *first->signals.front();
    bottleneck.kind = first->rule->kind;
    bottleneck.rule = first->rule->id;
    bottleneck.gain = gainOf(bottleneck.kind, leading, input, table->launchSeconds);
    bottleneck.headroom =
        bottleneck.gain ? headroomOf(*bottleneck.gain) : first->rule->headroomAt(leading.value);
    if (const auto measured = measuredHeadroom(signals))
        bottleneck.headroom = *measured;
    if (isAtItsLimit(bottleneck, signals))
        bottleneck.headroom = noHeadroom;
    // The evidence that decided comes first, supporting evidence last.
    for (const bool isSupport : {false, true})
        for (const Match& match : matches)
            if (match.rule->kind == bottleneck.kind && match.rule->isSupport == isSupport)
                std::ranges::move(evidenceOf(match), std::back_inserter(bottleneck.evidence));
    for (const Match& match : matches) {
        const bool isFurther = match.rule->kind != bottleneck.kind && decides(match) &&
                               match.rule->kind != BottleneckKind::Balanced;
        if (isFurther &&
            std::ranges::find(bottleneck.others, match.rule->kind) == bottleneck.others.end())
            bottleneck.others.push_back(match.rule->kind);
    }
    return bottleneck;
}

} // namespace kernelskill::engine
