#include "engine/graph/choice/node_choice.h"

#include "engine/graph/choice/accuracy_search.h"
#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/place_timer.h"
#include "engine/graph/choice/remembered_verdicts.h"
#include "engine/graph/choice/variant_planner.h"
#include "engine/graph/lowering/channels_last_nodes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

/// The most kernels that the whole models have together that are compared, equal ones counted once:
/// each has to be compiled first.
constexpr std::size_t mostKernelsOfWhole = 256;

class Choosing {
public:
    Choosing(const Program& graph, const ChoiceRequest& request, VariantRacer& racer,
             const TimesMemory& memory, const ChoiceStops& stops)
        : graph_(graph), request_(request), stops_(stops), planner_(graph, request),
          timer_(racer, memory,
                 fmt::format("{} {}", request.machine, planner_.allowsTf32() ? "tf32" : "float32")),
          verdicts_(subjectOfVerdicts(graph, request, planner_.allowsTf32()), racer, memory,
                    stops.all) {}

    Result<ModelChoice> run() {
        const auto own = plannedModel(graph_, request_.name, planner_.ownOptions());
        if (!own)
            return std::unexpected(own.error());
        places_ = planner_.placesOf(*own);
        if (places_.size() > somePlaces)
            beginSimple();
        for (VariedPlace& place : places_)
            if (place.program)
                timer_.lookUp(place, *place.program);
        finishSimple();
        std::size_t done = 0;
        for (VariedPlace& place : places_) {
            if (request_.progress)
                request_.progress(fmt::format("timing {}", place.measurement.operation),
                                  static_cast<double>(done++) /
                                      static_cast<double>(places_.size() + 1));
            timer_.finish(place, {stops_.measuring, stops_.measuring});
        }
        ModelChoice choice;
        chooseExact(choice);
        choice.options = planner_.ownOptions();
        for (VariedPlace& place : places_) {
            apply(place, choice.options);
            choice.places.push_back(place.measurement);
        }
        compareWhole(choice);
        return choice;
    }

private:
    /// The loose tolerance has no name in this key, so that verdicts from when it was the only one
    /// are found.
    static std::string subjectOfVerdicts(const Program& graph, const ChoiceRequest& request,
                                         bool allowsTf32) {
        return fmt::format("{} {} {}{}", programKey(graph), request.machine, allowsTf32,
                           request.tolerance == Tolerance::Loose
                               ? std::string()
                               : fmt::format(" at {}", nameOf(request.tolerance)));
    }

    /// Picks variants of the measured places with which the program is right.
    void chooseExact(ModelChoice& choice) {
        std::vector<AccuracyGroup> groups;
        std::vector<std::vector<VariedPlace*>> placesOf;
        std::map<std::string, std::size_t> groupOf; // By the places' keys.
        for (VariedPlace& place : places_) {
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
        if (request_.tolerance == Tolerance::Tight)
            tryTf32(groups, placesOf);
        AccuracySearch search(
            groups, planner_.trustedExactness(),
            [&](const std::vector<VariantMix>& mixes) { return verdicts_.of(mixes); },
            [&](AccuracyGroup& group) {
                addVariants(placesOf[static_cast<std::size_t>(&group - groups.data())], group,
                            [&](VariedPlace& place, const Program& part) {
                                planner_.addMoreExact(place, part);
                            });
            });
        MixVerdict verdict = search.run();
        choice.accuracy = ChoiceAccuracy{std::move(verdict), isWhole(), verdicts_.areRemembered()};
        for (std::size_t i = 0; i < groups.size(); ++i)
            for (VariedPlace* place : placesOf[i]) {
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
    static std::vector<AccuracyOption> optionsOf(const VariedPlace& place) {
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

    /// Judges a library in TF32 at each group alone, or at all together where places are many.
    /// Where the program is wrong with it, nothing in TF32 is taken, and own kernels in TF32 are
    /// not even compiled; elsewhere they are measured.
    void tryTf32(std::vector<AccuracyGroup>& groups,
                 const std::vector<std::vector<VariedPlace*>>& placesOf) {
        std::vector<std::size_t> tried;
        std::vector<VariantMix> mixes;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const auto library = std::ranges::find_if(groups[i].options, isLibraryInTf32);
            if (library == groups[i].options.end())
                continue;
            tried.push_back(i);
            if (mixes.empty() || places_.size() <= somePlaces)
                mixes.emplace_back();
            for (const ProgramPart& part : groups[i].parts)
                mixes.back().push_back({part, library->files});
        }
        const std::vector<MixVerdict> verdicts = verdicts_.of(mixes);
        for (std::size_t i = 0; i < tried.size(); ++i) {
            AccuracyGroup& group = groups[tried[i]];
            const MixVerdict& verdict = verdicts[std::min(i, verdicts.size() - 1)];
            if (verdict.outcome == MixVerdict::Outcome::Right && verdict.leftOut.empty()) {
                addVariants(placesOf[tried[i]], group,
                            [&](VariedPlace& place, const Program& part) {
                                planner_.addLessExact(place, part, places_.size());
                            });
                group.picked = 0;
                continue;
            }
            for (AccuracyOption& option : group.options)
                if (isLibraryInTf32(option))
                    option.refused =
                        verdict.leftOut.empty() ? refusalBy(verdict) : std::string(cannotRunAtOnce);
            // At least the library in float32 is not refused.
            group.picked = static_cast<std::size_t>(
                std::ranges::find(group.options, "", &AccuracyOption::refused) -
                group.options.begin());
        }
    }

    static bool isLibraryInTf32(const AccuracyOption& option) {
        return option.isLibrary && option.exactness == Exactness::TF32;
    }

    /// Returns why a variant with this verdict is refused.
    static std::string refusalBy(const MixVerdict& verdict) {
        return verdict.outcome == MixVerdict::Outcome::Wrong ? verdict.worst
                                                             : "not compared: " + verdict.why;
    }

    /// Measures variants that a group's places did not have at first.
    void addVariants(const std::vector<VariedPlace*>& places, AccuracyGroup& group,
                     const std::function<void(VariedPlace&, const Program&)>& addTo) {
        const VariedPlace& first = *places.front();
        if (!first.where.isLinearAlgebra || !first.program || stops_.measuring.stop_requested())
            return;
        VariedPlace more;
        more.where = first.where;
        more.part = first.part;
        more.variants = first.variants; // So that what there is is not added again.
        const std::size_t known = more.variants.size();
        addTo(more, *first.program);
        more.variants.erase(more.variants.begin(),
                            more.variants.begin() + static_cast<std::ptrdiff_t>(known));
        if (more.variants.empty())
            return;
        if (request_.progress)
            request_.progress("timing further variants of " + first.measurement.operation, 1);
        timer_.lookUp(more, *first.program);
        timer_.finish(more, {stops_.measuring, stops_.measuring});
        for (VariedPlace* place : places) {
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

    /// Begins to compile the models whose products are all done in one way.
    void beginSimple() {
        simple_.emplace();
        simple_->measurement.operation = "the whole model";
        addLibraries(*simple_);
        addToWhole(*simple_, {"own kernels alone", false, {}, planner_.ownOptions()});
        if (simple_->variants.size() < 2)
            return simple_.reset();
        timer_.lookUp(*simple_, graph_);
    }

    void finishSimple() {
        if (!simple_)
            return;
        if (request_.progress)
            request_.progress("timing whole models", 0);
        timer_.finish(*simple_, {stops_.simple, stops_.measuring});
    }

    /// Whether the faster one of the models whose products are all a library's has images in
    /// channels-last order.
    bool isChannelsLastFaster() const {
        if (!simple_ || !simple_->measurement.isMeasured)
            return false;
        for (const AccuracyOption& option : optionsOf(*simple_))
            if (option.isLibrary)
                return !simple_->variants[option.variant].options.channelsLastNodes.empty();
        return false;
    }

    /// Returns the library's variant that a place has if it is not measured; end if it has none.
    std::vector<ModelVariant>::const_iterator defaultLibraryOf(const VariedPlace& place) const {
        const auto& variants = place.variants;
        const auto channelsLast = std::ranges::find_if(variants, [](const ModelVariant& variant) {
            return variant.exactness == Exactness::AsPyTorch &&
                   !variant.options.channelsLastNodes.empty();
        });
        if (channelsLast != variants.end() && isChannelsLastFaster())
            return channelsLast;
        return std::ranges::find(variants, Exactness::AsPyTorch, &ModelVariant::exactness);
    }

    /// A place that was not measured has trusted variants, because nothing says how exact it is.
    void applyDefault(VariedPlace& place, ModelOptions& options) const {
        PlaceMeasurement& measurement = place.measurement;
        if (place.where.isLinearAlgebra && !place.where.isSimplified) {
            leave(place, true, options);
            const auto library = defaultLibraryOf(place);
            measurement.chosen = static_cast<std::size_t>(library - place.variants.begin());
            if (library != place.variants.end() && !library->options.channelsLastNodes.empty())
                useChannelsLast(place, options);
            return;
        }
        const ContractionChoice own{planner_.trustedUnit(), 0};
        if (place.where.isLinearAlgebra && own.multiply != planner_.firstUnit())
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
    void leave(const VariedPlace& place, bool isFloat32, ModelOptions& options) const {
        options.libraryNodes.insert(place.where.nodes.begin(), place.where.nodes.end());
        setFloat32(place, isFloat32, options);
    }

    /// Sets whether a library runs the place's nodes in float32.
    void setFloat32(const VariedPlace& place, bool isFloat32, ModelOptions& options) const {
        for (const Node& node : graph_.nodes) {
            if (!place.where.nodes.contains(node.name) || !planner_.mustBeFloat32(node))
                continue;
            if (isFloat32)
                options.float32Nodes.insert(node.name);
            else
                options.float32Nodes.erase(node.name);
        }
    }

    /// Has the place's convolutions in channels-last order.
    static void useChannelsLast(const VariedPlace& place, ModelOptions& options) {
        options.channelsLastNodes.insert(place.where.nodes.begin(), place.where.nodes.end());
    }

    /// Whether own kernels can do the place's work in several ways. If not, a choice for its nodes
    /// would change nothing but kernels of other places that name these nodes too.
    static bool hasOwnChoice(const VariedPlace& place) {
        return std::ranges::count(place.variants, false, &ModelVariant::isLibrary) > 1;
    }

    void apply(VariedPlace& place, ModelOptions& options) const {
        if (!place.measurement.isMeasured)
            return applyDefault(place, options);
        const ModelVariant& chosen = place.variants[place.measurement.chosen];
        if (!chosen.options.channelsLastNodes.empty())
            useChannelsLast(place, options);
        if (chosen.isLibrary)
            leave(place, chosen.exactness != Exactness::TF32, options);
        else if (hasOwnChoice(place))
            for (const std::string& node : place.where.nodes)
                options.kernels.ofNodes[node] = chosen.own;
    }

    /// Own kernels at each place, the fastest of those that are not refused there.
    ModelOptions ownAlone() const {
        ModelOptions options = planner_.ownOptions();
        for (const VariedPlace& place : places_) {
            if (!place.measurement.isMeasured || !hasOwnChoice(place))
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

    /// Returns the variant that is taken if no other one is right: it is as exact as the eager
    /// program that the judge allows for.
    ModelVariant asPyTorch() const {
        return {request_.tolerance == Tolerance::Tight
                    ? "all products by a library, in float32"
                    : "all products by a library, as PyTorch computes them",
                true,
                {},
                planner_.float32Libraries()};
    }

    /// All products by a library, without TF32 where it is refused, or where a verdict is needed
    /// and there is none.
    ModelOptions byLibraries() const {
        ModelOptions options = planner_.ownOptions();
        options.usesLibraries = true;
        for (const VariedPlace& place : places_)
            for (std::size_t i = 0; i < place.variants.size(); ++i) {
                if (!place.variants[i].isLibrary || place.variants[i].exactness != Exactness::TF32)
                    continue;
                const bool isKnown =
                    request_.tolerance == Tolerance::Loose || place.measurement.isMeasured;
                setFloat32(place, !isKnown || !place.measurement.variants[i].refused.empty(),
                           options);
            }
        return options;
    }

    /// Fusion across places can make a whole faster than its parts are, and less exact: the simple
    /// models have to be slower than the one of chosen places, or wrong, or are taken. They are
    /// timed even if the time for places is up: nothing else tells that the chosen one is slower
    /// than PyTorch.
    void compareWhole(ModelChoice& choice) {
        const bool isWholeJudged = choice.accuracy && choice.accuracy->isOfWhole;
        if (places_.empty() || isWholeJudged || stops_.all.stop_requested())
            return;
        VariedPlace whole;
        whole.measurement.operation = "the whole model";
        planner_.add(whole, graph_, {"as chosen place by place", false, {}, choice.options});
        if (whole.variants.empty())
            return;
        addChannelsLast(whole, {"as chosen place by place", false, {}, choice.options});
        addToWhole(whole, {"own kernels alone", false, {}, ownAlone()});
        addLibraries(whole);
        if (ModelVariant exact = asPyTorch(); !exact.options.float32Nodes.empty())
            addToWhole(whole, std::move(exact));
        if (whole.variants.size() > 1) {
            if (request_.progress)
                request_.progress("timing whole models",
                                  static_cast<double>(places_.size()) /
                                      static_cast<double>(places_.size() + 1));
            timer_.lookUp(whole, graph_);
            timer_.finish(whole, {stops_.compiling, stops_.all});
        }
        if (choice.accuracy || whole.measurement.isMeasured)
            chooseWhole(whole, choice);
    }

    /// Adds a variant, unless all together have too many kernels then.
    void addToWhole(VariedPlace& whole, ModelVariant variant) const {
        const std::size_t before = whole.variants.size();
        planner_.add(whole, graph_, std::move(variant));
        if (before == whole.variants.size())
            return;
        std::set<std::string_view> kernels; // Equal ones are compiled once.
        for (const ModelVariant& each : whole.variants)
            for (const auto& [path, text] : each.files)
                if (path.ends_with(".cu"))
                    kernels.insert(text);
        if (kernels.size() <= mostKernelsOfWhole)
            return;
        whole.variants.pop_back();
        whole.measurement.variants.pop_back();
    }

    /// Adds the variant with all convolutions that a library runs in channels-last order. A place
    /// alone brings its images into that order and back; in the whole, most of them stay in it.
    void addChannelsLast(VariedPlace& whole, ModelVariant variant) const {
        variant.options.channelsLastNodes = imageConvolutions(graph_);
        variant.what += ", images in channels-last order";
        if (!variant.options.channelsLastNodes.empty())
            addToWhole(whole, std::move(variant));
    }

    /// Adds the models with all products by a library, in both orders of images.
    void addLibraries(VariedPlace& whole) const {
        ModelVariant all{"all products by a library", true, {}, byLibraries()};
        if (request_.tolerance == Tolerance::Tight &&
            all.options.float32Nodes == asPyTorch().options.float32Nodes)
            all.what = asPyTorch().what;
        addChannelsLast(whole, all);
        addToWhole(whole, all);
    }

    /// Takes the fastest whole model that is right. Without times, that is the one of chosen
    /// places.
    void chooseWhole(VariedPlace& whole, ModelChoice& choice) {
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
        const bool arePlacesRight =
            choice.accuracy && choice.accuracy->verdict.outcome == MixVerdict::Outcome::Right;
        for (const std::size_t variant : order) {
            MixVerdict verdict = judgeWhole(whole.variants[variant]);
            if (verdict.outcome == MixVerdict::Outcome::Right) {
                take(variant, std::move(verdict));
                if (isTimed)
                    choice.whole = std::move(whole.measurement);
                return;
            }
            const bool isWrong = verdict.outcome == MixVerdict::Outcome::Wrong;
            whole.measurement.variants[variant].refused = refusalBy(verdict);
            if (isWrong || variant != 0)
                continue;
            // Nothing is known of it but what its places say.
            if (isTimed && arePlacesRight) {
                whole.measurement.variants[variant].refused.clear();
                whole.measurement.chosen = 0;
                choice.whole = std::move(whole.measurement);
            }
            if (arePlacesRight || !isTimed || !choice.accuracy)
                return;
        }
        const auto last = planner_.add(whole, graph_, asPyTorch());
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
    const ChoiceStops& stops_;
    VariantPlanner planner_;
    PlaceTimer timer_;
    RememberedVerdicts verdicts_;
    std::vector<VariedPlace> places_;
    /// The models whose products are all done in one way, where there are many places.
    std::optional<VariedPlace> simple_;
};

} // namespace

Result<ModelChoice> chooseByTimes(const Program& graph, const ChoiceRequest& request,
                                  VariantRacer& racer, const TimesMemory& memory,
                                  const ChoiceStops& stops) {
    return Choosing(graph, request, racer, memory, stops).run();
}

} // namespace kernelskill::engine::graph
