/// Guesses the value of a number from its name: the last resort when the text does not give it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct NameGuess {
    std::int64_t integer = 0;
    double floating = 0.75; ///< Never 1, by which multiplying in place changes nothing.
    bool isExtent = false;  ///< Counts elements, so that it may be scaled.
};

/// Deterministic: the same name gives the same guess, which keeps a buffer and its bound
/// consistent. Sizes are small enough to emulate.
[[nodiscard]] NameGuess guessFromName(std::string_view name);
/// Guesses one of several parameters. A stride beside the size of a window is that of the window,
/// not of a row.
[[nodiscard]] NameGuess guessAmong(std::string_view name, const std::vector<std::string>& all);
/// The same for a name that a loop counts up to. A name like `k` does not look like a length; it
/// gets `length`.
[[nodiscard]] NameGuess guessLength(std::string_view name, std::int64_t length);

} // namespace kernelskill::engine
