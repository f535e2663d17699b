/// The commands of a CMakeLists.txt, from its text. Nothing is run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct CmakeCommand {
    std::string name;                   ///< Lower case.
    std::vector<std::string> arguments; ///< Quotes are removed; references to variables are kept.
    std::uint32_t line = 1;             ///< Counts from 1.
};

/// Comments are left out; what is no command is passed over.
[[nodiscard]] std::vector<CmakeCommand> readCmakeCommands(std::string_view text);

} // namespace kernelskill::engine
