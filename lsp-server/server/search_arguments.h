/// The bounds of a search that a command's argument names.
#pragma once

#include "analysis/source/json.h"

#include <algorithm>
#include <chrono>

namespace kernelskill::lsp {

/// `rounds` of the argument, 1 to 1000. Throws an error that becomes InvalidParams.
[[nodiscard]] inline int roundsFrom(const nlohmann::json& argument, int usual) {
    return std::clamp(argument.value("rounds", usual), 1, 1000);
}

/// `seconds` of the argument, at least one and at most a day. Throws as roundsFrom().
[[nodiscard]] inline std::chrono::seconds secondsFrom(const nlohmann::json& argument,
                                                      std::chrono::seconds usual) {
    return std::chrono::seconds(
        std::clamp(argument.value("seconds", static_cast<int>(usual.count())), 1, 86'400));
}

} // namespace kernelskill::lsp
