/// Applies an edit to a program.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/program_source.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// Applies `edits` to the text of `original`, to an open header, or to a header on disk, which
/// becomes an unsaved file. The result is not parsed and has no model.
[[nodiscard]] Result<ProgramSource> withEdits(const ProgramSource& original,
                                              const analysis::EditSet& edits);

/// A compiler error that `after` has more often than `before`. Places are not compared, because an
/// edit moves them.
[[nodiscard]] std::optional<std::string> firstNewError(const analysis::FileModel& before,
                                                       const analysis::FileModel& after);

} // namespace kernelskill::engine
