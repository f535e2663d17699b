/// Loops, divisions and branches of a kernel that values of its parameters decide.
#pragma once

#include "skills/base/skill.h"
#include "skills/launch-specialization/known_arguments.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Each combination of values is a kernel of its own, so there must be few.
inline constexpr std::size_t maxSpecialParameters = 2;

/// The ways in which a known parameter helps the compiler.
enum class SpecialUse : std::uint8_t {
    Loop,     ///< A loop has a known, small number of rounds.
    Division, ///< Divisions by it become multiplications.
    Branch,   ///< A condition in a loop is decided.
};

struct SpecialReason {
    SpecialUse use = SpecialUse::Loop;
    std::vector<std::uint32_t> parameters; ///< Indices of those that have to be known.
    double weight = 0;                     ///< A rough number of instructions that a thread saves.
    analysis::Span place;
    /// The loop, of a Loop; noId if it is in a function that is called at the place.
    analysis::StmtId loop = analysis::noId;
    std::int64_t rounds = 0; ///< Set for a Loop.
    std::string array;       ///< The thread's own array that the Loop indexes; may be empty.
};

/// Returns all reasons to compile the kernel for `given`, heaviest first. Reasons that need more
/// than maxSpecialParameters are left out.
[[nodiscard]] std::vector<SpecialReason> specialReasons(const SkillContext& context,
                                                        const GivenValues& given);

} // namespace kernelskill::skills
