/// Files of the user's cache folder, which several processes write at once.
#pragma once

#include <filesystem>
#include <string_view>

namespace kernelskill::engine {

/// $XDG_CACHE_HOME/kernelskill/`name`, else ~/.cache/kernelskill/`name`, else below the temporary
/// folder.
[[nodiscard]] std::filesystem::path userCacheFolder(std::string_view name);

/// Writes beside `path` and renames, so that readers see all of `text` or nothing. False when it
/// could not be written; nothing is left behind then. The folder of `path` has to exist.
bool writeWhole(const std::filesystem::path& path, std::string_view text);

} // namespace kernelskill::engine
