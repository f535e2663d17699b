/// Reads unified diffs, and applies them to texts.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Lines that follow each other, without line ends.
struct PatchHunk {
    std::size_t line = 0;            ///< The first old line as the diff states it, from 0.
    std::vector<std::string> before; ///< Context and removed lines.
    std::vector<std::string> after;  ///< Context and added lines.
};

struct FilePatch {
    std::string path; ///< The path without `a/` or `b/`; empty if the diff names no file.
    std::vector<PatchHunk> hunks;
};

/// The patches of a diff, one for each file. Numbers of lines in hunk headers may be wrong, as in
/// diffs that were not made by a program. InvalidInput if there is no hunk, or for a line that is
/// neither context nor a change.
[[nodiscard]] Result<std::vector<FilePatch>> parsePatch(std::string_view diff);

/// `text` with the hunks applied, in order. A hunk's old lines are looked for at its line, else
/// wherever the text has them nearest to it. InvalidInput, with the first line that is not there,
/// if the text has them nowhere.
[[nodiscard]] Result<std::string> applyPatch(std::string_view text, const FilePatch& patch);

} // namespace kernelskill::analysis
