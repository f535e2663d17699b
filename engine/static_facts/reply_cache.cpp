#include "engine/static_facts/reply_cache.h"

#include "analysis/source/files.h"
#include "engine/storage/cache_files.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t maxReplies = 1024; // Each has about ten kilobytes.

} // namespace

ReplyCache::ReplyCache(fs::path folder)
    : folder_(folder.empty() ? userCacheFolder("facts") : std::move(folder)) {}

bool ReplyCache::isEmpty() const {
    std::error_code error;
    return fs::is_empty(folder_, error) || error;
}

std::optional<std::string> ReplyCache::find(const std::string& key) const {
    const auto path = folder_ / (key + ".reply");
    auto text = analysis::readFile(path);
    if (!text)
        return std::nullopt;
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // Mark it as used.
    return text;
}

void ReplyCache::store(const std::string& key, const std::string& reply) const {
    std::error_code error;
    fs::create_directories(folder_, error);
    writeWhole(folder_ / (key + ".reply"), reply);
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
    if (entries.size() <= maxReplies)
        return;
    std::ranges::sort(entries, {}, &Entry::used);
    for (std::size_t i = 0; i + maxReplies < entries.size(); ++i)
        fs::remove(entries[i].path, error);
}

} // namespace kernelskill::engine
