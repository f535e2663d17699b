/// A user's program in a copy of its tree.
#pragma once

#include "engine/program/workload.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Replaces the path `from`, and the beginning of paths below it, by `to`. Finds `from` also with
/// its links followed and as $PWD spells it. Leaves longer paths that end with `from`.
[[nodiscard]] std::string withMovedPath(std::string_view text, const std::filesystem::path& from,
                                        const std::filesystem::path& to);

/// The absolute folder of a build by `cmake --build FOLDER`; nullopt for another build.
[[nodiscard]] std::optional<std::filesystem::path> cmakeBuildFolder(const Workload& workload);

/// The workload as it runs in the copy `to` of the tree `from`: folder, commands and variables that
/// name the tree name the copy. A build by `cmake --build FOLDER` configures the folder first, with
/// what the cache of the tree's folder says, since copies have no build folders.
[[nodiscard]] Workload workloadInCopy(const Workload& workload, const std::filesystem::path& from,
                                      const std::filesystem::path& to);

} // namespace kernelskill::engine
