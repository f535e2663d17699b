/// Diagnoses compile errors: which error is the cause, and what kind of mistake it is.
#pragma once

#include "engine/repair/repairer.h"

#include <vector>

namespace kernelskill::engine {

/// The compile errors of the main file, in the order of their lines.
[[nodiscard]] std::vector<analysis::Diagnostic> compileErrors(const analysis::FileModel& model);
[[nodiscard]] std::vector<analysis::Diagnostic>
compileErrors(const std::vector<analysis::Diagnostic>& diagnostics);

/// The compile errors, then the findings of the device's rules: everything that a repair can fix.
[[nodiscard]] std::vector<analysis::Diagnostic>
repairTargets(const std::vector<analysis::Diagnostic>& diagnostics);

/// One sentence on a mistake of kind `cause`. If the kind has none, the compiler's own words.
[[nodiscard]] std::string explainCause(std::string_view cause, const analysis::Diagnostic& error);

} // namespace kernelskill::engine
