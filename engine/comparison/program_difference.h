/// The edits that turn one program into another, over all its files.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/program_source.h"

#include <string>

namespace kernelskill::engine {

/// The text of `file` as `program` has it: its own, a header that is overridden, or what is on
/// disk. InvalidInput when it cannot be read.
[[nodiscard]] Result<std::string> textOf(const ProgramSource& program, const std::string& file);

/// Of the same file; `after` overrides at least the headers that `before` does.
[[nodiscard]] Result<analysis::EditSet> editsBetween(const ProgramSource& before,
                                                     const ProgramSource& after);

/// Unified, of every file that `edits` change.
[[nodiscard]] std::string diffOf(const ProgramSource& program, const analysis::EditSet& edits);

} // namespace kernelskill::engine
