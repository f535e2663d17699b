/// The edits that turn one program into another, over all its files.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/program_source.h"

#include <string>

namespace kernelskill::engine {

/// The text of `file` in `program`: its own, an overridden header, or the file on disk.
/// InvalidInput if it cannot be read.
[[nodiscard]] Result<std::string> textOf(const ProgramSource& program, const std::string& file);

/// Both have the same main file; `after` overrides at least the headers that `before` overrides.
[[nodiscard]] Result<analysis::EditSet> editsBetween(const ProgramSource& before,
                                                     const ProgramSource& after);

/// A unified diff of every file that `edits` change.
[[nodiscard]] std::string diffOf(const ProgramSource& program, const analysis::EditSet& edits);

} // namespace kernelskill::engine
