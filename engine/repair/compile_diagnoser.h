/// Diagnoser of compile errors: which error is the cause, and what kind of mistake it is.
#pragma once

#include "engine/repair/repairer.h"

#include <vector>

namespace kernelskill::engine {

/// The compile errors of the main file, first in the file first.
[[nodiscard]] std::vector<analysis::Diagnostic> compileErrors(const analysis::FileModel& model);
[[nodiscard]] std::vector<analysis::Diagnostic>
compileErrors(const std::vector<analysis::Diagnostic>& diagnostics);

/// The compile errors, then what else the device's rules find: all that a repair is for.
[[nodiscard]] std::vector<analysis::Diagnostic>
repairTargets(const std::vector<analysis::Diagnostic>& diagnostics);

/// One sentence on a mistake of kind `cause`; the compiler's own words when the kind has none.
[[nodiscard]] std::string explainCause(std::string_view cause, const analysis::Diagnostic& error);

} // namespace kernelskill::engine
