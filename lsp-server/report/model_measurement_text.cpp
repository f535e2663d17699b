#include "lsp-server/report/model_measurement_text.h"

#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

namespace kernelskill::lsp {

namespace {

using engine::ModelMeasurement;
using engine::graph::ChoiceAccuracy;
using engine::graph::MeasuredVariant;
using engine::graph::MixVerdict;
using engine::graph::PlaceMeasurement;
using engine::graph::Tolerance;

std::string nodesOf(const PlaceMeasurement& place) {
    return place.nodes.empty() ? place.operation : fmt::format("{}", fmt::join(place.nodes, ", "));
}

std::string timeOf(const MeasuredVariant& variant) {
    return variant.time.microseconds ? durationText(*variant.time.microseconds) : "no time";
}

/// The number of the fastest variant that was not chosen, of those that were refused or of the
/// others; that of the chosen one if there is none.
std::size_t fastestOther(const PlaceMeasurement& place, bool isRefused) {
    std::size_t next = place.chosen;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < place.variants.size(); ++i) {
        const MeasuredVariant& variant = place.variants[i];
        // A refused variant counts without a time as well.
        const double time = variant.time.microseconds.value_or(
            isRefused ? std::numeric_limits<double>::max() : least);
        if (i == place.chosen || time >= least || variant.refused.empty() == isRefused)
            continue;
        least = time;
        next = i;
    }
    return next;
}

std::string lineOf(const PlaceMeasurement& place) {
    if (!place.isMeasured)
        return fmt::format("{}: not measured, {}{}", nodesOf(place), place.why,
                           place.chosen < place.variants.size()
                               ? "; by " + place.variants[place.chosen].what
                               : std::string());
    const MeasuredVariant& chosen = place.variants[place.chosen];
    std::string line = fmt::format("{}: {} by {}", nodesOf(place), timeOf(chosen), chosen.what);
    if (const std::size_t next = fastestOther(place, false); next != place.chosen)
        line += fmt::format("; {} by {}", timeOf(place.variants[next]), place.variants[next].what);
    line += place.isRemembered ? " (remembered)" : "";
    if (const std::size_t next = fastestOther(place, true); next != place.chosen)
        line += fmt::format("\n    not exact enough: {} by {}: {}", timeOf(place.variants[next]),
                            place.variants[next].what, place.variants[next].refused);
    return line;
}

/// A sentence without a stop.
std::string accuracyText(const ModelMeasurement& measurement) {
    const auto& accuracy = measurement.accuracy;
    const std::string_view tolerance = nameOf(measurement.tolerance);
    const std::string unknown =
        fmt::format("whether the results are right at {} is not known", tolerance);
    if (!accuracy)
        return fmt::format("not compared with LibTorch on a GPU: {}", unknown);
    const MixVerdict& verdict = accuracy->verdict;
    if (verdict.outcome == MixVerdict::Outcome::NotCompared)
        return fmt::format(
            "not compared with LibTorch on a GPU ({}): {}, so {}", verdict.why, unknown,
            measurement.tolerance == Tolerance::Tight ? "all products are in float32"
                                                      : "no product that was measured is in TF32");
    const std::string what =
        accuracy->isOfWhole ? "the whole model" : "its places, in the program that LibTorch runs";
    const std::string how =
        fmt::format("compared with LibTorch in float64 on six distributions of inputs, {}{}", what,
                    accuracy->isRemembered ? " (remembered)" : "");
    if (verdict.outcome == MixVerdict::Outcome::Right)
        return fmt::format("{}: right at {}, largest error {:.1e}", how, tolerance, verdict.error);
    return fmt::format("{}: wrong at {}, and nothing that was measured is right: {}", how,
                       tolerance, verdict.worst);
}

nlohmann::json accuracyJson(const ModelMeasurement& measurement) {
    nlohmann::json json{{"outcome", "not compared"}, {"why", "nothing was measured"}};
    if (const auto& accuracy = measurement.accuracy) {
        json = toJson(accuracy->verdict);
        json["of"] = accuracy->isOfWhole ? "the whole model" : "its places";
        json["remembered"] = accuracy->isRemembered;
    }
    json["tolerance"] = nameOf(measurement.tolerance);
    return json;
}

nlohmann::json placeJson(const PlaceMeasurement& place) {
    nlohmann::json variants = nlohmann::json::array();
    for (const MeasuredVariant& variant : place.variants)
        variants.push_back(
            {{"what", variant.what},
             {"microseconds", variant.time.microseconds ? nlohmann::json(*variant.time.microseconds)
                                                        : nlohmann::json()},
             {"spread", variant.time.spread},
             {"why", variant.time.why},
             {"refused", variant.refused}});
    return {{"nodes", place.nodes},
            {"operation", place.operation},
            {"measured", place.isMeasured},
            {"remembered", place.isRemembered},
            {"why", place.why},
            {"chosen", place.chosen < place.variants.size() ? place.variants[place.chosen].what
                                                            : std::string()},
            {"variants", std::move(variants)}};
}

void addRows(const PlaceMeasurement& place, Table& table) {
    double longest = 0;
    for (const MeasuredVariant& variant : place.variants)
        longest = std::max(longest, variant.time.microseconds.value_or(0));
    if (place.variants.empty())
        table.rows.push_back({{.text = nodesOf(place), .note = place.operation},
                              {.text = place.why, .tone = Tone::Quiet}});
    for (std::size_t i = 0; i < place.variants.size(); ++i) {
        const MeasuredVariant& variant = place.variants[i];
        const bool isChosen = i == place.chosen;
        TableCell time{.text = variant.time.microseconds ? durationText(*variant.time.microseconds)
                                                         : std::string("-")};
        if (variant.time.microseconds && longest > 0)
            time.share = *variant.time.microseconds / longest;
        const std::string why = !variant.refused.empty()   ? variant.refused
                                : variant.time.why.empty() ? place.why
                                                           : variant.time.why;
        const std::string outcome = isChosen                  ? "chosen"
                                    : variant.refused.empty() ? ""
                                                              : "not exact enough";
        table.rows.push_back(
            {i == 0 ? TableCell{.text = nodesOf(place), .note = place.operation} : TableCell{},
             {.text = variant.what, .tone = isChosen ? Tone::Good : Tone::Plain, .note = why},
             std::move(time),
             {.text = variant.time.microseconds ? fmt::format("{:.1f} %", variant.time.spread * 100)
                                                : std::string()},
             {.text = outcome,
              .note = isChosen && place.isRemembered ? "measured by an earlier run" : ""}});
    }
}

} // namespace

std::string modelMeasurementText(const ModelMeasurement& measurement) {
    if (measurement.gpu.empty())
        return fmt::format("not measured, so all products are left to libraries: {}\n{}",
                           measurement.why, accuracyText(measurement));
    std::string text =
        fmt::format("measured on {} in {:.1f} s", measurement.gpu, measurement.seconds);
    for (const PlaceMeasurement& place : measurement.places)
        text += "\n  " + lineOf(place);
    if (measurement.whole)
        text += "\n  " + lineOf(*measurement.whole);
    return text + "\n" + accuracyText(measurement);
}

nlohmann::json modelMeasurementJson(const ModelMeasurement& measurement) {
    nlohmann::json places = nlohmann::json::array();
    for (const PlaceMeasurement& place : measurement.places)
        places.push_back(placeJson(place));
    nlohmann::json json{{"gpu", measurement.gpu},
                        {"why", measurement.why},
                        {"seconds", measurement.seconds},
                        {"places", std::move(places)},
                        {"accuracy", accuracyJson(measurement)}};
    if (measurement.whole)
        json["whole"] = placeJson(*measurement.whole);
    return json;
}

ReportSection modelMeasurementSection(const ModelMeasurement& measurement) {
    ReportSection section{.title = "Own kernels or a library", .blocks = {}};
    if (measurement.gpu.empty()) {
        section.blocks.emplace_back(Paragraph{fmt::format(
            "Nothing was measured, so all products are left to libraries: {}. The model is {}.",
            measurement.why, accuracyText(measurement))});
        return section;
    }
    section.blocks.emplace_back(Paragraph{fmt::format(
        "Medians of rounds in turns on {}, the L2 cache swept before each. Within a hundredth of "
        "the fastest, own kernels are chosen before a library, and more exact ones before others. "
        "The model was {}.",
        measurement.gpu, accuracyText(measurement))});
    Table table;
    table.columns = {{.title = "nodes", .isCode = true},
                     {.title = "by"},
                     {.title = "time", .isNumber = true},
                     {.title = "spread", .isNumber = true, .note = "of the quartiles"},
                     {.title = ""}};
    for (const PlaceMeasurement& place : measurement.places)
        addRows(place, table);
    if (measurement.whole)
        addRows(*measurement.whole, table);
    section.blocks.emplace_back(std::move(table));
    return section;
}

} // namespace kernelskill::lsp
