/// Plans the ways in which the work of a model's places can be done.
#pragma once

#include "engine/graph/choice/choice_places.h"
#include "engine/graph/choice/choice_request.h"
#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/variant_times.h"
#include "engine/graph/program.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Holds a place of the model, or the whole of it, with its variants.
struct VariedPlace {
    ChoicePlace where;
    PlaceMeasurement measurement;
    std::vector<ModelVariant> variants;
    std::optional<Program> program;  ///< The part, if there is something to measure.
    double seconds = 0;              ///< The max time of own kernels.
    std::optional<ProgramPart> part; ///< nullopt: the whole program.
    std::string key;                 ///< The key in long-term memory; empty: not measured.
    std::size_t number = 0;          ///< The place's number in the racer.
};

/// With more places, each gets the fewest variants, and the time may not suffice for all of them.
constexpr std::size_t somePlaces = 12;

class VariantPlanner {
public:
    /// The graph and the request have to outlive the planner.
    VariantPlanner(const Program& graph, const ChoiceRequest& request)
        : graph_(graph), request_(request) {}

    [[nodiscard]] bool allowsTf32() const;
    /// Returns needsFloat32() for the request's tolerance.
    [[nodiscard]] bool mustBeFloat32(const Node& node) const;
    /// Returns the least exact unit that own kernels are tried in first. Where the model has to be
    /// as right as float32, a single TF32 number for a factor rarely is exact enough.
    [[nodiscard]] MultiplyUnit firstUnit() const;
    /// Returns the unit of own kernels that are taken without a verdict.
    [[nodiscard]] MultiplyUnit trustedUnit() const;
    /// Returns how exact a variant has to be to be taken without a verdict.
    [[nodiscard]] Exactness trustedExactness() const;
    /// Returns the options of a model of own kernels alone; a node without a rule is in float32
    /// where mustBeFloat32() says so.
    [[nodiscard]] ModelOptions ownOptions() const;
    /// Returns the options of a model in which libraries do all that they can, in float32.
    [[nodiscard]] ModelOptions float32Libraries() const;

    /// Returns the model's places with their variants, the one with the most work first. `own` is
    /// the model of own kernels alone. A place without `program` has nothing to measure, and its
    /// measurement says why.
    [[nodiscard]] std::vector<VariedPlace> placesOf(const ModelPlan& own) const;

    /// Adds a variant, unless there is one of the same code, and returns its number. Nothing if it
    /// cannot be planned.
    std::optional<std::size_t> add(VariedPlace& place, const Program& program,
                                   ModelVariant variant) const;
    void addOwn(VariedPlace& place, const Program& part, const ContractionChoice& own) const;
    /// Adds own kernels that are more exact than firstUnit(), the ones to prefer first.
    void addMoreExact(VariedPlace& place, const Program& part) const;
    /// Adds what placesOf() held back: own kernels in the request's unit where firstUnit() is more
    /// exact, and a library in TF32 and in channels-last order.
    void addLessExact(VariedPlace& place, const Program& part, std::size_t places) const;

private:
    bool isTight() const { return request_.tolerance == Tolerance::Tight; }
    /// Whether the variant is tried only where another one in TF32 was right.
    bool isHeldBack(const ModelVariant& variant) const;
    /// Returns the options of a part of the model that own kernels alone compute.
    ModelOptions partOptions() const;
    /// Returns the part's names of the nodes that a library would run.
    std::set<std::string> libraryNodesOf(const VariedPlace& place) const;
    /// Returns the ways in which a library can do the work, the most exact first.
    std::vector<ModelVariant> librariesOf(const VariedPlace& place, const Program& part) const;
    /// Finds the model's places, which have no variants yet.
    std::vector<VariedPlace> findPlaces(const ModelPlan& own) const;
    /// Returns the choices that are more exact than firstUnit().
    std::vector<ContractionChoice> moreExactChoices() const;
    /// Returns the choices of one unit that are tried for the place, fewer where there are more
    /// places.
    static std::vector<ContractionChoice> choicesOf(MultiplyUnit unit, const VariedPlace& place,
                                                    std::size_t places);
    /// Returns the choices of own kernels that are tried, the ones to prefer first.
    std::vector<ContractionChoice> ownChoices(const VariedPlace& place, std::size_t places) const;

    const Program& graph_;
    const ChoiceRequest& request_;
};

} // namespace kernelskill::engine::graph
