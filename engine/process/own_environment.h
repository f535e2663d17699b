/// The environment of this process, for programs of the user that are started with it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Our variables as "NAME=value", those of `added` in place of ours. PWD names the folder that the
/// program runs in, unless it is empty: ours; then OLDPWD is left out, too.
[[nodiscard]] std::vector<std::string>
ownEnvironmentWith(const std::vector<std::pair<std::string, std::string>>& added,
                   const std::filesystem::path& folder);

} // namespace kernelskill::engine
