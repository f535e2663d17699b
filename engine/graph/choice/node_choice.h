/// Chooses, by measurement, whether a model's own kernels or a library do the work of each of its
/// products, convolutions and reductions, and how the own kernels do it.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/choice/choice_places.h"
#include "engine/graph/choice/variant_mix.h"
#include "engine/graph/choice/variant_times.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/model/model_plan.h"
#include "engine/graph/reference/mix.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Times variants of places on a GPU.
class VariantRacer {
public:
    virtual ~VariantRacer() = default;
    VariantRacer() = default;
    VariantRacer(const VariantRacer&) = delete;
    VariantRacer& operator=(const VariantRacer&) = delete;

    /// Begins to compile the variants of a place, and returns. What was asked for first is compiled
    /// first. `part` is the part of the program that they compute; nullopt: the whole.
    virtual void build(std::size_t place, const std::optional<ProgramPart>& part,
                       const std::vector<ModelFiles>& variants) = 0;
    /// Times the variants of a place that build() was called for. One that does not compile, or
    /// computes something else, has no time. Cancelled on `stop`; another error if none could be
    /// timed.
    [[nodiscard]] virtual Result<std::vector<VariantTime>> race(std::size_t place,
                                                                std::stop_token stop) = 0;
    /// Judges the results of the program with each mix, in one verdict for each, with a margin to
    /// what a judge allows. What build() was not called for is compiled first. A mix that does not
    /// compile or run is not compared. Errors are those of race().
    [[nodiscard]] virtual Result<std::vector<MixVerdict>>
    judge(const std::vector<VariantMix>& mixes, std::stop_token stop) = 0;
};

/// Keeps times and verdicts between runs. The functions may do nothing.
struct TimesMemory {
    std::function<std::optional<std::string>(const std::string& key)> find;
    std::function<void(const std::string& key, const std::string& text)> keep;
};

struct ChoiceRequest {
    std::string name; ///< The model's.
    /// `kernels.multiply` is as inexact as a variant may be; `usesLibraries` and `libraryNodes` are
    /// not looked at.
    ModelOptions options;
    /// Names all that times depend on beside the text: GPU, LibTorch and compiler.
    std::string machine;
    std::function<void(const std::string& what, double share)> progress;
};

/// When to stop.
struct ChoiceStops {
    std::stop_token measuring; ///< No place is measured from then on.
    std::stop_token all;       ///< No mix is judged, either.
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
    /// The model as its places were chosen, next to one of own kernels alone and one with all
    /// products by a library; nullopt: not compared.
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
