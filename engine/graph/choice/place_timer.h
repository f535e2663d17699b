/// Measures the variants of places, each kind of place once, unless an earlier run did.
#pragma once

#include "engine/graph/choice/variant_planner.h"
#include "engine/graph/choice/variant_racer.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

class PlaceTimer {
public:
    /// `subject` names all that times depend on beside the text. The racer and the memory have to
    /// outlive it.
    PlaceTimer(VariantRacer& racer, const TimesMemory& memory, std::string subject)
        : racer_(racer), memory_(memory), subject_(std::move(subject)) {}

    /// Finds the times of a place's variants in the memory, or begins to compile them, unless there
    /// is a place that is the same.
    void lookUp(VariedPlace& place, const Program& program);
    /// Measures a place, unless that is done, and chooses. lookUp() comes before it.
    void finish(VariedPlace& place, const RaceStops& stops);

private:
    VariantRacer& racer_;
    const TimesMemory& memory_;
    std::string subject_;
    // The maps have the places' keys, so that equal places are measured once.
    std::map<std::string, std::size_t> numbers_;
    std::map<std::string, std::vector<VariantTime>> remembered_;
    std::map<std::string, Result<std::vector<VariantTime>>> measured_;
};

} // namespace kernelskill::engine::graph
