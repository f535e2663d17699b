/// Whether a repaired program is the program that it was before the mistake.
#pragma once

#include "engine/execution/program_source.h"
#include "engine/review/reviewer.h"

#include <cstdint>
#include <string>

namespace kernelskill::testing {

enum class Meaning : std::uint8_t {
    SameText,   ///< The same tokens; where #include directives stand is not asked.
    SameEffect, ///< Other text that the Reviewer cannot tell from the original, launched the same.
    Different,  ///< Shown to do something else.
    Unknown,    ///< Host code differs, or the emulator does not run a kernel that differs.
    Hazardous,  ///< Different, and with a hazard that the original does not have.
};

struct Judgement {
    Meaning meaning = Meaning::Unknown;
    std::string reason; ///< Set unless it is the same.
};

/// Both programs compile. `reviewer` runs kernels.
[[nodiscard]] Judgement judge(const engine::ProgramSource& original,
                              const engine::ProgramSource& repaired,
                              const engine::Reviewer& reviewer);

} // namespace kernelskill::testing
