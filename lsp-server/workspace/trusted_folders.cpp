#include "lsp-server/workspace/trusted_folders.h"

#include "analysis/source/files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kernelskill::lsp {

namespace {

namespace fs = std::filesystem;

fs::path defaultList() {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
        return fs::path(state) / "kernelskill" / "trusted-folders";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return fs::path(home) / ".local" / "state" / "kernelskill" / "trusted-folders";
    return {};
}

/// With symbolic links resolved, so that one folder has one name.
fs::path resolved(const fs::path& folder) {
    std::error_code error;
    fs::path path = fs::weakly_canonical(fs::absolute(folder, error), error);
    if (error)
        path = folder.lexically_normal();
    return path.has_filename() || !path.has_parent_path() ? path : path.parent_path();
}

bool onlyTheUserWrites(const fs::path& list) {
    struct stat status{};
    return ::stat(list.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

} // namespace

TrustedFolders::TrustedFolders(fs::path list)
    : list_(list.empty() ? defaultList() : std::move(list)) {}

std::vector<fs::path> TrustedFolders::all() const {
    std::vector<fs::path> folders;
    if (list_.empty() || !onlyTheUserWrites(list_))
        return folders;
    std::istringstream lines(analysis::readFile(list_).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('/'))
            folders.emplace_back(line);
    }
    return folders;
}

bool TrustedFolders::hold(const fs::path& folder) const {
    const auto trusted = all();
    if (trusted.empty())
        return false;
    const fs::path path = resolved(folder);
    return std::ranges::any_of(trusted, [&](const fs::path& root) {
        return std::ranges::mismatch(root, path).in1 == root.end();
    });
}

Result<void> TrustedFolders::add(const fs::path& folder) const {
    std::error_code error;
    const fs::path path = resolved(folder);
    if (!fs::is_directory(path, error) || path.native().find('\n') != std::string::npos)
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "there is no such folder to trust", path.string(), {}});
    auto folders = all();
    if (std::ranges::find(folders, path) == folders.end())
        folders.push_back(path);
    return write(folders);
}

Result<void> TrustedFolders::remove(const fs::path& folder) const {
    auto folders = all();
    if (std::erase(folders, resolved(folder)) == 0)
        return std::unexpected(Error{ErrorKind::InvalidInput, "this folder is not in the list",
                                     folder.string(), "`kernelskill trust --list` shows it"});
    return write(folders);
}

Result<void> TrustedFolders::write(const std::vector<fs::path>& folders) const {
    const Error failure{ErrorKind::Failed, "the list of trusted folders cannot be written",
                        list_.string(), "make the folder writable, or set $XDG_STATE_HOME"};
    if (list_.empty())
        return std::unexpected(failure);
    std::error_code error;
    fs::create_directories(list_.parent_path(), error);
    const fs::path temporary = list_.string() + "." + std::to_string(::getpid());
    {
        std::ofstream stream(temporary, std::ios::binary);
        fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write, error);
        for (const fs::path& folder : folders)
            stream << folder.string() << '\n';
        stream.close();
        if (!stream)
            return std::unexpected(failure);
    }
    fs::rename(temporary, list_, error);
    if (error)
        return std::unexpected(failure);
    return {};
}

} // namespace kernelskill::lsp
