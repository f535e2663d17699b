#include "analysis/command/include_search.h"

#include "analysis/source/files.h"

#include <algorithm>
#include <deque>
#include <set>
#include <system_error>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t maximumFiles = 400;

/// The name with delimiters in an `#include` line; empty for other directives.
std::string_view includedIn(std::string_view directive) {
    auto position = directive.find_first_not_of("# \t");
    if (position == std::string_view::npos || !directive.substr(position).starts_with("include"))
        return {};
    position += std::string_view("include").size();
    if (directive.substr(position).starts_with("_next"))
        position += std::string_view("_next").size();
    position = directive.find_first_not_of(" \t", position);
    if (position == std::string_view::npos)
        return {};
    const char close = directive[position] == '<' ? '>' : '"';
    if (directive[position] != '<' && directive[position] != '"')
        return {};
    const auto end = directive.find(close, position + 1);
    if (end == std::string_view::npos)
        return {};
    return directive.substr(position, end + 1 - position);
}

} // namespace

std::vector<Include> includeDirectives(std::string_view text) {
    std::vector<Include> includes;
    // Scans lines instead of tokens, because this runs on every header at every keystroke.
    bool inComment = false;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        const std::size_t lineBegin = begin;
        begin = end + 1;
        const auto first = line.find_first_not_of(" \t");
        if (!inComment && first != std::string_view::npos && line[first] == '#') {
            const std::string_view directive = line.substr(first);
            const std::string_view name = includedIn(directive);
            if (!name.empty()) {
                const auto from = static_cast<std::uint32_t>(lineBegin + first);
                const auto length =
                    static_cast<std::uint32_t>(name.data() + name.size() - directive.data());
                includes.push_back({std::string(name), {}, {from, from + length}});
            }
        }
        for (std::size_t at = line.find(inComment ? "*/" : "/*"); at != std::string_view::npos;
             at = line.find(inComment ? "*/" : "/*", at + 2)) {
            const bool hidden =
                !inComment && line.substr(0, at).find("//") != std::string_view::npos;
            if (hidden)
                break;
            inComment = !inComment;
        }
    }
    return includes;
}

std::string_view includeName(std::string_view spelling) {
    return spelling.size() > 2 ? spelling.substr(1, spelling.size() - 2) : std::string_view{};
}

fs::path resolveUserInclude(std::string_view spelling, const fs::path& from,
                            const CompileCommand& command) {
    const fs::path name(includeName(spelling));
    if (name.empty())
        return {};
    if (name.is_absolute())
        return isFile(name) ? name : fs::path{};
    if (spelling.front() == '"' && isFile(from / name))
        return (from / name).lexically_normal();
    for (const std::string& directory : command.includeDirs)
        if (isFile(fs::path(directory) / name))
            return (fs::path(directory) / name).lexically_normal();
    return {};
}

fs::path irregularInclude(std::string_view spelling, const fs::path& from,
                          const CompileCommand& command) {
    const fs::path name(includeName(spelling));
    std::vector<fs::path> candidates;
    if (name.is_absolute() || spelling.starts_with('"'))
        candidates.push_back(from / name);
    for (const std::string& directory : command.includeDirs)
        candidates.push_back(fs::path(directory) / name);
    for (const fs::path& candidate : candidates) {
        std::error_code error;
        const auto type = fs::status(candidate, error).type();
        if (type == fs::file_type::fifo || type == fs::file_type::character ||
            type == fs::file_type::block || type == fs::file_type::socket)
            return candidate.lexically_normal();
    }
    return {};
}

std::vector<ReachedFile>
reachableUserFiles(const fs::path& mainFile, const std::vector<Include>& directives,
                   const CompileCommand& command,
                   const std::function<std::optional<std::string>(const fs::path&)>& read,
                   const std::function<void(const fs::path&)>& onIrregular) {
    std::vector<ReachedFile> reached;
    std::set<std::string> seen = {canonicalPath(mainFile).string()};
    std::deque<std::size_t> pending;
    const auto consider = [&](std::string_view spelling, const fs::path& from,
                              std::size_t directive) {
        const fs::path path = resolveUserInclude(spelling, from, command);
        if (path.empty() && onIrregular) {
            if (const fs::path irregular = irregularInclude(spelling, from, command);
                !irregular.empty())
                onIrregular(irregular);
        }
        if (path.empty() || reached.size() >= maximumFiles)
            return;
        std::string canonical = canonicalPath(path).string();
        if (!seen.insert(canonical).second)
            return;
        pending.push_back(reached.size());
        reached.push_back({std::move(canonical), directive});
    };
    for (std::size_t i = 0; i < directives.size(); ++i)
        consider(directives[i].spelling, mainFile.parent_path(), i);
    while (!pending.empty()) {
        const std::size_t index = pending.front();
        pending.pop_front();
        const fs::path path = reached[index].path;
        const std::size_t directive = reached[index].directive;
        const std::optional<std::string> text = read(path);
        if (!text)
            continue;
        for (const Include& include : includeDirectives(*text))
            consider(include.spelling, path.parent_path(), directive);
    }
    return reached;
}

} // namespace kernelskill::analysis
