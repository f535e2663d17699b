#include "analysis/command/compilation_database.h"

#include "analysis/command/shell_words.h"
#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"

#include <algorithm>
#include <tuple>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Result<std::string> readText(const fs::path& path) {
    if (auto text = readFile(path))
        return std::move(*text);
    return std::unexpected(Error{ErrorKind::InvalidInput, "the file cannot be read", path.string(),
                                 "Check its permissions"});
}

Error malformed(const fs::path& path, const std::string& text, std::size_t byte,
                const std::string& what) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
    const auto line = std::count(text.begin(), end, '\n') + 1;
    return {ErrorKind::InvalidInput, "the compilation database is malformed: " + what,
            path.string() + ":" + std::to_string(line), "Generate it again"};
}

std::string text(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> argumentsOf(const json& entry) {
    std::vector<std::string> words;
    const auto list = entry.find("arguments");
    if (list != entry.end() && list->is_array()) {
        for (const json& word : *list)
            if (word.is_string())
                words.push_back(word.get<std::string>());
    } else {
        words = splitShellWords(text(entry, "command"));
    }
    // The compiler's name, and a launcher before it: `ccache nvcc ...`.
    const auto first = std::ranges::find_if(words, [](const std::string& word) {
        return word.starts_with('-') || word.starts_with('@');
    });
    words.erase(words.begin(), words.empty() ? words.begin() : std::max(words.begin() + 1, first));
    return words;
}

bool isCudaSource(const fs::path& file) {
    return file.extension() == ".cu";
}

std::size_t commonComponents(const fs::path& a, const fs::path& b) {
    const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    (void)right;
    return static_cast<std::size_t>(std::distance(a.begin(), left));
}

} // namespace

Result<std::vector<DatabaseEntry>> readCompilationDatabase(const fs::path& path) {
    const Result<std::string> content = readText(path);
    if (!content)
        return std::unexpected(content.error());
    if (isNestedTooDeeply(*content))
        return std::unexpected(malformed(path, *content, 0, "it is nested too deeply"));
    json document;
    try {
        document = json::parse(*content);
    } catch (const json::parse_error& error) {
        return std::unexpected(malformed(path, *content, error.byte, "it is not JSON"));
    }
    if (!document.is_array())
        return std::unexpected(malformed(path, *content, 0, "it is not a list of commands"));
    std::vector<DatabaseEntry> entries;
    for (const json& object : document) {
        if (!object.is_object())
            return std::unexpected(malformed(path, *content, 0, "an entry is not an object"));
        DatabaseEntry entry;
        const fs::path directory = text(object, "directory");
        entry.directory = (path.parent_path() / directory).lexically_normal();
        const std::string file = text(object, "file");
        entry.arguments = argumentsOf(object);
        if (file.empty() || (text(object, "command").empty() && !object.contains("arguments")))
            continue;
        entry.file = (entry.directory / file).lexically_normal();
        entries.push_back(std::move(entry));
    }
    return entries;
}

const DatabaseEntry* entryFor(const std::vector<DatabaseEntry>& entries, const fs::path& file) {
    const fs::path wanted = file.lexically_normal();
    const auto rank = [&](const DatabaseEntry& entry) {
        return std::tuple(entry.file == wanted,
                          isCudaSource(entry.file) && entry.file.stem() == wanted.stem(),
                          entry.file.stem() == wanted.stem(), isCudaSource(entry.file),
                          commonComponents(entry.file, wanted));
    };
    const auto best = std::ranges::max_element(
        entries, [&](const DatabaseEntry& a, const DatabaseEntry& b) { return rank(a) < rank(b); });
    if (best == entries.end())
        return nullptr;
    // The command of a neighbouring C++ file says nothing about a kernel's source.
    const bool isForeign =
        isCudaSource(wanted) && best->file != wanted && !isCudaSource(best->file);
    return isForeign ? nullptr : &*best;
}

Result<std::vector<std::string>> readFlagsFile(const fs::path& path) {
    const Result<std::string> content = readText(path);
    if (!content)
        return std::unexpected(content.error());
    std::vector<std::string> flags;
    std::size_t begin = 0;
    while (begin < content->size()) {
        const std::size_t end = std::min(content->find('\n', begin), content->size());
        std::string line = content->substr(begin, end - begin);
        begin = end + 1;
        const auto first = line.find_first_not_of(" \t\r");
        if (first == std::string::npos)
            continue;
        flags.push_back(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first));
    }
    return flags;
}

} // namespace kernelskill::analysis
