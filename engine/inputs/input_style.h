/// Gives the buffers and scalars of a launch values that look for a difference between two kernels.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/value_dictionary.h"
#include "skills/base/skill.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

/// How the values of a launch are chosen that nothing in the program states.
enum class InputStyle : std::uint8_t {
    Plain,     ///< As launch inference gives them: floats of [-1, 1), integers of 0 to 255.
    Constants, ///< The constants of both texts and their neighbours, among values of any magnitude.
    Ties,      ///< Few small values, so that most elements have equals.
    Extremes,  ///< Largest, smallest, denormal, infinite and negative values; NaN.
    Tiny,      ///< Every value is of one magnitude near zero, of which ValueDictionary adds some.
    Large,     ///< Values whose exponentials overflow, and NaN. For edits that reorder sums.
    Wide,      ///< Values whose exponentials are tiny or huge. For edits that reorder sums.
    Close,     ///< Values whose differences are small. For edits that round differently.
    /// Two values, also for known indices: threads that follow them meet at the same elements.
    Collisions,
};

/// The turns of Tiny whose magnitudes do not depend on the edit; those of
/// ValueDictionary::vanishing follow.
inline constexpr std::size_t usualTinyTurns = 3;

/// "values around the constants of the text"; empty for Plain.
[[nodiscard]] std::string_view describe(InputStyle style);

/// The values that a style may use beside those of the two texts. Where the edit rounds
/// differently, the result is not defined closely enough on overflow or NaN.
struct StyleBounds {
    skills::Numerics numerics = skills::Numerics::Exact;
    bool variesScalars = true; ///< Floating-point scalars take other values too.
    std::size_t turn = 0;      ///< Counts the launches of the style; see `withStyle`.
};

/// `launch` with values of `style`. Changes only buffers and symbols whose values are made up, and
/// floating-point scalars. `seed` picks the scalars' values. At each turn Constants gives symbols
/// the next few values of the dictionary, and Ties, Extremes, Tiny and Large take other values or
/// another share of them; Ties also makes the rows long that offsets delimit. Integers in objects
/// of class types stay, and so do integers that are known to be indices, except for Collisions, and
/// symbols that hold integers.
[[nodiscard]] LaunchSpec withStyle(LaunchSpec launch, InputStyle style,
                                   const ValueDictionary& dictionary, const StyleBounds& bounds,
                                   std::uint64_t seed);

} // namespace kernelskill::engine
