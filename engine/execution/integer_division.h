/// Integer divisions by zero, at which a run on the emulator ends. A GPU does not end there.
#pragma once

#include <string_view>

namespace kernelskill::engine {

/// The message of a run that ended so contains these words.
inline constexpr std::string_view integerDivisionByZero = "divided an integer by zero";

} // namespace kernelskill::engine
