/// What it may bring to remove a bottleneck: always an interval of a model, never one number.
#pragma once

#include "engine/diagnosis/interval.h"

#include <string>

namespace kernelskill::engine {

/// Times faster. Counts without a clock cannot exclude that something else holds the kernel back as
/// much, so that the low end is 1.
struct Gain {
    Interval factor{1, 1};
    std::string basis; ///< What the high end follows from, as a clause.
    bool operator==(const Gain&) const = default;
};

/// "1 to 8 times as fast (model: sectors moved over sectors needed)"
[[nodiscard]] std::string describe(const Gain& gain);

/// The tier of a gain's high end: what share of the possible the kernel may already reach. "high"
/// below 60 percent, "medium" below 80, else "low".
[[nodiscard]] std::string_view headroomOf(const Gain& gain);

} // namespace kernelskill::engine
