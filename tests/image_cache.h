/// The folder where tests keep compiled kernels.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace kernelskill {

/// A cache folder for executors that keep no reports: images are found by their content, so tests,
/// builds and checkouts of one user share them. In $XDG_CACHE_HOME, else in ~/.cache.
inline std::filesystem::path imageCache() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache != '\0')
        return std::filesystem::path(cache) / "kernelskill-tests";
    const char* home = std::getenv("HOME");
    const std::filesystem::path parent = home != nullptr ? std::filesystem::path(home) / ".cache"
                                                         : std::filesystem::temp_directory_path();
    return parent / "kernelskill-tests";
}

} // namespace kernelskill
