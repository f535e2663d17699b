#include "lsp-server/report/profile_comparison.h"

#include "analysis/source/json.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// A smaller change may come from another order of threads.
constexpr double leastChange = 0.01;

/// The labels of all metrics of both sides that have one.
std::map<std::string, std::string> labelsOf(const ProfileSide& before, const ProfileSide& after) {
    engine::Metrics all;
    for (const ProfileSide* side : {&before, &after})
        for (const auto& [name, value] : side->metrics)
            all[name] = 1; // Zeros are left out of sections.
    std::map<std::string, std::string> labels;
    for (const MetricSection& section : metricSections(all))
        for (const MetricText& metric : section.metrics)
            labels[metric.name] = fmt::format("{}: {}", section.title, metric.label);
    return labels;
}

std::string textOf(const engine::Metrics& metrics, const std::string& name) {
    const auto value = engine::findMetric(metrics, name);
    return value ? allMetrics({{name, *value}}).front().value : "-";
}

/// How far apart the two are, whichever is larger; infinite where one is 0.
double distance(const ComparedMetric& metric) {
    const double before = std::abs(metric.before.value_or(0));
    const double after = std::abs(metric.after.value_or(0));
    return std::max(before, after) / std::min(before, after);
}

json sideJson(const ProfileSide& side) {
    return {{"label", side.label},
            {"kernel", side.kernel},
            {"executor", side.executor},
            {"launch", side.launch},
            {"bottleneck", side.bottleneck}};
}

json known(const std::optional<double>& value) {
    return value ? json(*value) : json(nullptr);
}

} // namespace

std::optional<double> ComparedMetric::ratio() const {
    return before && after && *before != 0 ? std::optional(*after / *before) : std::nullopt;
}

std::vector<ComparedMetric> changedMetrics(const ProfileSide& before, const ProfileSide& after) {
    const auto labels = labelsOf(before, after);
    engine::Metrics names = before.metrics;
    names.insert(after.metrics.begin(), after.metrics.end());
    std::vector<ComparedMetric> changed;
    for (const auto& [name, ignored] : names) {
        ComparedMetric metric{name,
                              {},
                              engine::findMetric(before.metrics, name),
                              engine::findMetric(after.metrics, name),
                              textOf(before.metrics, name),
                              textOf(after.metrics, name)};
        const auto label = labels.find(name);
        if (label != labels.end())
            metric.label = label->second;
        const bool isOnBoth = metric.before && metric.after;
        if (!isOnBoth && label == labels.end())
            continue;
        const double largest =
            std::max(std::abs(metric.before.value_or(0)), std::abs(metric.after.value_or(0)));
        const double apart = std::abs(metric.before.value_or(0) - metric.after.value_or(0));
        if (largest > 0 && apart >= leastChange * largest)
            changed.push_back(std::move(metric));
    }
    std::ranges::stable_sort(changed, [](const ComparedMetric& left, const ComparedMetric& right) {
        const bool isLeftOnBoth = left.before && left.after;
        const bool isRightOnBoth = right.before && right.after;
        if (isLeftOnBoth != isRightOnBoth)
            return isLeftOnBoth;
        return distance(left) > distance(right);
    });
    return changed;
}

std::string changeText(const ComparedMetric& metric) {
    const auto ratio = metric.ratio();
    if (!ratio || *ratio < 0)
        return {};
    constexpr double asFactor = 2; // From here on a factor reads better than percent.
    if (*ratio == 0)
        return "none any more";
    if (*ratio >= asFactor)
        return fmt::format("{:.3g} times as much", *ratio);
    if (*ratio <= 1 / asFactor)
        return fmt::format("{:.3g} times less", 1 / *ratio);
    return *ratio > 1 ? fmt::format("{:.0f} % more", 100 * (*ratio - 1))
                      : fmt::format("{:.0f} % less", 100 * (1 - *ratio));
}

std::vector<std::string> comparisonNotes(const ProfileSide& before, const ProfileSide& after) {
    std::vector<std::string> notes;
    if (before.launch != after.launch)
        notes.push_back(fmt::format("The launches differ: {} in {}, {} in {}.", before.launch,
                                    before.label, after.launch, after.label));
    if (before.executor != after.executor)
        notes.push_back(fmt::format("{} is of the {}, {} of the {}: they do not count alike.",
                                    before.label, before.executor, after.label, after.executor));
    return notes;
}

json comparisonJson(const ProfileSide& before, const ProfileSide& after) {
    json changed = json::array();
    for (const ComparedMetric& metric : changedMetrics(before, after))
        changed.push_back({{"name", metric.name},
                           {"label", metric.label},
                           {"before", known(metric.before)},
                           {"after", known(metric.after)},
                           {"ratio", known(metric.ratio())}});
    return {{"before", sideJson(before)},
            {"after", sideJson(after)},
            {"changed", std::move(changed)},
            {"notes", comparisonNotes(before, after)}};
}

} // namespace kernelskill::lsp
