/// The files of a user's tree that a build may start from, and copies of the tree.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct TreeFile {
    std::filesystem::path path; ///< The path from the tree's root.
    bool isTracked = false;     ///< Whether git tracks it.
};

struct SourceTree {
    std::filesystem::path root;  ///< An absolute path.
    std::vector<TreeFile> files; ///< Files and links, sorted by their paths.
    std::string note;            ///< The reason why git's rules do not hold; empty if they do.
};

/// Lists what git tracks in `root`, and what it does not ignore: .gitignore files count in a folder
/// without a repository, too. Without git, lists all files. `.git` and `.kernelskill` are left out.
/// The user owns or trusts the tree. Failed if it cannot be read; Cancelled.
[[nodiscard]] Result<SourceTree> listTree(const std::filesystem::path& root, std::stop_token stop);

struct CopyLimits {
    std::uintmax_t bytes = 1ull << 30;
    std::size_t files = 50'000;
};

struct TreeCopy {
    std::size_t files = 0;
    std::uintmax_t bytes = 0;
    /// Files that no build starts from, from the root: compiled files that git does not track, what
    /// lies in build folders of CMake, and links to such folders.
    std::vector<std::filesystem::path> leftOut;
};

/// Copies the tree's files into `target`, which is made. Links stay links; one to a place inside of
/// the tree leads into the copy, any other leads where it led. Times and permissions are kept, and
/// the owner may write. InvalidInput, before anything is written, if the tree exceeds the limits;
/// Failed if a file cannot be copied; Cancelled.
[[nodiscard]] Result<TreeCopy> copyTree(const SourceTree& tree, const std::filesystem::path& target,
                                        const CopyLimits& limits, const std::stop_token& stop);

} // namespace kernelskill::engine
