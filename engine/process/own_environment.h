/// The environment of this process, for programs of the user that are started with it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Our variables as "NAME=value", those of `added` in place of ours.
[[nodiscard]] std::vector<std::string>
ownEnvironmentWith(const std::vector<std::pair<std::string, std::string>>& added);

} // namespace kernelskill::engine
