/// The folders whose code the user has agreed to have compiled and run. Kept for the user, never in
/// the folder itself: a workspace cannot trust itself.
#pragma once

#include "analysis/source/error.h"

#include <filesystem>
#include <vector>

namespace kernelskill::lsp {

/// Reads and writes the list at each call, so that several programs can share it. One absolute path
/// a line; a list that somebody else could have written counts as empty.
class TrustedFolders {
public:
    /// `list` empty: `$XDG_STATE_HOME/kernelskill/trusted-folders`, or below `~/.local/state`.
    explicit TrustedFolders(std::filesystem::path list = {});

    [[nodiscard]] std::vector<std::filesystem::path> all() const;
    /// Whether `folder`, or one that it lies in, is in the list.
    [[nodiscard]] bool hold(const std::filesystem::path& folder) const;
    /// InvalidInput for a folder that does not exist; Failed if the list cannot be written.
    [[nodiscard]] Result<void> add(const std::filesystem::path& folder) const;
    /// The same for a folder that is in the list no more.
    [[nodiscard]] Result<void> remove(const std::filesystem::path& folder) const;

private:
    [[nodiscard]] Result<void> write(const std::vector<std::filesystem::path>& folders) const;

    std::filesystem::path list_;
};

} // namespace kernelskill::lsp
