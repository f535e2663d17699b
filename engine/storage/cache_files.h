/// Files in the user's cache folder, which several processes write concurrently.
#pragma once

#include <filesystem>
#include <string_view>

namespace kernelskill::engine {

/// $XDG_CACHE_HOME/kernelskill/`name`, else ~/.cache/kernelskill/`name`, else a folder below the
/// temporary one.
[[nodiscard]] std::filesystem::path userCacheFolder(std::string_view name);

/// Writes a temporary file and renames it to `path`, so that readers see all of `text` or nothing.
/// Returns false if it could not be written; then nothing is left behind. The folder of `path` must
/// exist.
bool writeWhole(const std::filesystem::path& path, std::string_view text);

} // namespace kernelskill::engine
