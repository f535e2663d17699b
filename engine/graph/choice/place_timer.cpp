#include "engine/graph/choice/place_timer.h"

#include "engine/graph/choice/model_code.h"
#include "engine/storage/content_hash.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

/// The version of what is measured: times of another version are not looked at.
constexpr std::string_view keyVersion = "place 2";

bool hasAll(const VariedPlace& place, const std::vector<VariantTime>& times) {
    return times.size() == place.variants.size() && preferredOf(times).has_value();
}

void take(VariedPlace& place, const std::vector<VariantTime>& times) {
    PlaceMeasurement& measurement = place.measurement;
    for (std::size_t i = 0; i < measurement.variants.size() && i < times.size(); ++i)
        measurement.variants[i].time = times[i];
    const auto chosen = hasAll(place, times) ? preferredOf(times) : std::nullopt;
    measurement.isMeasured = chosen.has_value();
    if (chosen)
        measurement.chosen = *chosen;
    else
        measurement.why = "no variant could be timed";
}

} // namespace

void PlaceTimer::lookUp(VariedPlace& place, const Program& program) {
    ContentHash hash;
    hash.add(keyVersion);
    hash.add(subject_);
    hash.add(callsOf(program));
    for (const ModelVariant& variant : place.variants) {
        hash.add(variant.what);
        hash.add(codeOf(variant.files));
    }
    place.key = hash.hex();
    const auto [same, isNew] = numbers_.try_emplace(place.key, numbers_.size());
    place.number = same->second;
    if (!isNew)
        return;
    if (const auto text = memory_.find(place.key))
        if (auto times = variantTimesFrom(*text); times && hasAll(place, *times)) {
            remembered_[place.key] = *std::move(times);
            return;
        }
    std::vector<ModelFiles> files;
    for (const ModelVariant& variant : place.variants)
        files.push_back(variant.files);
    racer_.build(place.number, place.part, files);
}

void PlaceTimer::finish(VariedPlace& place, const RaceStops& stops) {
    PlaceMeasurement& measurement = place.measurement;
    if (place.key.empty())
        return;
    if (const auto known = remembered_.find(place.key); known != remembered_.end()) {
        measurement.isRemembered = true;
        return take(place, known->second);
    }
    auto known = measured_.find(place.key);
    if (known == measured_.end()) {
        known = measured_.emplace(place.key, racer_.race(place.number, stops)).first;
        // A variant without a time may have one the next time: memory was short, say.
        if (known->second && std::ranges::all_of(*known->second, [](const VariantTime& time) {
                return time.microseconds.has_value();
            }))
            memory_.keep(place.key, textOf(*known->second));
    }
    if (known->second)
        return take(place, *known->second);
    measurement.why = known->second.error().kind == ErrorKind::Cancelled
                          ? "the time was up"
                          : known->second.error().describe();
}

} // namespace kernelskill::engine::graph
