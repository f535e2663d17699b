#include "analysis/command/flag_inference.h"

#include "analysis/command/cuda_headers.h"
#include "analysis/command/include_search.h"
#include "analysis/command/macro_inference.h"
#include "analysis/command/platform_branches.h"
#include "analysis/source/files.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

constexpr int maximumParents = 8;
/// The maximum number of folders to search for a header.
constexpr std::size_t maximumFolders = 3000;
/// The maximum number of headers to read for further includes.
constexpr std::size_t maximumHeaders = 300;
constexpr int searchDepth = 4;

/// The file's folder and its parents up to the project's root. A home folder or the file system's
/// root is never a project's root.
std::vector<fs::path> projectFolders(const fs::path& file, const fs::path& workspaceRoot) {
    std::vector<fs::path> folders;
    fs::path folder = file.parent_path();
    for (int i = 0; i < maximumParents && !folder.empty() && folder != folder.root_path(); ++i) {
        folders.push_back(folder);
        if (folder == workspaceRoot || pathExists(folder / ".git"))
            break;
        folder = folder.parent_path();
    }
    return folders;
}

bool isSystemHeader(const std::string& name) {
    return std::ranges::any_of(
        std::to_array({"/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/local/include"}),
        [&](const char* system) { return isFile(fs::path(system) / name); });
}

/// Whether CUDA's headers or the standard library find this header by themselves.
bool isStandardHeader(std::string_view name) {
    constexpr auto names = std::to_array<std::string_view>(
        {"assert.h",  "ctype.h",   "errno.h",  "features.h", "float.h", "inttypes.h", "limits.h",
         "locale.h",  "malloc.h",  "math.h",   "pthread.h",  "sched.h", "setjmp.h",   "signal.h",
         "stdarg.h",  "stdbool.h", "stddef.h", "stdint.h",   "stdio.h", "stdlib.h",   "string.h",
         "strings.h", "time.h",    "unistd.h", "wchar.h",    "wctype.h"});
    static_assert(std::ranges::is_sorted(names));
    return std::ranges::binary_search(names, name);
}

/// Whether an include path of `folder` would change the meaning of `#include <cuda.h>` or
/// `<math.h>`.
bool hidesOtherHeaders(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        std::error_code kind;
        if (name.ends_with(".h") && it->is_regular_file(kind) &&
            (isCudaToolkitHeader(name) || isStandardHeader(name)))
            return true;
    }
    return false;
}

class Inference {
public:
    Inference(const fs::path& file, const fs::path& workspaceRoot, CompileCommand& command)
        : file_(file), folders_(projectFolders(file, workspaceRoot)), command_(command) {}

    void run() {
        std::deque<fs::path> pending = {file_};
        std::set<std::string> seen = {file_.string()};
        std::size_t read = 0;
        while (!pending.empty() && read++ < maximumHeaders) {
            const fs::path current = pending.front();
            pending.pop_front();
            std::string text = readFile(current).value_or("");
            const std::vector<Span> foreign = branchesOfOtherPlatforms(text);
            for (const Include& include : includeDirectives(text)) {
                if (std::ranges::any_of(foreign, [&](Span branch) {
                        return branch.begin <= include.span.begin &&
                               include.span.begin < branch.end;
                    }))
                    continue;
                const std::string name(includeName(include.spelling));
                fs::path found =
                    resolveUserInclude(include.spelling, current.parent_path(), command_);
                if (found.empty() && isCandidate(name))
                    found = search(name, current);
                if (!found.empty() && seen.insert(found.string()).second)
                    pending.push_back(found);
            }
            texts_.push_back(std::move(text));
        }
        defineMacros();
    }

private:
    void defineMacros() {
        if (texts_.empty())
            return;
        const std::vector<std::string> headers(std::make_move_iterator(texts_.begin() + 1),
                                               std::make_move_iterator(texts_.end()));
        const auto names = [](const std::string& macro, const std::string& flag) {
            return flag == macro || flag.starts_with(macro + "=");
        };
        for (const std::string& macro : neededMacros(texts_.front(), headers)) {
            const auto isMacro = [&](const std::string& flag) { return names(macro, flag); };
            if (std::ranges::none_of(command_.definitions, isMacro) &&
                std::ranges::none_of(command_.undefinitions, isMacro))
                command_.definitions.push_back(macro);
        }
    }

    /// Standard headers have no extension, and a stray copy must not hide a system header.
    static bool isCandidate(const std::string& name) {
        if (name.find('.') == std::string::npos && name.find('/') == std::string::npos)
            return false;
        return !isCudaToolkitHeader(name) && !isSystemHeader(name);
    }

    /// A header does not include itself: `#include <x.h>` in x.h means another x.h.
    [[nodiscard]] static bool offers(const fs::path& folder, const std::string& name,
                                     const fs::path& includer) {
        const fs::path path = (folder / name).lexically_normal();
        return isFile(path) && path != includer && !hidesOtherHeaders(folder);
    }

    fs::path search(const std::string& name, const fs::path& includer) {
        if (!missed_.insert(name).second)
            return {};
        constexpr const char* usual[] = {
            "include",    "inc",        "common",  "Common", "utils",       "util", "src",
            "common/inc", "Common/inc", "headers", "shared", "third_party", "lib",  "helpers"};
        for (const fs::path& folder : folders_) {
            if (offers(folder, name, includer))
                return accept(folder, name);
            for (const char* child : usual)
                if (offers(folder / child, name, includer))
                    return accept(folder / child, name);
        }
        for (const fs::path& folder : folders_) {
            listFolders(folder);
            for (const fs::path& candidate : listed_)
                if (offers(candidate, name, includer))
                    return accept(candidate, name);
            if (listed_.size() >= maximumFolders)
                break;
        }
        return {};
    }

    fs::path accept(const fs::path& folder, const std::string& name) {
        std::string directory = folder.lexically_normal().string();
        if (std::ranges::find(command_.includeDirs, directory) == command_.includeDirs.end())
            command_.includeDirs.push_back(std::move(directory));
        missed_.erase(name);
        return (folder / name).lexically_normal();
    }

    /// Adds the folders below `top` to the known ones, nearest first.
    void listFolders(const fs::path& top) {
        if (!listedTops_.insert(top.string()).second)
            return;
        std::deque<std::pair<fs::path, int>> pending = {{top, 0}};
        while (!pending.empty() && listed_.size() < maximumFolders) {
            const auto [folder, depth] = pending.front();
            pending.pop_front();
            std::error_code error;
            for (fs::directory_iterator it(folder, error), end; !error && it != end;
                 it.increment(error)) {
                std::error_code kind;
                const std::string name = it->path().filename().string();
                if (it->is_symlink(kind) || !it->is_directory(kind) || name.starts_with('.') ||
                    listedTops_.contains(it->path().string()))
                    continue;
                listed_.push_back(it->path());
                if (depth + 1 < searchDepth)
                    pending.emplace_back(it->path(), depth + 1);
            }
        }
    }

    fs::path file_;
    std::vector<fs::path> folders_;
    CompileCommand& command_;
    std::set<std::string> missed_;
    std::set<std::string> listedTops_;
    std::vector<fs::path> listed_;
    std::vector<std::string> texts_; ///< The file's, and those of the headers that it leads to.
};

} // namespace

void inferFlags(const fs::path& file, const fs::path& workspaceRoot, CompileCommand& command) {
    Inference(file, workspaceRoot, command).run();
}

} // namespace kernelskill::analysis
