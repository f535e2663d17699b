#include "engine/execution/emulator/compile/image_cache.h"

#include "analysis/source/files.h"

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

std::filesystem::path defaultFolder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return std::filesystem::path(cache) / "kernelskill" / "images";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return std::filesystem::path(home) / ".cache" / "kernelskill" / "images";
    std::error_code ignored;
    return std::filesystem::temp_directory_path(ignored) /
           ("kernelskill-" + std::to_string(::getuid())) / "images";
}

} // namespace

void ContentHash::add(std::string_view text) {
    const auto mix = [&](unsigned char byte) {
        first_ = (first_ ^ byte) * 0x100000001b3u;
        second_ = (second_ + byte) * 0xd1342543de82ef95u;
        second_ ^= second_ >> 29;
    };
    for (auto size = text.size(), i = std::size_t{0}; i < sizeof(size); ++i)
        mix(static_cast<unsigned char>(size >> (8 * i)));
    for (const char c : text)
        mix(static_cast<unsigned char>(c));
}

void ContentHash::addFile(const std::filesystem::path& path) {
    add(analysis::readFile(path).value_or("(unreadable)"));
}

std::string ContentHash::hex() const {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (const auto part : {first_, second_}) {
        for (int shift = 60; shift >= 0; shift -= 4)
            result += digits[(part >> shift) & 15u];
    }
    return result;
}

ImageCache::ImageCache(std::filesystem::path folder, std::uint64_t largestBytes)
    : folder_(folder.empty() ? defaultFolder() : std::move(folder)), largestBytes_(largestBytes) {}

bool ImageCache::holdsImage(const std::string& key) const {
    std::error_code error;
    if (!std::filesystem::is_regular_file(imagePath(key), error))
        return false;
    std::filesystem::last_write_time(imagePath(key), std::filesystem::file_time_type::clock::now(),
                                     error);
    return true;
}

std::optional<std::string> ImageCache::failure(const std::string& key) const {
    return analysis::readFile(folder_ / (key + ".log"));
}

bool ImageCache::write(const std::filesystem::path& path, const std::string& text) const {
    auto pattern = (folder_ / "write-XXXXXX").string();
    const int descriptor = ::mkstemp(pattern.data());
    if (descriptor < 0)
        return false;
    const auto written = ::write(descriptor, text.data(), text.size());
    ::close(descriptor);
    std::error_code error;
    if (written == static_cast<ssize_t>(text.size()))
        std::filesystem::rename(pattern, path, error);
    if (error || written != static_cast<ssize_t>(text.size())) {
        std::filesystem::remove(pattern, error);
        return false;
    }
    return true;
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
    write(folder_ / (key + ".log"), messages);
}

Result<std::filesystem::path> ImageCache::makeWorkFolder() const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    auto pattern = (folder_ / "work-XXXXXX").string();
    if (error || ::mkdtemp(pattern.data()) == nullptr)
        return std::unexpected(Error{ErrorKind::Failed, "cannot write to the image cache",
                                     folder_.string(),
                                     "make the folder writable, or set XDG_CACHE_HOME"});
    return std::filesystem::path(pattern);
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
        if (item.is_directory(itemError)) { // of a process that died
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
        if (total <= largestBytes_)
            return;
        std::filesystem::remove(entry.path, error);
        total -= entry.bytes;
    }
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace kernelskill::engine
