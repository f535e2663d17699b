#include "lsp-server/report/model_measurement_text.h"

#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace kernelskill::lsp {

namespace {

using engine::ModelMeasurement;
using engine::graph::MeasuredVariant;
using engine::graph::PlaceMeasurement;

std::string nodesOf(const PlaceMeasurement& place) {
    return place.nodes.empty() ? place.operation : fmt::format("{}", fmt::join(place.nodes, ", "));
}

std::string timeOf(const MeasuredVariant& variant) {
    return variant.time.microseconds ? durationText(*variant.time.microseconds) : "no time";
}

/// The number of the fastest variant that was not chosen; that of the chosen one if there is none.
std::size_t nextOf(const PlaceMeasurement& place) {
    std::size_t next = place.chosen;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < place.variants.size(); ++i) {
        const auto& time = place.variants[i].time.microseconds;
        if (i == place.chosen || !time || *time >= least)
            continue;
        least = *time;
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
    if (const std::size_t next = nextOf(place); next != place.chosen)
        line += fmt::format("; {} by {}", timeOf(place.variants[next]), place.variants[next].what);
    return line + (place.isRemembered ? " (remembered)" : "");
}

nlohmann::json placeJson(const PlaceMeasurement& place) {
    nlohmann::json variants = nlohmann::json::array();
    for (const MeasuredVariant& variant : place.variants)
        variants.push_back(
            {{"what", variant.what},
             {"microseconds", variant.time.microseconds ? nlohmann::json(*variant.time.microseconds)
                                                        : nlohmann::json()},
             {"spread", variant.time.spread},
             {"why", variant.time.why}});
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
        const std::string why = variant.time.why.empty() ? place.why : variant.time.why;
        table.rows.push_back(
            {i == 0 ? TableCell{.text = nodesOf(place), .note = place.operation} : TableCell{},
             {.text = variant.what, .tone = isChosen ? Tone::Good : Tone::Plain, .note = why},
             std::move(time),
             {.text = variant.time.microseconds ? fmt::format("{:.1f} %", variant.time.spread * 100)
                                                : std::string()},
             {.text = isChosen ? "chosen" : "",
              .note = isChosen && place.isRemembered ? "measured by an earlier run" : ""}});
    }
}

} // namespace

std::string modelMeasurementText(const ModelMeasurement& measurement) {
    if (measurement.gpu.empty())
        return fmt::format("not measured, so all products are left to libraries: {}",
                           measurement.why);
    std::string text =
        fmt::format("measured on {} in {:.1f} s", measurement.gpu, measurement.seconds);
    for (const PlaceMeasurement& place : measurement.places)
        text += "\n  " + lineOf(place);
    if (measurement.whole)
        text += "\n  " + lineOf(*measurement.whole);
    return text;
}

nlohmann::json modelMeasurementJson(const ModelMeasurement& measurement) {
    nlohmann::json places = nlohmann::json::array();
    for (const PlaceMeasurement& place : measurement.places)
        places.push_back(placeJson(place));
    nlohmann::json json{{"gpu", measurement.gpu},
                        {"why", measurement.why},
                        {"seconds", measurement.seconds},
                        {"places", std::move(places)}};
    if (measurement.whole)
        json["whole"] = placeJson(*measurement.whole);
    return json;
}

ReportSection modelMeasurementSection(const ModelMeasurement& measurement) {
    ReportSection section{.title = "Own kernels or a library", .blocks = {}};
    if (measurement.gpu.empty()) {
        section.blocks.emplace_back(Paragraph{fmt::format(
            "Nothing was measured, so all products are left to libraries: {}.", measurement.why)});
        return section;
    }
    section.blocks.emplace_back(Paragraph{fmt::format(
        "Medians of rounds in turns on {}, the L2 cache swept before each. Within a hundredth of "
        "the fastest, own kernels are chosen before a library, and more exact ones before others.",
        measurement.gpu)});
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
