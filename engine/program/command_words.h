/// Commands of users as words, and words as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The words of a command line. A line that only a shell understands (`a && b`, `$HOME/x`, `x > y`)
/// becomes `/bin/sh -c LINE`. Empty for a line without words.
[[nodiscard]] std::vector<std::string> commandWords(std::string_view line);

/// A line that a POSIX shell splits into these words again. The line of `/bin/sh -c LINE` is shown
/// as it is.
[[nodiscard]] std::string commandText(const std::vector<std::string>& words);

/// `/bin/sh -c` with the commands one after another, each only if the one before succeeded; the
/// words of a single command as they are.
[[nodiscard]] std::vector<std::string>
joinedCommands(const std::vector<std::vector<std::string>>& commands);

} // namespace kernelskill::engine
