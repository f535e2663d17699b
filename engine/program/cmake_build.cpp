#include "engine/program/cmake_build.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "engine/program/json_with_comments.h"

#include <algorithm>
#include <optional>

namespace kernelskill::engine {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxFolders = 400; // that are looked into
constexpr std::size_t maxTargets = 1000;

/// The folders in `folder`, without hidden ones.
std::vector<fs::path> foldersIn(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (auto at = fs::directory_iterator(folder, error);
         !error && at != fs::directory_iterator() && found.size() < maxFolders;
         at.increment(error)) {
        std::error_code ignored;
        if (at->is_directory(ignored) && !at->is_symlink(ignored) &&
            !at->path().filename().string().starts_with('.'))
            found.push_back(at->path());
    }
    std::ranges::sort(found);
    return found;
}

bool isBuildFolderOf(const fs::path& folder, const fs::path& project) {
    const auto cache = analysis::readFile(folder / "CMakeCache.txt");
    if (!cache)
        return false;
    constexpr std::string_view key = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
    const auto at = cache->find(key);
    if (at == std::string::npos)
        return false;
    const auto begin = at + key.size();
    const auto home = cache->substr(begin, cache->find_first_of("\r\n", begin) - begin);
    return analysis::canonicalPath(home) == analysis::canonicalPath(project);
}

std::optional<json> readReply(const fs::path& file) {
    const auto text = analysis::readFile(file);
    if (!text)
        return std::nullopt;
    auto document = analysis::parseJson(*text);
    return document.is_object() ? std::optional(std::move(document)) : std::nullopt;
}

json listAt(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() && found->is_array() ? *found
                                                                            : json::array();
}

/// The file's name in a reply's folder; empty if it would be elsewhere.
std::string replyFile(const json& object, const char* key) {
    const std::string name = textOfKey(object, key);
    return name.contains('/') ? "" : name;
}

std::optional<BuiltExecutable> executableOf(const json& target, const fs::path& buildFolder) {
    const auto artifacts = listAt(target, "artifacts");
    if (textOfKey(target, "type") != "EXECUTABLE" || artifacts.empty())
        return std::nullopt;
    BuiltExecutable executable{
        textOfKey(target, "name"),
        (buildFolder / textOfKey(artifacts.front(), "path")).lexically_normal(), false};
    for (const json& group : listAt(target, "compileGroups"))
        executable.hasCudaSource |= textOfKey(group, "language") == "CUDA";
    return executable.name.empty() ? std::nullopt : std::optional(std::move(executable));
}

} // namespace

std::vector<fs::path> cmakeBuildFolders(const fs::path& project) {
    std::vector<fs::path> found;
    const auto look = [&](const fs::path& folder) {
        if (isBuildFolderOf(folder, project))
            found.push_back(folder);
    };
    look(project);
    std::size_t seen = 0;
    for (const fs::path& folder : foldersIn(project)) {
        look(folder);
        for (const fs::path& inner : foldersIn(folder)) {
            if (++seen > maxFolders)
                break;
            look(inner);
        }
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, [](const fs::path& folder) {
        std::error_code error;
        const auto time = fs::last_write_time(folder / "CMakeCache.txt", error);
        return error ? fs::file_time_type::min() : time;
    });
    return found;
}

std::vector<BuiltExecutable> builtExecutables(const fs::path& buildFolder) {
    const auto reply = buildFolder / ".cmake" / "api" / "v1" / "reply";
    fs::path newest; // Index files have their time in their names.
    std::error_code error;
    for (auto at = fs::directory_iterator(reply, error); !error && at != fs::directory_iterator();
         at.increment(error))
        if (at->path().filename().string().starts_with("index-") && at->path() > newest)
            newest = at->path();
    const auto index = newest.empty() ? std::nullopt : readReply(newest);
    if (!index)
        return {};
    std::vector<BuiltExecutable> executables;
    for (const json& object : listAt(*index, "objects")) {
        if (textOfKey(object, "kind") != "codemodel")
            continue;
        const auto model = readReply(reply / replyFile(object, "jsonFile"));
        const auto configurations = listAt(model.value_or(json()), "configurations");
        if (configurations.empty())
            continue;
        for (const json& named : listAt(configurations.front(), "targets")) {
            const auto target = readReply(reply / replyFile(named, "jsonFile"));
            auto executable = target ? executableOf(*target, buildFolder) : std::nullopt;
            if (executable && executables.size() < maxTargets)
                executables.push_back(std::move(*executable));
        }
    }
    return executables;
}

} // namespace kernelskill::engine
