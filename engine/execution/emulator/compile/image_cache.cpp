#include "engine/execution/emulator/compile/image_cache.h"

#include "analysis/source/files.h"
#include "engine/storage/cache_files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace kernelskill::engine {
namespace {

/// A failure is cached only for this time, because its cause may be temporary (a full disk, headers
/// being replaced) and not visible in the texts.
constexpr std::chrono::minutes failureIsBelieved{10};

} // namespace

ImageCache::ImageCache(std::filesystem::path folder, std::uint64_t maxBytes)
    : folder_(folder.empty() ? userCacheFolder("images") : std::move(folder)), maxBytes_(maxBytes) {
}

bool ImageCache::holdsImage(const std::string& key) const {
    std::error_code error;
    if (!std::filesystem::is_regular_file(imagePath(key), error))
        return false;
    std::filesystem::last_write_time(imagePath(key), std::filesystem::file_time_type::clock::now(),
                                     error);
    return true;
}

std::optional<std::string> ImageCache::failure(const std::string& key) const {
    const auto log = folder_ / (key + ".log");
    std::error_code error;
    const auto written = std::filesystem::last_write_time(log, error);
    if (error || std::filesystem::file_time_type::clock::now() - written > failureIsBelieved)
        return std::nullopt;
    return analysis::readFile(log);
}

Result<void> ImageCache::storeImage(const std::string& key,
                                    const std::filesystem::path& image) const {
    std::error_code error;
    std::filesystem::rename(image, imagePath(key), error);
    if (error)
        return std::unexpected(
            Error{ErrorKind::Failed, "cannot keep the compiled kernel: " + error.message(),
                  folder_.string(), "free some space, or set another cache folder"});
    evict();
    return {};
}

void ImageCache::storeFailure(const std::string& key, const std::string& messages) const {
    writeWhole(folder_ / (key + ".log"), messages);
}

bool ImageCache::linkPrelude(const std::string& key,
                             const std::filesystem::path& destination) const {
    std::error_code error;
    std::filesystem::create_hard_link(preludePath(key), destination, error);
    if (error)
        return false;
    std::filesystem::last_write_time(destination, std::filesystem::file_time_type::clock::now(),
                                     error);
    return true;
}

void ImageCache::storePrelude(const std::string& key,
                              const std::filesystem::path& precompiled) const {
    std::error_code ignored; // Without it, compiling only takes longer.
    std::filesystem::create_hard_link(precompiled, preludePath(key), ignored);
    evict();
}

std::optional<std::string> ImageCache::report(const std::string& key) const {
    const auto path = folder_ / (key + ".report");
    auto text = analysis::readFile(path);
    if (!text)
        return std::nullopt;
    std::error_code ignored;
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
    return text;
}

void ImageCache::storeReport(const std::string& key, std::string_view report) const {
    writeWhole(folder_ / (key + ".report"), report);
    evict();
}

Result<TemporaryFolder> ImageCache::makeWorkFolder() const {
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    auto folder = TemporaryFolder::make(folder_, "work");
    if (!folder)
        return std::unexpected(Error{ErrorKind::Failed, "cannot write to the image cache",
                                     folder_.string(),
                                     "make the folder writable, or set XDG_CACHE_HOME"});
    return std::move(*folder);
}

void ImageCache::evict() const {
    struct Entry {
        std::filesystem::file_time_type used;
        std::uint64_t bytes;
        std::filesystem::path path;
    };
    std::error_code error;
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    const auto stale = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
    for (const auto& item : std::filesystem::directory_iterator(folder_, error)) {
        std::error_code itemError;
        const auto used = item.last_write_time(itemError);
        if (itemError)
            continue;
        if (item.is_directory(itemError)) { // Left by a process that died.
            if (used < stale)
                std::filesystem::remove_all(item.path(), itemError);
            continue;
        }
        const auto bytes = item.file_size(itemError);
        total += itemError ? 0 : bytes;
        entries.push_back({used, itemError ? 0 : bytes, item.path()});
    }
    std::ranges::sort(entries, {}, &Entry::used);
    for (const auto& entry : entries) {
        if (total <= maxBytes_)
            return;
        std::filesystem::remove(entry.path, error);
        total -= entry.bytes;
    }
}

} // namespace kernelskill::engine
