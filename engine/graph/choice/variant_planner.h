/// Plans the ways in which the work of a model's places can be done.
#pragma once

#include "engine/graph/choice/choice_places.h"
#include "engine/graph/choice/choice_request.h"
#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/variant_times.h"
#include "engine/graph/program.h"

#include <cstddef>
#include <optional>
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
    /// Returns the options of a model of own kernels alone.
    [[nodiscard]] ModelOptions ownOptions() const;

    /// Returns the model's places with their variants, the one with the most work first. `own` is
    /// the model of own kernels alone. A place without `program` has nothing to measure, and its
    /// measurement says why.
    [[nodiscard]] std::vector<VariedPlace> placesOf(const ModelPlan& own) const;

    /// Adds a variant, unless there is one of the same code, and returns its number. Nothing if it
    /// cannot be planned.
    std::optional<std::size_t> add(VariedPlace& place, const Program& program,
                                   ModelVariant variant) const;
    void addOwn(VariedPlace& place, const Program& part, const ContractionChoice& own) const;
    /// Adds own kernels that are more exact than the request asks for, the ones to prefer first.
    void addMoreExact(VariedPlace& place, const Program& part) const;

private:
    /// Finds the model's places, which have no variants yet.
    std::vector<VariedPlace> findPlaces(const ModelPlan& own) const;
    /// Returns the choices that are more exact than the request asks for.
    std::vector<ContractionChoice> moreExactChoices() const;
    /// Returns the choices of own kernels that are tried, the ones to prefer first.
    std::vector<ContractionChoice> ownChoices(const VariedPlace& place, std::size_t places) const;

    const Program& graph_;
    const ChoiceRequest& request_;
};

} // namespace kernelskill::engine::graph
