#include "engine/program/source_tree.h"

#include "analysis/source/files.h"
#include "analysis/source/try.h"
#include "engine/process/git_command.h"
#include "engine/storage/temporary_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr int maxNestedRepositories = 8;

bool isOurs(const fs::path& path) {
    return std::ranges::any_of(
        path, [](const fs::path& part) { return part == ".git" || part == ".kernelskill"; });
}

Error unreadable(const fs::path& where, std::string why) {
    return {ErrorKind::Failed, "the tree cannot be read: " + std::move(why), where.string(),
            "look at its permissions"};
}

Error cancelled() {
    return {ErrorKind::Cancelled, "stopped", {}, {}};
}

/// Lists all files without asking git. Skips folders below the root that cannot be read.
Result<void> walk(const fs::path& root, const fs::path& below, std::vector<TreeFile>& files,
                  const std::stop_token& stop) {
    std::error_code error;
    if (fs::directory_iterator(root / below, error); error)
        return std::unexpected(unreadable(root / below, error.message()));
    fs::recursive_directory_iterator at(root / below, fs::directory_options::skip_permission_denied,
                                        error);
    for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
        if (stop.stop_requested())
            return std::unexpected(cancelled());
        const fs::path path = below / at->path().lexically_relative(root / below);
        const auto type = at->symlink_status(error).type();
        if (isOurs(path.filename()))
            at.disable_recursion_pending();
        else if (type == fs::file_type::regular || type == fs::file_type::symlink)
            files.push_back({path, false});
    }
    if (error)
        return std::unexpected(unreadable(root / below, error.message()));
    return {};
}

/// The paths that a git command prints with a zero behind each.
std::vector<std::string> paths(std::string_view output) {
    std::vector<std::string> all;
    while (!output.empty()) {
        const auto end = std::min(output.find('\0'), output.size());
        if (end > 0)
            all.emplace_back(output.substr(0, end));
        output.remove_prefix(std::min(end + 1, output.size()));
    }
    return all;
}

class TreeLister {
public:
    TreeLister(const fs::path& root, std::stop_token stop) : root_(root), stop_(std::move(stop)) {}

    Result<SourceTree> list() {
        SourceTree tree{root_, {}, {}};
        if (const auto listed = add(fs::path(), 0); !listed) {
            if (stop_.stop_requested())
                return std::unexpected(cancelled());
            tree.note = fmt::format("{}; so all files of the tree count, ignored ones too",
                                    listed.error().what);
            files_.clear();
            KERNELSKILL_CHECK(walk(root_, fs::path(), files_, stop_));
        }
        std::ranges::sort(files_, {}, &TreeFile::path);
        const auto repeated = std::ranges::unique(files_, {}, &TreeFile::path);
        files_.erase(repeated.begin(), repeated.end());
        tree.files = std::move(files_);
        return tree;
    }

private:
    /// git's list of files; `arguments` are those of `git ls-files`.
    Result<std::vector<std::string>> ask(const fs::path& folder, std::vector<std::string> before,
                                         std::vector<std::string> arguments) {
        before.insert(before.end(), {"ls-files", "-z"});
        before.insert(before.end(), arguments.begin(), arguments.end());
        KERNELSKILL_TRY(const auto done,
                        runGit(folder, std::move(before), GitOwner::Believed, stop_));
        if (done.status != 0)
            return std::unexpected(unreadable(folder, "git: " + done.messages));
        if (done.output.size() >= maxOutputBytes)
            return std::unexpected(
                Error{ErrorKind::Failed, "git lists too many files", folder.string(), {}});
        return paths(done.output);
    }

    /// Adds the files below a folder of the tree.
    Result<void> add(const fs::path& below, int depth) {
        const fs::path folder = root_ / below;
        KERNELSKILL_TRY(const auto inside, runGit(folder, {"rev-parse", "--is-inside-work-tree"},
                                                  GitOwner::Believed, stop_));
        if (inside.status != 0)
            return addWithoutRepository(below, depth);
        KERNELSKILL_TRY(const auto tracked, ask(folder, {}, {"--cached"}));
        for (const std::string& path : tracked)
            KERNELSKILL_CHECK(addPath(below / path, true, depth));
        KERNELSKILL_TRY(const auto others, ask(folder, {}, {"--others", "--exclude-standard"}));
        for (const std::string& path : others)
            KERNELSKILL_CHECK(addPath(below / path, false, depth));
        if (tracked.empty() && others.empty()) // A repository around it may ignore the folder.
            return addWithoutRepository(below, depth);
        return {};
    }

    /// An empty repository elsewhere makes git apply the folder's .gitignore files.
    Result<void> addWithoutRepository(const fs::path& below, int depth) {
        std::error_code error;
        const auto empty = TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-git");
        if (!empty)
            return std::unexpected(
                Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
        KERNELSKILL_TRY(const auto made,
                        runGit(empty->path(), {"init", "--quiet"}, GitOwner::Believed, stop_));
        if (made.status != 0)
            return std::unexpected(unreadable(empty->path(), "git: " + made.messages));
        const fs::path folder = root_ / below;
        KERNELSKILL_TRY(const auto others, ask(folder,
                                               {"--git-dir=" + (empty->path() / ".git").string(),
                                                "--work-tree=" + folder.string()},
                                               {"--others", "--exclude-standard"}));
        for (const std::string& path : others)
            KERNELSKILL_CHECK(addPath(below / path, false, depth));
        return {};
    }

    /// A path may be a folder: another repository in this one.
    Result<void> addPath(const fs::path& path, bool isTracked, int depth) {
        if (isOurs(path))
            return {};
        std::error_code error;
        const auto type = fs::symlink_status(root_ / path, error).type();
        if (type == fs::file_type::regular || type == fs::file_type::symlink) {
            files_.push_back({path, isTracked});
            return {};
        }
        if (type != fs::file_type::directory || depth >= maxNestedRepositories)
            return {}; // Deleted, or no file.
        return add(path.has_filename() ? path : path.parent_path(), depth + 1);
    }

    const fs::path& root_;
    std::stop_token stop_;
    std::vector<TreeFile> files_;
};

/// Whether the file holds machine code: an object, an executable, a library.
bool isCompiled(const fs::path& file) {
    std::array<char, 8> head{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(head.data(), head.size());
    const std::string_view text(head.data(), static_cast<std::size_t>(stream.gcount()));
    return text.starts_with("\x7f"
                            "ELF") ||
           text.starts_with("!<arch>\n");
}

/// Whether the link leads to a build folder of CMake: a build of the copy would go on there.
bool leadsToBuildFolder(const fs::path& link) {
    return analysis::isFile(link / "CMakeCache.txt");
}

bool isBelowAny(const fs::path& path, const std::set<fs::path>& folders) {
    for (fs::path at = path.parent_path();; at = at.parent_path()) {
        if (folders.contains(at))
            return true;
        if (at.empty())
            return false;
    }
}

struct CopyPlan {
    std::vector<fs::path> paths;
    TreeCopy copy;
};

Result<CopyPlan> planCopy(const SourceTree& tree, const CopyLimits& limits,
                          const std::stop_token& stop) {
    std::set<fs::path> buildFolders;
    for (const TreeFile& file : tree.files)
        if (!file.isTracked && file.path.filename() == "CMakeCache.txt" &&
            file.path.has_parent_path())
            buildFolders.insert(file.path.parent_path());
    CopyPlan plan;
    for (const TreeFile& file : tree.files) {
        if (stop.stop_requested())
            return std::unexpected(cancelled());
        const fs::path from = tree.root / file.path;
        std::error_code error;
        const bool isLink = fs::is_symlink(from, error);
        const bool isBuilt =
            isLink ? leadsToBuildFolder(from) : !file.isTracked && isCompiled(from);
        if (isBuilt || (!file.isTracked &&
                        (isBelowAny(file.path, buildFolders) || file.path == "CMakeCache.txt"))) {
            plan.copy.leftOut.push_back(file.path);
            continue;
        }
        const auto bytes = isLink ? 0 : fs::file_size(from, error);
        if (error)
            return std::unexpected(unreadable(from, error.message()));
        plan.copy.bytes += bytes;
        ++plan.copy.files;
        plan.paths.push_back(file.path);
    }
    if (plan.copy.bytes > limits.bytes || plan.copy.files > limits.files)
        return std::unexpected(Error{
            ErrorKind::InvalidInput,
            fmt::format("the tree is too large to copy: {} files, {} MiB; the limit is {} files, "
                        "{} MiB",
                        plan.copy.files, plan.copy.bytes >> 20, limits.files, limits.bytes >> 20),
            tree.root.string(),
            "name what no build needs in .gitignore, raise --copy-limit, or make the program's "
            "folder a workspace of its own with an empty folder .kernelskill"});
    return plan;
}

/// The target of a link in the copy; `link` is from the root. A link inside of the tree stays in
/// the copy, and one that leaves the tree leads where it leads now.
fs::path linkTarget(const SourceTree& tree, const fs::path& link, const fs::path& copy,
                    std::error_code& error) {
    fs::path target = fs::read_symlink(tree.root / link, error);
    const fs::path fromRoot = (link.parent_path() / target).lexically_normal();
    if (target.is_relative() && *fromRoot.begin() != "..")
        return target;
    const fs::path absolute = (tree.root / fromRoot).lexically_normal();
    const auto moved = [&](const fs::path& path, const fs::path& root) {
        return (copy / path.lexically_relative(root)).lexically_normal();
    };
    if (analysis::isBelow(absolute, tree.root))
        return moved(absolute, tree.root);
    const fs::path root = analysis::canonicalPath(tree.root);
    const fs::path canonical = analysis::canonicalPath(absolute);
    return analysis::isBelow(canonical, root) ? moved(canonical, root) : absolute;
}

std::error_code copyFile(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    struct stat status{};
    if (error || ::stat(from.c_str(), &status) != 0)
        return error ? error : std::error_code(errno, std::generic_category());
    // Times keep their nanoseconds, since make compares them.
    const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
    if (::utimensat(AT_FDCWD, to.c_str(), times.data(), 0) != 0)
        error = std::error_code(errno, std::generic_category());
    // The copy of a read-only file must take edits.
    if (!error && (status.st_mode & S_IWUSR) == 0)
        fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, error);
    return error;
}

} // namespace

Result<SourceTree> listTree(const fs::path& root, std::stop_token stop) {
    std::error_code error;
    if (!fs::is_directory(root, error))
        return std::unexpected(unreadable(root, "it is no folder"));
    return TreeLister(root, std::move(stop)).list();
}

Result<TreeCopy> copyTree(const SourceTree& tree, const fs::path& target, const CopyLimits& limits,
                          const std::stop_token& stop) {
    KERNELSKILL_TRY(const CopyPlan plan, planCopy(tree, limits, stop));
    std::error_code error;
    fs::create_directories(target, error);
    for (const fs::path& path : plan.paths) {
        if (stop.stop_requested())
            return std::unexpected(cancelled());
        const fs::path from = tree.root / path;
        const fs::path to = target / path;
        fs::create_directories(to.parent_path(), error);
        if (fs::is_symlink(from, error)) {
            const fs::path leadsTo = linkTarget(tree, path, target, error);
            fs::create_symlink(leadsTo, to, error);
        } else {
            error = copyFile(from, to);
        }
        if (error)
            return std::unexpected(Error{ErrorKind::Failed,
                                         "a file cannot be copied: " + error.message(),
                                         from.string(), "look at its permissions and at TMPDIR"});
    }
    return plan.copy;
}

} // namespace kernelskill::engine
