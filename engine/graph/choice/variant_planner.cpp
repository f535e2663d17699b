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

bool holdsConstants(const Program& part) {
    return std::ranges::any_of(
        part.inputs, [](const Input& input) { return input.kind == Input::Kind::Constant; });
}

} // namespace

bool VariantPlanner::allowsTf32() const {
    return request_.options.kernels.multiply == MultiplyUnit::TF32;
}

bool VariantPlanner::mustBeFloat32(const Node& node) const {
    return needsFloat32(node, request_.tolerance, allowsTf32());
}

MultiplyUnit VariantPlanner::firstUnit() const {
    return isTight() && allowsTf32() ? MultiplyUnit::BFloat16Split
                                     : request_.options.kernels.multiply;
}

MultiplyUnit VariantPlanner::trustedUnit() const {
    if (isTight())
        return MultiplyUnit::Float32;
    return allowsTf32() ? MultiplyUnit::TF32Split : request_.options.kernels.multiply;
}

Exactness VariantPlanner::trustedExactness() const {
    return isTight() ? Exactness::Float32 : Exactness::SplitBFloat16;
}

ModelOptions VariantPlanner::partOptions() const {
    ModelOptions options = request_.options;
    options.usesLibraries = false;
    options.libraryNodes.clear();
    options.float32Nodes.clear();
    options.channelsLastNodes.clear();
    options.kernels.ofNodes.clear();
    options.kernels.multiply = firstUnit();
    return options;
}

ModelOptions VariantPlanner::ownOptions() const {
    ModelOptions options = partOptions();
    if (isTight())
        options.float32Nodes = float32NodesOf(graph_, request_.tolerance, allowsTf32());
    return options;
}

ModelOptions VariantPlanner::float32Libraries() const {
    ModelOptions options = partOptions();
    options.usesLibraries = true;
    options.float32Nodes = float32NodesOf(graph_, request_.tolerance, allowsTf32());
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
        const auto [same, isNew] =
            planned.try_emplace(planningOf(*part, libraryNodesOf(place)), &place);
        if (!isNew && !holdsConstants(*part)) {
            place.variants = same->second->variants;
            place.seconds = same->second->seconds;
            place.measurement.variants = same->second->measurement.variants;
        } else {
            for (const ContractionChoice& choice : ownChoices(place, places.size()))
                addOwn(place, *part, choice);
            for (ModelVariant& library : librariesOf(place, *part))
                if (!isHeldBack(library))
                    add(place, *part, std::move(library));
        }
        if (place.variants.size() < 2)
            place.measurement.why = "there is one way only";
        else
            place.program = *std::move(part);
    }
    std::ranges::stable_sort(places, std::greater(), &VariedPlace::seconds);
    return places;
}

bool VariantPlanner::isHeldBack(const ModelVariant& variant) const {
    return isTight() && variant.exactness == Exactness::TF32 &&
           !variant.options.channelsLastNodes.empty();
}

std::vector<ModelVariant> VariantPlanner::librariesOf(const VariedPlace& place,
                                                      const Program& part) const {
    ModelVariant library{"a library", true, {}, partOptions()};
    library.options.libraryNodes = libraryNodesOf(place);
    ModelVariant float32 = library;
    for (const Node& node : part.nodes)
        if (library.options.libraryNodes.contains(node.name) && mustBeFloat32(node))
            float32.options.float32Nodes.insert(node.name);
    std::vector<ModelVariant> kinds{float32};
    if (!float32.options.float32Nodes.empty()) {
        kinds[0].what = "a library in float32";
        library.what = "a library in TF32";
        library.exactness = Exactness::TF32;
        kinds.push_back(std::move(library));
    }
    const std::set<std::string> images = imageConvolutions(part);
    std::vector<ModelVariant> libraries;
    for (ModelVariant& kind : kinds) {
        ModelVariant turned = libraries.emplace_back(std::move(kind));
        turned.what += ", in channels-last order";
        std::ranges::set_intersection(images, turned.options.libraryNodes,
                                      std::inserter(turned.options.channelsLastNodes,
                                                    turned.options.channelsLastNodes.end()));
        if (!turned.options.channelsLastNodes.empty())
            libraries.push_back(std::move(turned));
    }
    return libraries;
}

std::set<std::string> VariantPlanner::libraryNodesOf(const VariedPlace& place) const {
    std::set<std::string> names;
    std::size_t number = 0;
    for (const Node& node : graph_.nodes) {
        if (place.where.nodes.contains(node.name))
            names.insert(partNodeName(number));
        number += place.part->nodes.contains(node.name) ? 1 : 0;
    }
    return names;
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
    const auto addInBFloat16 = [&](bool sumsInSteps) {
        for (std::size_t tile = 0; tile < 2; ++tile)
            choices.push_back({MultiplyUnit::BFloat16Split, tile, sumsInSteps});
    };
    for (const MultiplyUnit unit : moreExactUnits(firstUnit()))
        if (unit == MultiplyUnit::BFloat16Split)
            addInBFloat16(false); // They should be the fastest of these.
        else
            choices.push_back({unit, 0});
    if (isTight() && firstUnit() == MultiplyUnit::BFloat16Split)
        addInBFloat16(true);
    return choices;
}

std::vector<ContractionChoice>
VariantPlanner::choicesOf(MultiplyUnit unit, const VariedPlace& place, std::size_t places) {
    std::size_t tiles = mostTiles;
    if (places > somePlaces)
        tiles = 1;
    else if (!place.where.isLinearAlgebra || places > fewPlaces)
        tiles = 2;
    std::vector<ContractionChoice> choices;
    for (std::size_t tile = 0; tile < tiles; ++tile)
        choices.push_back({unit, tile});
    return choices;
}

std::vector<ContractionChoice> VariantPlanner::ownChoices(const VariedPlace& place,
                                                          std::size_t places) const {
    std::vector<ContractionChoice> choices;
    if (place.where.isLinearAlgebra && places <= fewPlaces)
        choices = moreExactChoices();
    for (const ContractionChoice& choice : choicesOf(firstUnit(), place, places))
        choices.push_back(choice);
    return choices;
}

void VariantPlanner::addOwn(VariedPlace& place, const Program& part,
                            const ContractionChoice& own) const {
    ModelOptions options = partOptions();
    options.kernels.multiply = own.multiply;
    options.kernels.tile = own.tile;
    options.kernels.sumsInSteps = own.sumsInSteps;
    add(place, part, {"own kernels", false, own, std::move(options)});
}

void VariantPlanner::addMoreExact(VariedPlace& place, const Program& part) const {
    for (const ContractionChoice& choice : moreExactChoices())
        addOwn(place, part, choice);
}

void VariantPlanner::addLessExact(VariedPlace& place, const Program& part,
                                  std::size_t places) const {
    const MultiplyUnit unit = request_.options.kernels.multiply;
    if (unit != firstUnit())
        for (const ContractionChoice& choice : choicesOf(unit, place, places))
            addOwn(place, part, choice);
    for (ModelVariant& library : librariesOf(place, part))
        if (isHeldBack(library))
            add(place, part, std::move(library));
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
        variant.exactness = exactnessOf(variant.own, *plan);
    if (!variant.isLibrary && place.part)
        variant.what += ": " + scheduleOf(*plan);
    place.measurement.variants.push_back({variant.what, {}});
    place.variants.push_back(std::move(variant));
    return place.variants.size() - 1;
}

} // namespace kernelskill::engine::graph
