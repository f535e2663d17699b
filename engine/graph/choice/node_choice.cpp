#include "engine/graph/choice/node_choice.h"

#include "engine/graph/type_text.h"
#include "engine/storage/content_hash.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

/// The version of what is measured: times of another version are not looked at.
constexpr std::string_view keyVersion = "place 1";

constexpr double equallyFast = 1.01;

/// With so many places, each gets fewer variants, so that all can be measured in a minute.
constexpr std::size_t fewPlaces = 4;
constexpr std::size_t somePlaces = 12;
constexpr std::size_t mostTiles = 4;

/// The most kernels of all variants together for which whole models are compared: each has to be
/// compiled first.
constexpr std::size_t mostKernelsOfWhole = 64;

/// Rough rates of a GPU; places are only compared with each other by them.
constexpr double bytesPerSecond = 3e12;
constexpr double operationsPerSecond = 1e14;

/// A way to do the work of a place, or of the whole model.
struct Variant {
    std::string what;
    bool isLibrary = false;
    ContractionChoice own;
    ModelOptions options; ///< The options that it is planned with.
    ModelFiles files;
    std::size_t kernels = 0;
};

/// The texts that are compiled of a model, without anything that names its folder.
std::string codeOf(const ModelFiles& files) {
    ContentHash hash;
    for (const auto& [path, text] : files)
        if (path.ends_with(".cu") || path == "model.cpp") {
            hash.add(path);
            hash.add(text);
        }
    return hash.hex();
}

/// A rough bound of the time of a call.
double secondsOf(const ModelPlan& plan) {
    double seconds = 0;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work);
            kernel != nullptr && !step.dependsOnWeightsAlone)
            seconds +=
                std::max(kernel->bytes / bytesPerSecond, kernel->operations / operationsPerSecond);
    return seconds;
}

/// How the kernel with the most work shares it out.
std::string scheduleOf(const ModelPlan& plan) {
    const Kernel* largest = nullptr;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work);
            kernel != nullptr && !step.dependsOnWeightsAlone &&
            (largest == nullptr || kernel->operations > largest->operations))
            largest = kernel;
    return largest != nullptr ? largest->schedule : std::string();
}

std::string operationOf(const Program& program, const std::set<std::string>& nodes) {
    const auto node = std::ranges::find_if(
        program.nodes, [&](const Node& each) { return nodes.contains(each.name); });
    if (node == program.nodes.end())
        return "";
    std::string text;
    for (const NamedArgument& argument : node->arguments)
        for (const std::string& value : valuesIn(argument.value))
            if (const auto type = program.values.find(value); type != program.values.end())
                text += (text.empty() ? " of " : ", ") + textOf(type->second);
    text = node->target + text;
    if (nodes.size() > 1)
        text += fmt::format(" and {} more", nodes.size() - 1);
    return text;
}

/// The nodes with their arguments: what libraries compute.
std::string callsOf(const Program& program) {
    std::string text;
    for (const Node& node : program.nodes) {
        text += node.target;
        for (const NamedArgument& argument : node.arguments)
            text += fmt::format(" {}={}", argument.name, textOf(argument.value));
        text += '\n';
    }
    for (const auto& [value, type] : program.values)
        text += value + " " + textOf(type) + "\n";
    return text;
}

/// All that the variants of a part are planned by, but for the data of constants.
std::string planningOf(const Program& part, const std::set<std::string>& libraryNodes) {
    std::string text = callsOf(part);
    for (const Input& input : part.inputs)
        text += fmt::format("{} {}\n", input.value, static_cast<int>(input.kind));
    for (const Output& output : part.outputs)
        text += "to " + output.value + "\n";
    for (const std::string& node : libraryNodes)
        text += "left " + node + "\n";
    return text;
}

bool holdsConstants(const Program& part) {
    return std::ranges::any_of(
        part.inputs, [](const Input& input) { return input.kind == Input::Kind::Constant; });
}

class Choosing {
public:
    Choosing(const Program& graph, const ChoiceRequest& request, VariantRacer& racer,
             const TimesMemory& memory, std::stop_token stop)
        : graph_(graph), request_(request), racer_(racer), memory_(memory), stop_(std::move(stop)) {
    }

    Result<ModelChoice> run() {
        const auto own = plannedModel(graph_, request_.name, ownOptions());
        if (!own)
            return std::unexpected(own.error());
        findPlaces(*own);
        for (Place& place : places_)
            begin(place);
        planned_.clear(); // It points to places, which move now.
        std::ranges::stable_sort(places_, std::greater(), &Place::seconds);
        for (Place& place : places_)
            if (place.program)
                lookUp(place, *place.program);
        std::size_t done = 0;
        for (Place& place : places_) {
            if (request_.progress)
                request_.progress(fmt::format("timing {}", place.measurement.operation),
                                  static_cast<double>(done++) /
                                      static_cast<double>(places_.size() + 1));
            finish(place);
        }
        ModelChoice choice;
        choice.options = ownOptions();
        for (Place& place : places_) {
            apply(place, choice.options);
            choice.places.push_back(place.measurement);
        }
        compareWhole(*own, choice);
        return choice;
    }

private:
    struct Place {
        ChoicePlace where;
        PlaceMeasurement measurement;
        std::vector<Variant> variants;
        std::optional<Program> program;  ///< The part, if there is something to measure.
        double seconds = 0;              ///< The max time of own kernels.
        std::optional<ProgramPart> part; ///< nullopt: the whole program.
        std::string key;                 ///< The key in long-term memory; empty: not measured.
        std::optional<std::vector<VariantTime>> times;
        std::size_t number = 0; ///< The place's number in the racer.
    };

    ModelOptions ownOptions() const {
        ModelOptions options = request_.options;
        options.usesLibraries = false;
        options.libraryNodes.clear();
        options.kernels.ofNodes.clear();
        return options;
    }

    /// Reductions have a choice only where there are few places: products take most of the time.
    void findPlaces(const ModelPlan& own) {
        std::vector<ChoicePlace> found = choicePlaces(own);
        if (found.size() > somePlaces)
            std::erase_if(found, [](const ChoicePlace& each) { return !each.isLinearAlgebra; });
        for (ChoicePlace& each : found) {
            Place& place = places_.emplace_back();
            place.measurement.nodes.assign(each.nodes.begin(), each.nodes.end());
            place.measurement.operation = operationOf(graph_, each.nodes);
            place.part = each.part;
            place.where = std::move(each);
        }
    }

    /// The choices of own kernels that are tried, the ones to prefer first.
    std::vector<ContractionChoice> ownChoices(const Place& place) const {
        const MultiplyUnit most = request_.options.kernels.multiply;
        if (!place.where.isLinearAlgebra || places_.size() > somePlaces)
            return {{most, 0}};
        if (places_.size() > fewPlaces)
            return {{most, 0}, {most, 1}};
        std::vector<ContractionChoice> choices;
        for (const MultiplyUnit unit : {MultiplyUnit::Float32, MultiplyUnit::TF32Split})
            if (unit != most && isMoreExact(unit, most))
                choices.push_back({unit, 0});
        for (std::size_t tile = 0; tile < mostTiles; ++tile)
            choices.push_back({most, tile});
        return choices;
    }

    static bool isMoreExact(MultiplyUnit unit, MultiplyUnit than) {
        return unit == MultiplyUnit::Float32 ||
               (unit == MultiplyUnit::TF32Split && than == MultiplyUnit::TF32);
    }

    /// Plans the variants of a place.
    void begin(Place& place) {
        auto part = programPart(graph_, *place.part);
        if (!part) {
            place.measurement.why = part.error().describe();
            return;
        }
        ModelOptions library = ownOptions();
        std::size_t number = 0;
        for (const Node& node : graph_.nodes) {
            if (place.where.nodes.contains(node.name))
                library.libraryNodes.insert(partNodeName(number));
            number += place.part->nodes.contains(node.name) ? 1 : 0;
        }
        const auto [same, isNew] =
            planned_.try_emplace(planningOf(*part, library.libraryNodes), &place);
        if (!isNew && !holdsConstants(*part)) {
            place.variants = same->second->variants;
            place.seconds = same->second->seconds;
            place.measurement.variants = same->second->measurement.variants;
        } else {
            for (const ContractionChoice& own : ownChoices(place)) {
                ModelOptions options = ownOptions();
                options.kernels.multiply = own.multiply;
                options.kernels.tile = own.tile;
                add(place, *part, {"own kernels", false, own, std::move(options), {}, 0});
            }
            add(place, *part, {"a library", true, {}, std::move(library), {}, 0});
        }
        if (place.variants.size() < 2)
            place.measurement.why = "there is one way only";
        else
            place.program = *std::move(part);
    }

    /// Adds a variant that is not the same as another one.
    void add(Place& place, const Program& program, Variant variant) {
        const auto plan =
            plannedModel(program, place.part ? "part" : request_.name, variant.options);
        if (!plan)
            return;
        variant.files = modelFiles(*plan);
        place.seconds = std::max(place.seconds, variant.isLibrary ? 0 : secondsOf(*plan));
        for (const ModelStep& step : plan->steps)
            variant.kernels += std::holds_alternative<Kernel>(step.work) ? 1 : 0;
        const std::string code = codeOf(variant.files);
        if (std::ranges::any_of(place.variants,
                                [&](const Variant& other) { return codeOf(other.files) == code; }))
            return;
        if (!variant.isLibrary && place.part)
            variant.what += ": " + scheduleOf(*plan);
        place.measurement.variants.push_back({variant.what, {}});
        place.variants.push_back(std::move(variant));
    }

    /// Finds the times of a place's variants in the memory, or begins to compile them, unless there
    /// is a place that is the same.
    void lookUp(Place& place, const Program& program) {
        ContentHash hash;
        hash.add(keyVersion);
        hash.add(request_.machine);
        hash.add(request_.options.kernels.multiply == MultiplyUnit::TF32 ? "tf32" : "float32");
        hash.add(callsOf(program));
        for (const Variant& variant : place.variants) {
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
        for (const Variant& variant : place.variants)
            files.push_back(variant.files);
        racer_.build(place.number, place.part, files);
    }

    static bool hasAll(const Place& place, const std::vector<VariantTime>& times) {
        return times.size() == place.variants.size() && preferredOf(times).has_value();
    }

    /// Measures a place, unless that is done, and chooses.
    void finish(Place& place) {
        PlaceMeasurement& measurement = place.measurement;
        if (place.key.empty())
            return;
        if (const auto known = remembered_.find(place.key); known != remembered_.end()) {
            measurement.isRemembered = true;
            return take(place, known->second);
        }
        auto known = measured_.find(place.key);
        if (known == measured_.end()) {
            known = measured_.emplace(place.key, racer_.race(place.number, stop_)).first;
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

    static void take(Place& place, const std::vector<VariantTime>& times) {
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

    static void apply(Place& place, ModelOptions& options) {
        PlaceMeasurement& measurement = place.measurement;
        if (!measurement.isMeasured) {
            const bool isLeft = place.where.isLinearAlgebra && !place.where.isSimplified;
            // The library's variant is the last one.
            if (!measurement.variants.empty())
                measurement.chosen = isLeft ? measurement.variants.size() - 1 : 0;
            if (isLeft)
                options.libraryNodes.insert(place.where.nodes.begin(), place.where.nodes.end());
            return;
        }
        const Variant& chosen = place.variants[measurement.chosen];
        if (chosen.isLibrary)
            options.libraryNodes.insert(place.where.nodes.begin(), place.where.nodes.end());
        else if (place.where.isLinearAlgebra)
            for (const std::string& node : place.where.nodes)
                options.kernels.ofNodes[node] = chosen.own;
    }

    /// Fusion across places can make a whole faster than its parts are: the simple models have to
    /// be slower than the one of chosen places, or are taken.
    void compareWhole(const ModelPlan& own, ModelChoice& choice) {
        const bool areSome = std::ranges::any_of(choice.places, &PlaceMeasurement::isMeasured);
        const bool isOnePart =
            places_.size() == 1 && places_[0].part->nodes.size() == own.graph.nodes.size();
        const auto ownKernels = std::ranges::count_if(own.steps, [](const ModelStep& step) {
            return std::holds_alternative<Kernel>(step.work);
        });
        if (!areSome || isOnePart || stop_.stop_requested() ||
            static_cast<std::size_t>(ownKernels) * 2 > mostKernelsOfWhole)
            return;
        Place whole;
        whole.measurement.operation = "the whole model";
        ModelOptions all = request_.options;
        all.usesLibraries = true;
        add(whole, graph_, {"as chosen place by place", false, {}, choice.options, {}, 0});
        add(whole, graph_, {"own kernels alone", false, {}, ownOptions(), {}, 0});
        add(whole, graph_, {"all products by a library", true, {}, std::move(all), {}, 0});
        std::size_t kernels = 0;
        for (const Variant& variant : whole.variants)
            kernels += variant.kernels;
        if (whole.variants.size() < 2 || kernels > mostKernelsOfWhole)
            return;
        if (request_.progress)
            request_.progress("timing whole models", static_cast<double>(places_.size()) /
                                                         static_cast<double>(places_.size() + 1));
        lookUp(whole, graph_);
        finish(whole);
        if (whole.measurement.isMeasured)
            choice.options = whole.variants[whole.measurement.chosen].options;
        choice.whole = std::move(whole.measurement);
    }

    const Program& graph_;
    const ChoiceRequest& request_;
    VariantRacer& racer_;
    const TimesMemory& memory_;
    std::stop_token stop_;
    std::vector<Place> places_;
    std::map<std::string, const Place*> planned_; ///< By planningOf().
    // The maps have the places' keys, so that equal places are measured once.
    std::map<std::string, std::size_t> numbers_;
    std::map<std::string, std::vector<VariantTime>> remembered_;
    std::map<std::string, Result<std::vector<VariantTime>>> measured_;
};

} // namespace

std::optional<std::size_t> preferredOf(const std::vector<VariantTime>& times) {
    std::optional<double> fastest;
    for (const VariantTime& time : times)
        if (time.microseconds && (!fastest || *time.microseconds < *fastest))
            fastest = time.microseconds;
    for (std::size_t i = 0; i < times.size(); ++i)
        if (times[i].microseconds && *times[i].microseconds <= *fastest * equallyFast)
            return i;
    return std::nullopt;
}

Result<ModelChoice> chooseByTimes(const Program& graph, const ChoiceRequest& request,
                                  VariantRacer& racer, const TimesMemory& memory,
                                  std::stop_token stop) {
    return Choosing(graph, request, racer, memory, std::move(stop)).run();
}

} // namespace kernelskill::engine::graph
