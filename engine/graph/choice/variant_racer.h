/// Times and judges variants of a model's places, and remembers what that said.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/choice/choice_places.h"
#include "engine/graph/choice/variant_mix.h"
#include "engine/graph/choice/variant_times.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/reference/mix.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Tells a race when to stop.
struct RaceStops {
    std::stop_token compiling; ///< A variant that is not compiled by then is left out.
    std::stop_token all;       ///< Nothing is timed from then on.
};

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
    /// Times the variants of a place that build() was called for. One that does not compile, is
    /// left out, or computes something else has no time. Cancelled if nothing may be timed any
    /// more, or if fewer than two variants are compiled in time; another error if none could be
    /// timed.
    [[nodiscard]] virtual Result<std::vector<VariantTime>> race(std::size_t place,
                                                                const RaceStops& stops) = 0;
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

} // namespace kernelskill::engine::graph
