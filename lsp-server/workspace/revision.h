/// The texts of files in a revision of the git repository that holds them.
#pragma once

#include "analysis/source/error.h"

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

struct RevisionTexts {
    std::string commit; ///< All 40 digits.
    /// The key is the path that was asked for. Files that the revision does not have are left out.
    std::map<std::filesystem::path, std::string> texts;
};

/// Reads `file` and those of `others` that lie in the same repository as `revision` ("HEAD",
/// "main~2", "1a2b3c4") has them. Runs git, without a shell, twice; nothing that the repository
/// configures is run. InvalidInput: `file` is in no repository, there is no such revision, or the
/// revision has no such file. Missing: git is not installed.
[[nodiscard]] Result<RevisionTexts>
textsInRevision(const std::filesystem::path& file, const std::vector<std::filesystem::path>& others,
                const std::string& revision, std::stop_token stop);

/// The file that git rewrites whenever HEAD of the repository that holds `file` moves; empty if no
/// repository does. Looks at files alone, which is cheap enough for every request of an editor.
[[nodiscard]] std::filesystem::path headLog(const std::filesystem::path& file);

} // namespace kernelskill::lsp
