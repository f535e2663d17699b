#include "analysis/command/includer_search.h"

#include "analysis/command/include_search.h"
#include "analysis/source/files.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

bool hasExtension(const fs::path& file, std::initializer_list<std::string_view> extensions) {
    const std::string extension = file.extension().string();
    return std::ranges::find(extensions, extension) != extensions.end();
}

bool isSourceName(const fs::path& file) {
    return hasExtension(file, {".cu", ".cpp", ".cc", ".cxx", ".c", ".C"});
}

/// Whether the folder is hidden, or its name says that it holds what was built or fetched.
bool isPassedOver(const fs::path& folder) {
    const std::string name = folder.filename().string();
    return name.starts_with('.') || name.starts_with("build") || name.starts_with("cmake-build") ||
           name == "node_modules" || name == "__pycache__";
}

/// The names of the kernels that `text` defines or declares.
std::set<std::string, std::less<>> kernelNames(std::string_view text) {
    std::set<std::string, std::less<>> names;
    if (!text.contains("__global__"))
        return names;
    const std::vector<Token> tokens = lex(text);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].text != "__global__")
            continue;
        // `__launch_bounds__(256)` may stand before the name, with brackets of its own.
        for (std::size_t at = i + 1; at + 1 < tokens.size() && at < i + 40; ++at) {
            if (tokens[at].text == "{" || tokens[at].text == ";")
                break;
            if (tokens[at].kind == TokenKind::Identifier && tokens[at + 1].text == "(" &&
                tokens[at].text != "__launch_bounds__") {
                names.emplace(tokens[at].text);
                break;
            }
        }
    }
    return names;
}

void addWords(std::string_view text, std::set<std::string, std::less<>>& words) {
    for (const Token& token : lex(text)) {
        if (token.kind == TokenKind::Identifier)
            words.emplace(token.text);
        if (token.kind != TokenKind::Directive)
            continue;
        for (const Token& word : lex(token.text, {1, token.span.size()}))
            if (word.kind == TokenKind::Identifier)
                words.emplace(word.text);
    }
}

class Search {
public:
    explicit Search(const IncluderQuery& query)
        : query_(query), file_(query.file.lexically_normal()),
          folder_(query.folder.lexically_normal()) {}

    Includers run() {
        if (folder_.empty() || !isBelow(file_, folder_))
            return {};
        collect();
        readIncludes();
        return ranked();
    }

private:
    static constexpr std::size_t maxFolders = 1000;
    static constexpr std::size_t maxFiles = 2000;
    static constexpr std::size_t maxBytes = 24u << 20;
    static constexpr std::uintmax_t maxSourceBytes = 4u << 20;
    static constexpr int maxLevelsDown = 4;
    static constexpr int maxLevelsUp = 8;

    struct Node {
        fs::path path;
        bool isListed = false;
        std::string text;
        std::vector<std::size_t> includes; ///< Indices of nodes.
        std::vector<std::size_t> includedBy;
    };

    void add(const fs::path& path, bool isListed) {
        if (nodes_.size() >= maxFiles || bytes_ >= maxBytes || !isBelow(path, folder_) ||
            !(isSourceName(path) || isHeaderName(path)) || byPath_.contains(path.string()))
            return;
        std::optional<std::string> text = contentOf(path);
        if (!text)
            return;
        bytes_ += text->size();
        byPath_.emplace(path.string(), nodes_.size());
        byName_.emplace(path.filename().string(), nodes_.size());
        nodes_.push_back({path, isListed, std::move(*text), {}, {}});
    }

    [[nodiscard]] std::optional<std::string> contentOf(const fs::path& path) const {
        if (path == file_)
            return std::string(query_.text);
        if (query_.unsaved != nullptr)
            if (const auto open = query_.unsaved->find(path.string());
                open != query_.unsaved->end())
                return open->second;
        return readFile(path, maxSourceBytes);
    }

    /// Reads the database's sources, then the folders around the file, the nearest first.
    void collect() {
        add(file_, false);
        for (const fs::path& source : query_.listed)
            add(source.lexically_normal(), true);
        std::set<fs::path> seen;
        fs::path from = file_.parent_path();
        for (int i = 0; i < maxLevelsUp; ++i) {
            collectBelow(from, seen);
            if (from == folder_ || from == from.root_path())
                break;
            from = from.parent_path();
        }
    }

    /// Reads the files of `top`, then those of the folders below it, both in the order of their
    /// names.
    void collectBelow(const fs::path& top, std::set<fs::path>& seen) {
        std::deque<std::pair<fs::path, int>> pending{{top, 0}};
        while (!pending.empty() && seen.size() < maxFolders) {
            const auto [folder, depth] = std::move(pending.front());
            pending.pop_front();
            if (!seen.insert(folder).second)
                continue;
            std::vector<fs::path> files;
            std::vector<fs::path> folders;
            std::error_code error;
            for (fs::directory_iterator it(folder, error), end; !error && it != end;
                 it.increment(error)) {
                std::error_code kind;
                if (it->is_directory(kind) && !it->is_symlink(kind))
                    folders.push_back(it->path());
                else if (it->is_regular_file(kind))
                    files.push_back(it->path());
            }
            std::ranges::sort(files);
            std::ranges::sort(folders);
            for (const fs::path& file : files)
                add(file, false);
            for (fs::path& below : folders)
                if (depth < maxLevelsDown && !isPassedOver(below))
                    pending.emplace_back(std::move(below), depth + 1);
        }
    }

    void readIncludes() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (!nodes_[i].text.contains("include"))
                continue;
            for (const Include& include : includeDirectives(nodes_[i].text))
                if (const auto target = resolve(i, include.spelling); target && *target != i) {
                    nodes_[i].includes.push_back(*target);
                    nodes_[*target].includedBy.push_back(i);
                }
        }
    }

    /// The node that an #include of node `from` means; nullopt if none has such a path.
    [[nodiscard]] std::optional<std::size_t> resolve(std::size_t from,
                                                     std::string_view spelling) const {
        const fs::path name = fs::path(includeName(spelling)).lexically_normal();
        if (name.empty())
            return std::nullopt;
        const auto beside =
            byPath_.find((nodes_[from].path.parent_path() / name).lexically_normal().string());
        if (beside != byPath_.end())
            return beside->second;
        // A folder of -I may hold it: the nearest file whose path ends so.
        fs::path tail;
        for (const fs::path& part : name)
            if (part != "..")
                tail /= part;
        std::optional<std::size_t> nearest;
        const auto [begin, end] = byName_.equal_range(name.filename().string());
        for (auto at = begin; at != end; ++at) {
            const fs::path& path = nodes_[at->second].path;
            if (!("/" + path.string()).ends_with("/" + tail.string()))
                continue;
            if (!nearest || distance(nodes_[from].path, path) <
                                distance(nodes_[from].path, nodes_[*nearest].path))
                nearest = at->second;
        }
        return nearest;
    }

    /// Counts the folders up and down on the way from one file to another.
    static std::size_t distance(const fs::path& a, const fs::path& b) {
        const fs::path from = a.parent_path();
        const fs::path to = b.parent_path();
        const auto [left, right] = std::ranges::mismatch(from, to);
        return static_cast<std::size_t>(std::distance(left, from.end()) +
                                        std::distance(right, to.end()));
    }

    /// Every node that `start` reaches by `next`, itself included.
    [[nodiscard]] std::set<std::size_t> reached(std::size_t start,
                                                std::vector<std::size_t> Node::* next) const {
        std::set<std::size_t> found{start};
        std::vector<std::size_t> pending{start};
        while (!pending.empty()) {
            const std::size_t at = pending.back();
            pending.pop_back();
            for (const std::size_t other : nodes_[at].*next)
                if (found.insert(other).second)
                    pending.push_back(other);
        }
        return found;
    }

    [[nodiscard]] Includers ranked() const {
        constexpr std::size_t self = 0;
        const auto kernels = kernelNames(query_.text);
        using Rank = std::tuple<bool, bool, bool, bool, std::size_t, bool, std::string>;
        std::vector<std::pair<Rank, std::size_t>> found;
        for (const std::size_t node : reached(self, &Node::includedBy)) {
            const Node& source = nodes_[node];
            if (node == self || !isSourceName(source.path) ||
                (!source.isListed && !source.includedBy.empty()))
                continue;
            // False comes before true.
            found.push_back({{!source.isListed, !launches(source.text, kernels),
                              source.path.extension() != ".cu",
                              std::ranges::find(source.includes, self) == source.includes.end(),
                              distance(source.path, file_), source.path.stem() != file_.stem(),
                              source.path.string()},
                             node});
        }
        std::ranges::sort(found);
        Includers result;
        for (const auto& [rank, node] : found) {
            result.sources.push_back(nodes_[node].path);
            std::vector<std::string>& parts = result.parts.emplace_back();
            for (const std::size_t part : reached(node, &Node::includes)) {
                if (part == self)
                    continue;
                parts.push_back(nodes_[part].path.string());
                result.texts.try_emplace(parts.back(), nodes_[part].text);
            }
        }
        return result;
    }

    static bool launches(std::string_view text, const std::set<std::string, std::less<>>& kernels) {
        if (!text.contains("<<<"))
            return false;
        std::set<std::string, std::less<>> words;
        addWords(text, words);
        return std::ranges::any_of(kernels,
                                   [&](const std::string& name) { return words.contains(name); });
    }

    const IncluderQuery& query_;
    fs::path file_;
    fs::path folder_;
    std::deque<Node> nodes_;
    std::map<std::string, std::size_t> byPath_;
    std::multimap<std::string, std::size_t> byName_;
    std::size_t bytes_ = 0;
};

} // namespace

bool isHeaderName(const fs::path& file) {
    return hasExtension(
        file, {".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp", ".impl"});
}

std::vector<OtherIncluder> Includers::others(std::size_t chosen) const {
    const std::set<std::string> shared(parts[chosen].begin(), parts[chosen].end());
    std::vector<OtherIncluder> result;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (i == chosen)
            continue;
        OtherIncluder& other = result.emplace_back();
        other.file = sources[i].string();
        for (const std::string& part : parts[i])
            if (!shared.contains(part))
                addWords(texts.at(part), other.words);
    }
    return result;
}

Includers findIncluders(const IncluderQuery& query) {
    return Search(query).run();
}

} // namespace kernelskill::analysis
