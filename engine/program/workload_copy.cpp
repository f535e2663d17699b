#include "engine/program/workload_copy.h"

#include "analysis/source/files.h"
#include "engine/program/command_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// Whether this character continues the name of a folder.
bool continuesName(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80 || std::string_view("_-.+~").contains(c);
}

/// Whether a path may follow this option of a compiler or of make without a space: "-I".
bool takesPath(std::string_view option) {
    constexpr std::array<std::string_view, 7> longer{
        "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "--sysroot"};
    const bool isLetter = option.size() == 2 && option.front() == '-' &&
                          std::isalpha(static_cast<unsigned char>(option.back())) != 0;
    return isLetter || std::ranges::find(longer, option) != longer.end();
}

/// Whether a path starts after this text; otherwise the text is a part of the path.
bool beginsPath(std::string_view before) {
    constexpr std::string_view quotes = "/\"'\\"; // "file:///a" and "//a" have more slashes.
    constexpr std::string_view separators = " \t\r\n=:,;(<>|&@[{!`";
    const auto last = before.find_last_not_of(quotes);
    if (last == std::string_view::npos || separators.contains(before[last]))
        return true;
    before = before.substr(0, last + 1);
    return takesPath(before.substr(before.find_last_of(separators) + 1));
}

/// Lists the spellings of the folder's path, longest first: the given one, the one with links
/// followed, and the one in $PWD.
std::vector<std::string> spellingsOf(const fs::path& folder) {
    std::vector<std::string> all{folder.string(), analysis::canonicalPath(folder).string()};
    const char* spelled = std::getenv("PWD");
    std::error_code error;
    for (fs::path at = spelled != nullptr ? fs::path(spelled).lexically_normal() : fs::path();
         at.is_absolute() && at.has_relative_path(); at = at.parent_path())
        if (fs::equivalent(at, folder, error))
            all.push_back(at.string());
    std::ranges::sort(all, std::ranges::greater{}, &std::string::size);
    return all;
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
        } else if (entry->type == "UNINITIALIZED") { // The user gave it as -DNAME=VALUE.
            words.push_back("-D" + std::string(entry->name) + "=" + value);
        } else if (std::ranges::find(settable, entry->type) != settable.end()) {
            words.push_back("-D" + std::string(entry->name) + ":" + std::string(entry->type) + "=" +
                            value);
        }
    }
    return isCache ? words : std::vector<std::string>();
}

} // namespace

std::string withMovedPath(std::string_view text, const fs::path& from, const fs::path& to) {
    const auto paths = spellingsOf(from);
    std::string moved;
    std::size_t copied = 0;
    for (auto at = text.find('/'); at != std::string_view::npos;
         at = text.find('/', std::max(at + 1, copied))) {
        const auto rest = text.substr(at);
        const auto path = std::ranges::find_if(paths, [&](const std::string& each) {
            return rest.starts_with(each) &&
                   (rest.size() == each.size() || !continuesName(rest[each.size()]));
        });
        if (path == paths.end() || !beginsPath(text.substr(0, at)))
            continue;
        moved += text.substr(copied, at - copied);
        moved += to.native();
        copied = at + path->size();
    }
    moved += text.substr(copied);
    return moved;
}

std::optional<fs::path> cmakeBuildFolder(const Workload& workload) {
    const auto& build = workload.build;
    if (build.size() < 3 || fs::path(build[0]).filename() != "cmake" || build[1] != "--build")
        return std::nullopt;
    return (workload.folder / build[2]).lexically_normal();
}

Workload workloadInCopy(const Workload& workload, const fs::path& from, const fs::path& to) {
    Workload copy = workload;
    for (auto* words : {&copy.command, &copy.build, &copy.check})
        for (std::string& word : *words)
            word = withMovedPath(word, from, to);
    for (auto& [name, value] : copy.environment)
        value = withMovedPath(value, from, to);
    copy.folder = withMovedPath(workload.folder.string(), from, to);
    const auto folder = cmakeBuildFolder(workload);
    if (!folder || analysis::isFile(*cmakeBuildFolder(copy) / "CMakeCache.txt"))
        return copy;
    if (const auto cache = analysis::readFile(*folder / "CMakeCache.txt"))
        if (const auto words = configuring(*cache, copy.build[2], from, to); !words.empty())
            copy.build = joinedCommands({words, copy.build});
    return copy;
}

} // namespace kernelskill::engine
