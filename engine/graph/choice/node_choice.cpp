#include "engine/graph/choice/node_choice.h"

#include "engine/graph/choice/accuracy_search.h"
#include "engine/graph/choice/model_code.h"
#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/remembered_verdicts.h"
#include "engine/storage/content_hash.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

/// The version of what is measured: times of another version are not looked at.
constexpr std::string_view keyVersion = "place 2";

/// With so many places, each gets fewer variants, so that all can be measured in a minute.
constexpr std::size_t fewPlaces = 4;
constexpr std::size_t somePlaces = 12;
constexpr std::size_t mostTiles = 4;

/// The most kernels of all variants together for which whole models are compared: each has to be
/// compiled first.
constexpr std::size_t mostKernelsOfWhole = 64;

bool holdsConstants(const Program& part) {
    return std::ranges::any_of(
        part.inputs, [](const Input& input) { return input.kind == Input::Kind::Constant; });
}

class Choosing {
public:
    Choosing(const Program& graph, const ChoiceRequest& request, VariantRacer& racer,
             const TimesMemory& memory, const ChoiceStops& stops)
        : graph_(graph), request_(request), racer_(racer), memory_(memory), stops_(stops),
          verdicts_(subject(), racer, memory, stops.all) {}

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
        chooseExact(choice);
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
        std::vector<ModelVariant> variants;
        std::optional<Program> program;  ///< The part, if there is something to measure.
        double seconds = 0;              ///< The max time of own kernels.
        std::optional<ProgramPart> part; ///< nullopt: the whole program.
        std::string key;                 ///< The key in long-term memory; empty: not measured.
        std::size_t number = 0;          ///< The place's number in the racer.
    };

    /// All that verdicts depend on beside the variants.
    std::string subject() const {
        return fmt::format("{} {} {}", programKey(graph_), request_.machine, allowsTf32());
    }

    bool allowsTf32() const { return request_.options.kernels.multiply == MultiplyUnit::TF32; }

    ModelOptions ownOptions() const {
        ModelOptions options = request_.options;
        options.usesLibraries = false;
        options.libraryNodes.clear();
        options.float32Nodes.clear();
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

    /// Plans the variants of a place.
    void begin(Place& place) {
        auto part = programPart(graph_, *place.part);
        if (!part) {
            place.measurement.why = part.error().describe();
            return;
        }
        ModelOptions library = ownOptions();
        ModelOptions float32 = ownOptions();
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
            planned_.try_emplace(planningOf(*part, library.libraryNodes), &place);
        if (!isNew && !holdsConstants(*part)) {
            place.variants = same->second->variants;
            place.seconds = same->second->seconds;
            place.measurement.variants = same->second->measurement.variants;
        } else {
            for (const ContractionChoice& own : ownChoices(place))
                addOwn(place, *part, own);
            if (float32.float32Nodes.empty()) {
                add(place, *part, {"a library", true, {}, std::move(library)});
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

    void addOwn(Place& place, const Program& part, const ContractionChoice& own) {
        ModelOptions options = ownOptions();
        options.kernels.multiply = own.multiply;
        options.kernels.tile = own.tile;
        add(place, part, {"own kernels", false, own, std::move(options)});
    }

    /// Adds a variant, unless there is one of the same code, and returns its number. Nothing if it
    /// cannot be planned.
    std::optional<std::size_t> add(Place& place, const Program& program,
                                   ModelVariant variant) const {
        const auto plan =
            plannedModel(program, place.part ? "part" : request_.name, variant.options);
        if (!plan)
            return std::nullopt;
        variant.files = modelFiles(*plan);
        place.seconds = std::max(place.seconds, variant.isLibrary ? 0 : secondsOf(*plan));
        for (const ModelStep& step : plan->steps)
            variant.kernels += std::holds_alternative<Kernel>(step.work) ? 1 : 0;
        const std::string code = codeOf(variant.files);
        const auto same = std::ranges::find(place.variants, code, [](const ModelVariant& other) {
            return codeOf(other.files);
        });
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

    /// Finds the times of a place's variants in the memory, or begins to compile them, unless there
    /// is a place that is the same.
    void lookUp(Place& place, const Program& program) {
        ContentHash hash;
        hash.add(keyVersion);
        hash.add(request_.machine);
        hash.add(allowsTf32() ? "tf32" : "float32");
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
            known = measured_.emplace(place.key, racer_.race(place.number, stops_.measuring)).first;
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

    /// Picks variants of the measured places with which the program is right.
    void chooseExact(ModelChoice& choice) {
        std::vector<AccuracyGroup> groups;
        std::vector<std::vector<Place*>> placesOf;
        std::map<std::string, std::size_t> groupOf; // By the places' keys.
        for (Place& place : places_) {
            if (!place.measurement.isMeasured)
                continue;
            const auto [group, isNew] = groupOf.try_emplace(place.key, groups.size());
            if (isNew) {
                groups.push_back({{}, optionsOf(place)});
                placesOf.emplace_back();
            }
            groups[group->second].parts.push_back(*place.part);
            placesOf[group->second].push_back(&place);
        }
        if (groups.empty())
            return;
        if (request_.progress)
            request_.progress("comparing with LibTorch on inputs of each distribution",
                              static_cast<double>(places_.size()) /
                                  static_cast<double>(places_.size() + 1));
        AccuracySearch search(
            groups, [&](const std::vector<VariantMix>& mixes) { return verdicts_.of(mixes); },
            [&](AccuracyGroup& group) {
                addMoreExact(placesOf[static_cast<std::size_t>(&group - groups.data())], group);
            });
        MixVerdict verdict = search.run();
        choice.accuracy = ChoiceAccuracy{std::move(verdict), isWhole(), verdicts_.areRemembered()};
        for (std::size_t i = 0; i < groups.size(); ++i)
            for (Place* place : placesOf[i]) {
                place->measurement.chosen = groups[i].option().variant;
                for (const AccuracyOption& option : groups[i].options)
                    place->measurement.variants[option.variant].refused = option.refused;
            }
    }

    /// Whether the one place is the whole model.
    bool isWhole() const {
        return places_.size() == 1 && places_[0].part->nodes.size() == graph_.nodes.size();
    }

    /// The variants that have a time, the one to prefer first, and behind them the library that
    /// computes as PyTorch does.
    static std::vector<AccuracyOption> optionsOf(const Place& place) {
        std::vector<VariantTime> times;
        for (const MeasuredVariant& variant : place.measurement.variants)
            times.push_back(variant.time);
        std::vector<std::size_t> order = preferredOrder(times);
        for (std::size_t i = 0; i < place.variants.size(); ++i)
            if (place.variants[i].exactness == Exactness::AsPyTorch && !times[i].microseconds)
                order.push_back(i);
        std::vector<AccuracyOption> options;
        for (const std::size_t number : order) {
            const ModelVariant& variant = place.variants[number];
            options.push_back({number, &variant.files, variant.exactness, variant.isLibrary, ""});
        }
        return options;
    }

    /// Measures own kernels that are more exact, of which places that are many have none at first.
    void addMoreExact(const std::vector<Place*>& places, AccuracyGroup& group) {
        const Place& first = *places.front();
        if (!first.where.isLinearAlgebra || !first.program || stops_.measuring.stop_requested())
            return;
        Place more;
        more.part = first.part;
        more.variants = first.variants; // So that what there is is not added again.
        const std::size_t known = more.variants.size();
        const MultiplyUnit most = request_.options.kernels.multiply;
        for (const MultiplyUnit unit : {MultiplyUnit::Float32, MultiplyUnit::TF32Split})
            if (unit != most && isMoreExact(unit, most))
                addOwn(more, *first.program, {unit, 0});
        more.variants.erase(more.variants.begin(),
                            more.variants.begin() + static_cast<std::ptrdiff_t>(known));
        if (more.variants.empty())
            return;
        if (request_.progress)
            request_.progress("timing more exact kernels of " + first.measurement.operation, 1);
        lookUp(more, *first.program);
        finish(more);
        for (Place* place : places) {
            place->measurement.variants.insert(place->measurement.variants.end(),
                                               more.measurement.variants.begin(),
                                               more.measurement.variants.end());
            place->variants.insert(place->variants.end(), more.variants.begin(),
                                   more.variants.end());
        }
        std::vector<AccuracyOption> options = optionsOf(first);
        for (AccuracyOption& option : options) // The files have moved; what was refused stays so.
            if (const auto same =
                    std::ranges::find(group.options, option.variant, &AccuracyOption::variant);
                same != group.options.end())
                option.refused = same->refused;
        const std::size_t picked = group.option().variant;
        group.options = std::move(options);
        group.picked = static_cast<std::size_t>(
            std::ranges::find(group.options, picked, &AccuracyOption::variant) -
            group.options.begin());
    }

    /// A place that was not measured has no TF32 by products, because nothing says how exact it is.
    void applyDefault(Place& place, ModelOptions& options) const {
        PlaceMeasurement& measurement = place.measurement;
        if (place.where.isLinearAlgebra && !place.where.isSimplified) {
            leave(place, true, options);
            const auto library =
                std::ranges::find(place.variants, Exactness::AsPyTorch, &ModelVariant::exactness);
            measurement.chosen = static_cast<std::size_t>(library - place.variants.begin());
            return;
        }
        const ContractionChoice own{
            allowsTf32() ? MultiplyUnit::TF32Split : request_.options.kernels.multiply, 0};
        if (place.where.isLinearAlgebra && allowsTf32())
            for (const std::string& node : place.where.nodes)
                options.kernels.ofNodes[node] = own;
        const auto same = std::ranges::find_if(place.variants, [&](const ModelVariant& variant) {
            return !variant.isLibrary && (!place.where.isLinearAlgebra || variant.own == own);
        });
        measurement.chosen = static_cast<std::size_t>(same - place.variants.begin());
        // It may be the same as another one, or was not planned.
        if (same == place.variants.end() && !place.variants.empty())
            measurement.variants.push_back({"own kernels without TF32", {}});
    }

    /// Leaves the place's nodes to a library.
    void leave(const Place& place, bool isFloat32, ModelOptions& options) const {
        options.libraryNodes.insert(place.where.nodes.begin(), place.where.nodes.end());
        if (!isFloat32 || !allowsTf32())
            return;
        for (const Node& node : graph_.nodes)
            if (place.where.nodes.contains(node.name) && isProduct(node))
                options.float32Nodes.insert(node.name);
    }

    void apply(Place& place, ModelOptions& options) const {
        if (!place.measurement.isMeasured)
            return applyDefault(place, options);
        const ModelVariant& chosen = place.variants[place.measurement.chosen];
        if (chosen.isLibrary)
            leave(place, chosen.exactness != Exactness::TF32, options);
        else if (place.where.isLinearAlgebra)
            for (const std::string& node : place.where.nodes)
                options.kernels.ofNodes[node] = chosen.own;
    }

    /// Own kernels at each place, the fastest of those that are not refused there.
    ModelOptions ownAlone() const {
        ModelOptions options = ownOptions();
        for (const Place& place : places_) {
            if (!place.measurement.isMeasured || !place.where.isLinearAlgebra)
                continue;
            std::vector<VariantTime> times;
            for (std::size_t i = 0; i < place.variants.size(); ++i) {
                const MeasuredVariant& variant = place.measurement.variants[i];
                const bool isTaken = !place.variants[i].isLibrary && variant.refused.empty();
                times.push_back(isTaken ? variant.time : VariantTime{});
            }
            if (const auto fastest = preferredOf(times))
                for (const std::string& node : place.where.nodes)
                    options.kernels.ofNodes[node] = place.variants[*fastest].own;
        }
        return options;
    }

    /// The last resort, which is as exact as PyTorch itself.
    ModelVariant asPyTorch() const {
        return {"all products by a library, as PyTorch computes them", true, {}, byLibraries(true)};
    }

    /// All products by a library, without TF32 where it is refused, or anywhere.
    ModelOptions byLibraries(bool withoutTf32) const {
        ModelOptions options = ownOptions();
        options.usesLibraries = true;
        if (!allowsTf32())
            return options;
        if (withoutTf32) {
            options.float32Nodes = productsOf(graph_);
            return options;
        }
        for (const Place& place : places_)
            for (std::size_t i = 0; i < place.variants.size(); ++i)
                if (place.variants[i].isLibrary && place.variants[i].exactness == Exactness::TF32 &&
                    !place.measurement.variants[i].refused.empty())
                    options.float32Nodes.insert(place.where.nodes.begin(), place.where.nodes.end());
        return options;
    }

    /// Fusion across places can make a whole faster than its parts are, and less exact: the simple
    /// models have to be slower than the one of chosen places, or wrong, or are taken.
    void compareWhole(const ModelPlan& own, ModelChoice& choice) {
        const auto ownKernels = std::ranges::count_if(own.steps, [](const ModelStep& step) {
            return std::holds_alternative<Kernel>(step.work);
        });
        if (!choice.accuracy || choice.accuracy->isOfWhole || stops_.all.stop_requested() ||
            static_cast<std::size_t>(ownKernels) > mostKernelsOfWhole)
            return;
        Place whole;
        whole.measurement.operation = "the whole model";
        add(whole, graph_, {"as chosen place by place", false, {}, choice.options});
        if (whole.variants.empty())
            return;
        add(whole, graph_, {"own kernels alone", false, {}, ownAlone()});
        add(whole, graph_, {"all products by a library", true, {}, byLibraries(false)});
        if (allowsTf32())
            add(whole, graph_, asPyTorch());
        std::size_t kernels = 0;
        for (const ModelVariant& variant : whole.variants)
            kernels += variant.kernels;
        if (whole.variants.size() > 1 && kernels <= mostKernelsOfWhole &&
            !stops_.measuring.stop_requested()) {
            if (request_.progress)
                request_.progress("timing whole models",
                                  static_cast<double>(places_.size()) /
                                      static_cast<double>(places_.size() + 1));
            lookUp(whole, graph_);
            finish(whole);
        }
        chooseWhole(whole, choice);
    }

    /// Takes the fastest whole model that is right. Without times, that is the one of chosen
    /// places.
    void chooseWhole(Place& whole, ModelChoice& choice) {
        const bool isTimed = whole.measurement.isMeasured;
        std::vector<std::size_t> order{0};
        if (isTimed) {
            order.clear();
            for (const AccuracyOption& option : optionsOf(whole))
                order.push_back(option.variant);
        } else {
            whole.variants.erase(whole.variants.begin() + 1, whole.variants.end());
            whole.measurement.variants.resize(1);
            whole.measurement.chosen = 0;
        }
        const auto take = [&](std::size_t variant, MixVerdict verdict) {
            whole.measurement.chosen = variant;
            choice.options = whole.variants[variant].options;
            choice.accuracy = ChoiceAccuracy{std::move(verdict), true, verdicts_.areRemembered()};
        };
        const bool arePlacesRight = choice.accuracy->verdict.outcome == MixVerdict::Outcome::Right;
        for (const std::size_t variant : order) {
            MixVerdict verdict = judgeWhole(whole.variants[variant]);
            if (verdict.outcome == MixVerdict::Outcome::Right) {
                take(variant, std::move(verdict));
                if (isTimed)
                    choice.whole = std::move(whole.measurement);
                return;
            }
            const bool isWrong = verdict.outcome == MixVerdict::Outcome::Wrong;
            whole.measurement.variants[variant].refused =
                isWrong ? verdict.worst : "not compared: " + verdict.why;
            if (isWrong || variant != 0)
                continue;
            // Nothing is known of it but what its places say.
            if (isTimed && arePlacesRight) {
                whole.measurement.variants[variant].refused.clear();
                whole.measurement.chosen = 0;
                choice.whole = std::move(whole.measurement);
            }
            if (arePlacesRight || !isTimed)
                return;
        }
        const auto last = add(whole, graph_, asPyTorch());
        if (!last)
            return;
        whole.measurement.isMeasured = true;
        take(*last, judgeWhole(whole.variants[*last]));
        choice.whole = std::move(whole.measurement);
    }

    MixVerdict judgeWhole(const ModelVariant& variant) {
        return verdicts_.of({{{std::nullopt, &variant.files}}}).at(0);
    }

    const Program& graph_;
    const ChoiceRequest& request_;
    VariantRacer& racer_;
    const TimesMemory& memory_;
    const ChoiceStops& stops_;
    RememberedVerdicts verdicts_;
    std::vector<Place> places_;
    std::map<std::string, const Place*> planned_; ///< By planningOf().
    // The maps have the places' keys, so that equal places are measured once.
    std::map<std::string, std::size_t> numbers_;
    std::map<std::string, std::vector<VariantTime>> remembered_;
    std::map<std::string, Result<std::vector<VariantTime>>> measured_;
};

} // namespace

Result<ModelChoice> chooseByTimes(const Program& graph, const ChoiceRequest& request,
                                  VariantRacer& racer, const TimesMemory& memory,
                                  const ChoiceStops& stops) {
    return Choosing(graph, request, racer, memory, stops).run();
}

} // namespace kernelskill::engine::graph
