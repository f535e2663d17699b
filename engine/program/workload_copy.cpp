#include "engine/program/workload_copy.h"

#include "analysis/source/files.h"
#include "engine/program/command_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

bool continuesName(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

struct CacheEntry {
    std::string_view name;
    std::string_view type;
    std::string_view value;
};

/// "NAME:TYPE=VALUE"
std::optional<CacheEntry> cacheEntry(std::string_view line) {
    const auto equals = line.find('=');
    const auto colon = line.substr(0, equals).rfind(':');
    if (line.empty() || line.starts_with('#') || line.starts_with("//") ||
        equals == std::string_view::npos || colon == std::string_view::npos)
        return std::nullopt;
    return CacheEntry{line.substr(0, colon), line.substr(colon + 1, equals - colon - 1),
                      line.substr(equals + 1)};
}

/// `cmake` that configures a folder of the copy as the cache says; empty if it is no cache.
std::vector<std::string> configuring(std::string_view cache, const std::string& folder,
                                     const fs::path& from, const fs::path& to) {
    constexpr std::array<std::string_view, 4> settable{"BOOL", "STRING", "PATH", "FILEPATH"};
    std::vector<std::string> words{"cmake", "-B", folder};
    bool isCache = false;
    while (!cache.empty()) {
        const auto end = std::min(cache.find('\n'), cache.size());
        const auto entry = cacheEntry(cache.substr(0, end));
        cache.remove_prefix(std::min(end + 1, cache.size()));
        if (!entry || entry->value.empty())
            continue;
        const std::string value = withMovedPath(entry->value, from, to);
        if (entry->name == "CMAKE_HOME_DIRECTORY") {
            isCache = true;
            words.insert(words.end(), {"-S", value});
        } else if (entry->name == "CMAKE_GENERATOR") {
            words.insert(words.end(), {"-G", value});
        } else if (std::ranges::find(settable, entry->type) != settable.end()) {
            words.push_back("-D" + std::string(entry->name) + ":" + std::string(entry->type) + "=" +
                            value);
        }
    }
    return isCache ? words : std::vector<std::string>();
}

} // namespace

std::string withMovedPath(std::string_view text, const fs::path& from, const fs::path& to) {
    const std::string old = from.string();
    std::string moved;
    while (!text.empty()) {
        const auto at = std::min(text.find(old), text.size());
        const auto behind = std::min(at + old.size(), text.size());
        const bool isWhole =
            at < text.size() && (behind == text.size() || !continuesName(text[behind]));
        moved += text.substr(0, at);
        moved += isWhole ? std::string_view(to.native()) : text.substr(at, behind - at);
        text.remove_prefix(behind);
    }
    return moved;
}

Workload workloadInCopy(const Workload& workload, const fs::path& from, const fs::path& to) {
    Workload copy = workload;
    for (auto* words : {&copy.command, &copy.build, &copy.check})
        for (std::string& word : *words)
            word = withMovedPath(word, from, to);
    for (auto& [name, value] : copy.environment)
        value = withMovedPath(value, from, to);
    copy.folder = withMovedPath(workload.folder.string(), from, to);
    const auto& build = workload.build;
    if (build.size() < 3 || fs::path(build[0]).filename() != "cmake" || build[1] != "--build" ||
        analysis::isFile(copy.folder / copy.build[2] / "CMakeCache.txt"))
        return copy;
    if (const auto cache = analysis::readFile(workload.folder / build[2] / "CMakeCache.txt"))
        if (const auto words = configuring(*cache, copy.build[2], from, to); !words.empty())
            copy.build = joinedCommands({words, copy.build});
    return copy;
}

} // namespace kernelskill::engine
