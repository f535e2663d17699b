/// The environment of this process, for programs of the user that are started with it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Our variables as "NAME=value"; `added` replaces ours of the same name. If the program runs in
/// another folder than ours, PWD names it and OLDPWD is left out; `folder` is empty otherwise.
[[nodiscard]] std::vector<std::string>
ownEnvironmentWith(const std::vector<std::pair<std::string, std::string>>& added,
                   const std::filesystem::path& folder);

} // namespace kernelskill::engine
