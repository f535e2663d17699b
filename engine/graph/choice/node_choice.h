/// Chooses, by measurement, whether a model's own kernels or a library do the work of each of its
/// products, convolutions and reductions, and how the own kernels do it.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/choice/choice_request.h"
#include "engine/graph/choice/variant_racer.h"
#include "engine/graph/choice/variant_times.h"
#include "engine/graph/model/model_plan.h"
#include "engine/graph/reference/mix.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace kernelskill::engine::graph {

/// Tells when to stop.
struct ChoiceStops {
    /// No whole model is timed before the places, where these are many, from then on.
    std::stop_token simple;
    std::stop_token measuring; ///< No place is measured from then on.
    /// Whole models that are not compiled by then are left out.
    std::stop_token compiling;
    std::stop_token all; ///< No whole model is timed and no mix is judged, either.
};

/// The judge's verdict on the model as it was chosen.
struct ChoiceAccuracy {
    MixVerdict verdict;
    /// Whether the whole model was compiled and run; else its places were, each as a model of its
    /// own, in the program that LibTorch runs otherwise.
    bool isOfWhole = false;
    bool isRemembered = false; ///< An earlier run compared it.
};

struct ModelChoice {
    ModelOptions options; ///< The options to plan the model with.
    std::vector<PlaceMeasurement> places;
    /// The model as its places were chosen, next to one of own kernels alone and those with all
    /// products by a library, in TF32 and as PyTorch computes them; nullopt: not compared.
    std::optional<PlaceMeasurement> whole;
    std::optional<ChoiceAccuracy> accuracy; ///< nullopt: no place was measured.
};

/// A place that could not be measured, because its time came or for another reason, is a library's
/// if it is a product that no simplification makes smaller, else own kernels', and without TF32 by
/// products. Variants within a hundredth of the fastest count as equally fast: then own kernels
/// come before a library, and more exact ones before others. Of the variants, the fastest are taken
/// with which the whole program is right (accuracy_search.h). Errors are those of plannedModel().
[[nodiscard]] Result<ModelChoice> chooseByTimes(const Program& graph, const ChoiceRequest& request,
                                                VariantRacer& racer, const TimesMemory& memory,
                                                const ChoiceStops& stops);

} // namespace kernelskill::engine::graph
