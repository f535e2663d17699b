/// Diagnoser and Repairer of compile errors: a failing file in, fixes that were checked to parse
/// out. What the device's rules find (analysis/device_rules) counts among the errors, warnings too.
#pragma once

#include "analysis/parse/translation_unit.h"
#include "analysis/source/text_edit.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct CompileFailure {
    analysis::Diagnostic diagnostic; ///< The error at the root, not one that follows from it.
    std::string cause; ///< "missing-semicolon", "misspelled-identifier", "missing-include", ...
    std::string explanation; ///< One sentence.
};

struct CompileFix {
    CompileFailure failure;
    std::string title; ///< "insert ';'", "change '__synchthreads' to '__syncthreads'"
    analysis::EditSet edits;
    bool isSole = false; ///< The only fix for its error: may be marked preferred.
    std::size_t errorsAfter =
        0; ///< Errors left in the file after the fix; 0 for a complete repair.
};

/// The error at the root of a file that does not compile, whether or not there is a fix for it;
/// nullopt when it compiles.
[[nodiscard]] std::optional<CompileFailure> diagnoseFailure(const analysis::FileModel& model);

/// Fixes for the errors of `model` whose span touches `range` (the whole file when nullopt). A fix
/// is returned only if the file with it applied has fewer errors, the one it is for gone and no new
/// one.
[[nodiscard]] std::vector<CompileFix>
proposeFixes(const analysis::FileModel& model, const analysis::CompileCommand& command,
             const analysis::Toolchain& toolchain, std::optional<analysis::Span> range,
             std::stop_token stop, const analysis::UnsavedFiles& unsaved = {});

/// Repairs the whole file: fixes applied one after another until no error is left or none helps.
struct Repair {
    std::vector<CompileFix> applied; ///< In order; spans refer to the text each was applied to.
    analysis::EditSet edits;         ///< All of them, against the original text.
    std::string text;                ///< The file afterwards.
    std::size_t errorsBefore = 0;
    std::size_t errorsAfter = 0;
};
[[nodiscard]] Repair repairFile(const analysis::FileModel& model,
                                const analysis::CompileCommand& command,
                                const analysis::Toolchain& toolchain, std::stop_token stop,
                                const analysis::UnsavedFiles& unsaved = {});

} // namespace kernelskill::engine
