/// Chooses, by measurement, whether a model's own kernels or a library do the work of each of its
/// products, convolutions and reductions, and how the own kernels do it.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/choice/choice_places.h"
#include "engine/graph/choice/variant_times.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/model/model_plan.h"

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
};

/// Where times are kept between runs. The functions may do nothing.
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

struct ModelChoice {
    ModelOptions options; ///< The options to plan the model with.
    std::vector<PlaceMeasurement> places;
    /// The model as its places were chosen, next to one of own kernels alone and one with all
    /// products by a library; nullopt: not compared.
    std::optional<PlaceMeasurement> whole;
};

/// A place that could not be measured, because `stop` came or for another reason, is a library's if
/// it is a product that no simplification makes smaller, else own kernels'. Variants within a
/// hundredth of the fastest count as equally fast: then own kernels come before a library, and more
/// exact ones before others. Errors are those of plannedModel().
[[nodiscard]] Result<ModelChoice> chooseByTimes(const Program& graph, const ChoiceRequest& request,
                                                VariantRacer& racer, const TimesMemory& memory,
                                                std::stop_token stop);

/// The number of the variant to choose; nullopt if none has a time. Earlier ones are preferred.
[[nodiscard]] std::optional<std::size_t> preferredOf(const std::vector<VariantTime>& times);

} // namespace kernelskill::engine::graph
