/// A profile with its diagnosis, as hover, command line and reports show it.
#pragma once

#include "analysis/compile/occupancy.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/measured_roofline.h"
#include "engine/diagnosis/roofline.h"
#include "engine/findings/profile_cache.h"
#include "engine/static_facts/static_facts.h"

#include <memory>
#include <optional>

namespace kernelskill::engine {

struct KernelReport {
    std::shared_ptr<const Profile> profile;
    std::shared_ptr<const Bottleneck> bottleneck;
    /// The facts of the GPU's compiler, or the reason why they are unknown. Null if they were not
    /// requested or there is no toolkit.
    std::shared_ptr<const Result<StaticFacts>> facts;
    std::optional<analysis::Occupancy> occupancy; ///< For the profiled launch; needs the facts.
    std::optional<Roofline> roofline;
    std::optional<MeasuredRoofline> measured; ///< Only for a profile of a GPU.
    /// The place and time of the measurement; null for a profile of the emulator.
    std::shared_ptr<const Measurement> measurement;
};

} // namespace kernelskill::engine
