/// The possible gain from removing a bottleneck: always an interval of a model, never one number.
#pragma once

#include "engine/diagnosis/interval.h"

#include <string>

namespace kernelskill::engine {

/// The factor by which the kernel may become faster. The low end is 1 for counts without a clock,
/// because something else may limit the kernel equally.
struct Gain {
    Interval factor{1, 1};
    std::string basis; ///< The reason for the high end, as a clause.
    bool operator==(const Gain&) const = default;
};

/// "at most 8 times as fast (model: sectors moved over sectors needed)"
[[nodiscard]] std::string describe(const Gain& gain);

/// The tier of a gain's high end: the share of the possible speed that the kernel may already
/// reach. "high" below 60 percent, "medium" below 80, else "low".
[[nodiscard]] std::string_view headroomOf(const Gain& gain);

} // namespace kernelskill::engine
