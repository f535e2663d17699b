#include "engine/graph/choice/variant_planner.h"

#include "engine/graph/choice/model_code.h"
#include "engine/graph/lowering/channels_last_nodes.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace kernelskill::engine::graph {

namespace {

/// With so many places, each gets fewer variants, so that all can be measured in a minute.
constexpr std::size_t fewPlaces = 4;
constexpr std::size_t mostTiles = 4;

/// The tiles that are tried of a unit more exact than asked for. Products in bfloat16 should be the
/// fastest of these.
std::size_t tilesOf(MultiplyUnit unit) {
    return unit == MultiplyUnit::BFloat16Split ? 2 : 1;
}

bool holdsConstants(const Program& part) {
    return std::ranges::any_of(
        part.inputs, [](const Input& input) { return input.kind == Input::Kind::Constant; });
}

} // namespace

bool VariantPlanner::allowsTf32() const {
    return request_.options.kernels.multiply == MultiplyUnit::TF32;
}

ModelOptions VariantPlanner::ownOptions() const {
    ModelOptions options = request_.options;
    options.usesLibraries = false;
    options.libraryNodes.clear();
    options.float32Nodes.clear();
    options.channelsLastNodes.clear();
    options.kernels.ofNodes.clear();
    return options;
}

std::vector<VariedPlace> VariantPlanner::placesOf(const ModelPlan& own) const {
    std::vector<VariedPlace> places = findPlaces(own);
    std::map<std::string, const VariedPlace*> planned; // By planningOf().
    for (VariedPlace& place : places) {
        auto part = programPart(graph_, *place.part);
        if (!part) {
            place.measurement.why = part.error().describe();
            continue;
        }
        ModelOptions library = ownOptions();
        ModelOptions float32 = ownOptions();
        const std::set<std::string> images = imageConvolutions(*part);
        std::size_t number = 0;
        for (const Node& node : graph_.nodes) {
            if (place.where.nodes.contains(node.name)) {
                library.libraryNodes.insert(partNodeName(number));
                if (isProduct(node) && allowsTf32())
                    float32.float32Nodes.insert(partNodeName(number));
            }
            number += place.part->nodes.contains(node.name) ? 1 : 0;
        }
        const auto [same, isNew] =
            planned.try_emplace(planningOf(*part, library.libraryNodes), &place);
        if (!isNew && !holdsConstants(*part)) {
            place.variants = same->second->variants;
            place.seconds = same->second->seconds;
            place.measurement.variants = same->second->measurement.variants;
        } else {
            for (const ContractionChoice& choice : ownChoices(place, places.size()))
                addOwn(place, *part, choice);
            ModelOptions turned = library;
            std::ranges::set_intersection(
                images, library.libraryNodes,
                std::inserter(turned.channelsLastNodes, turned.channelsLastNodes.end()));
            if (float32.float32Nodes.empty()) {
                add(place, *part, {"a library", true, {}, std::move(library)});
                if (!turned.channelsLastNodes.empty())
                    add(place, *part,
                        {"a library, in channels-last order", true, {}, std::move(turned)});
            } else {
                float32.libraryNodes = library.libraryNodes;
                add(place, *part, {"a library in float32", true, {}, std::move(float32)});
                ModelVariant inTf32{"a library in TF32", true, {}, std::move(library)};
                inTf32.exactness = Exactness::TF32;
                add(place, *part, std::move(inTf32));
            }
        }
        if (place.variants.size() < 2)
            place.measurement.why = "there is one way only";
        else
            place.program = *std::move(part);
    }
    std::ranges::stable_sort(places, std::greater(), &VariedPlace::seconds);
    return places;
}

std::vector<VariedPlace> VariantPlanner::findPlaces(const ModelPlan& own) const {
    std::vector<ChoicePlace> found = choicePlaces(own);
    // Reductions have a choice only where there are few places: products take most of the time.
    if (found.size() > somePlaces)
        std::erase_if(found, [](const ChoicePlace& each) { return !each.isLinearAlgebra; });
    std::vector<VariedPlace> places;
    for (ChoicePlace& each : found) {
        VariedPlace& place = places.emplace_back();
        place.measurement.nodes.assign(each.nodes.begin(), each.nodes.end());
        place.measurement.operation = operationOf(graph_, each.nodes);
        place.part = each.part;
        place.where = std::move(each);
    }
    return places;
}

std::vector<ContractionChoice> VariantPlanner::moreExactChoices() const {
    std::vector<ContractionChoice> choices;
    for (const MultiplyUnit unit : moreExactUnits(request_.options.kernels.multiply))
        for (std::size_t tile = 0; tile < tilesOf(unit); ++tile)
            choices.push_back({unit, tile});
    return choices;
}

std::vector<ContractionChoice> VariantPlanner::ownChoices(const VariedPlace& place,
                                                          std::size_t places) const {
    const MultiplyUnit most = request_.options.kernels.multiply;
    if (places > somePlaces)
        return {{most, 0}};
    if (!place.where.isLinearAlgebra || places > fewPlaces)
        return {{most, 0}, {most, 1}};
    std::vector<ContractionChoice> choices = moreExactChoices();
    for (std::size_t tile = 0; tile < mostTiles; ++tile)
        choices.push_back({most, tile});
    return choices;
}

void VariantPlanner::addOwn(VariedPlace& place, const Program& part,
                            const ContractionChoice& own) const {
    ModelOptions options = ownOptions();
    options.kernels.multiply = own.multiply;
    options.kernels.tile = own.tile;
    add(place, part, {"own kernels", false, own, std::move(options)});
}

void VariantPlanner::addMoreExact(VariedPlace& place, const Program& part) const {
    for (const ContractionChoice& choice : moreExactChoices())
        addOwn(place, part, choice);
}

std::optional<std::size_t> VariantPlanner::add(VariedPlace& place, const Program& program,
                                               ModelVariant variant) const {
    const auto plan = plannedModel(program, place.part ? "part" : request_.name, variant.options);
    if (!plan)
        return std::nullopt;
    variant.files = modelFiles(*plan);
    place.seconds = std::max(place.seconds, variant.isLibrary ? 0 : secondsOf(*plan));
    const std::string code = codeOf(variant.files);
    const auto same = std::ranges::find(
        place.variants, code, [](const ModelVariant& other) { return codeOf(other.files); });
    if (same != place.variants.end())
        return static_cast<std::size_t>(same - place.variants.begin());
    if (!variant.isLibrary)
        variant.exactness = exactnessOf(variant.own.multiply, *plan);
    if (!variant.isLibrary && place.part)
        variant.what += ": " + scheduleOf(*plan);
    place.measurement.variants.push_back({variant.what, {}});
    place.variants.push_back(std::move(variant));
    return place.variants.size() - 1;
}

} // namespace kernelskill::engine::graph
