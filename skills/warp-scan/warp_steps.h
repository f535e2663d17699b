/// Writes the scan of a warp's values by shuffles.
#pragma once

#include "skills/editing/code_lines.h"

#include <cstdint>
#include <string>

namespace kernelskill::skills {

struct WarpSteps {
    std::string value;  ///< The variable whose values are scanned.
    std::string thread; ///< An expression that is threadIdx.x.
    std::string offset; ///< A name that is free.
    std::string lower;  ///< The variable that gets the value of a lower lane.
};

enum class LowerName : std::uint8_t { Declared, Existing };

/// Adds lines that leave in each lane the sum of the values of the lanes up to it.
void addWarpSteps(CodeLines& lines, const WarpSteps& steps, LowerName lower);

} // namespace kernelskill::skills
