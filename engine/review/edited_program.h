/// The program that an edit makes of another.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/program_source.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// `original` with `edits` applied: to its own text, to a header that is open, or to one on disk
/// (which becomes an unsaved file). Not parsed: it has no model.
[[nodiscard]] Result<ProgramSource> withEdits(const ProgramSource& original,
                                              const analysis::EditSet& edits);

/// A compiler error of `after` that `before` does not have as often. Places are not compared, for
/// an edit moves them.
[[nodiscard]] std::optional<std::string> firstNewError(const analysis::FileModel& before,
                                                       const analysis::FileModel& after);

} // namespace kernelskill::engine
