/// Diagnoses and repairs compile errors: takes a failing file and returns fixes that were checked
/// to parse. Findings of the device's rules (analysis/device_rules) count as errors, warnings too.
#pragma once

#include "analysis/parse/translation_unit.h"
#include "analysis/source/text_edit.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct CompileFailure {
    analysis::Diagnostic diagnostic; ///< The root error, not one that follows from it.
    std::string cause; ///< "missing-semicolon", "misspelled-identifier", "missing-include", ...
    std::string explanation; ///< One sentence.
};

struct CompileFix {
    CompileFailure failure;
    std::string title; ///< "insert ';'", "change '__synchthreads' to '__syncthreads'"
    analysis::EditSet edits;
    bool isSole = false; ///< The only fix for its error; editors may mark it as preferred.
    std::size_t errorsAfter =
        0; ///< Errors left in the file after the fix; 0 for a complete repair.
};

/// The root error of a file that does not compile, even if there is no fix for it; nullopt if the
/// file compiles.
[[nodiscard]] std::optional<CompileFailure> diagnoseFailure(const analysis::FileModel& model);

/// Fixes for the errors of `model` whose span touches `range` (the whole file if nullopt). A fix is
/// returned only if it leaves fewer errors, removes its own, and adds none.
[[nodiscard]] std::vector<CompileFix>
proposeFixes(const analysis::FileModel& model, const analysis::CompileCommand& command,
             const analysis::Toolchain& toolchain, std::optional<analysis::Span> range,
             std::stop_token stop, const analysis::UnsavedFiles& unsaved = {});

/// Repairs the whole file: applies fixes one after another until no error is left or no fix helps.
struct Repair {
    /// In order; spans refer to the text that each was applied to.
    std::vector<CompileFix> applied;
    analysis::EditSet edits; ///< All edits together, against the original text.
    std::string text;        ///< The repaired file.
    std::size_t errorsBefore = 0;
    std::size_t errorsAfter = 0;
};
[[nodiscard]] Repair repairFile(const analysis::FileModel& model,
                                const analysis::CompileCommand& command,
                                const analysis::Toolchain& toolchain, std::stop_token stop,
                                const analysis::UnsavedFiles& unsaved = {});

} // namespace kernelskill::engine
