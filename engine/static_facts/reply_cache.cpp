#include "engine/static_facts/reply_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostReplies = 2048; // of a few kilobytes each

fs::path defaultFolder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return fs::path(cache) / "kernelskill" / "facts";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return fs::path(home) / ".cache" / "kernelskill" / "facts";
    std::error_code ignored;
    return fs::temp_directory_path(ignored) / ("kernelskill-" + std::to_string(::getuid())) /
           "facts";
}

} // namespace

ReplyCache::ReplyCache(fs::path folder)
    : folder_(folder.empty() ? defaultFolder() : std::move(folder)) {}

std::optional<std::string> ReplyCache::find(const std::string& key) const {
    const auto path = folder_ / (key + ".json");
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        return std::nullopt;
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // in use
    return text;
}

void ReplyCache::store(const std::string& key, const std::string& reply) const {
    std::error_code error;
    fs::create_directories(folder_, error);
    auto pattern = (folder_ / "write-XXXXXX").string();
    const int descriptor = ::mkstemp(pattern.data());
    if (descriptor < 0)
        return;
    const auto written = ::write(descriptor, reply.data(), reply.size());
    ::close(descriptor);
    if (written == static_cast<ssize_t>(reply.size()))
        fs::rename(pattern, folder_ / (key + ".json"), error);
    if (error || written != static_cast<ssize_t>(reply.size()))
        fs::remove(pattern, error);
    evict();
}

void ReplyCache::evict() const {
    struct Entry {
        fs::file_time_type used;
        fs::path path;
    };
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator item(folder_, error), end; !error && item != end;
         item.increment(error)) {
        std::error_code ignored;
        entries.push_back({item->last_write_time(ignored), item->path()});
    }
    if (entries.size() <= mostReplies)
        return;
    std::ranges::sort(entries, {}, &Entry::used);
    for (std::size_t i = 0; i + mostReplies < entries.size(); ++i)
        fs::remove(entries[i].path, error);
}

} // namespace kernelskill::engine
