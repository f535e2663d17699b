#include "engine/storage/cache_files.h"

#include <cstdlib>
#include <string>
#include <system_error>
#include <unistd.h>

namespace kernelskill::engine {

namespace fs = std::filesystem;

fs::path userCacheFolder(std::string_view name) {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return fs::path(cache) / "kernelskill" / name;
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return fs::path(home) / ".cache" / "kernelskill" / name;
    std::error_code ignored;
    return fs::temp_directory_path(ignored) / ("kernelskill-" + std::to_string(::getuid())) / name;
}

bool writeWhole(const fs::path& path, std::string_view text) {
    // The pattern that mkstemp requires.
    auto pattern = (path.parent_path() / "write-XXXXXX").string();
    const int descriptor = ::mkstemp(pattern.data());
    if (descriptor < 0)
        return false;
    const auto written = ::write(descriptor, text.data(), text.size());
    ::close(descriptor);
    std::error_code error;
    if (written == static_cast<ssize_t>(text.size()))
        fs::rename(pattern, path, error);
    if (error || written != static_cast<ssize_t>(text.size())) {
        fs::remove(pattern, error);
        return false;
    }
    return true;
}

} // namespace kernelskill::engine
