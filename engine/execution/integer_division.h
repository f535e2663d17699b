/// Integer divisions by zero, at which a run on the emulator ends. A GPU does not end there.
#pragma once

#include <string_view>

namespace kernelskill::engine {

/// The message of a run that ended so contains these words.
inline constexpr std::string_view integerDivisionByZero = "divided an integer by zero";

/// Defined among a program's macros (CompileCommand::definitions), it lets its runs end at each
/// integer division by zero, also at those that the compiler does without because nothing needs
/// the quotient.
inline constexpr std::string_view checkedDivisions = "KERNELSKILL_CHECKED_DIVISIONS";

} // namespace kernelskill::engine
