/// Turns clang's complaints into what a user should see: in the main file, once, and only what is
/// true.
#pragma once

#include "analysis/command/include_search.h"
#include "analysis/model/kernel_model.h"
#include "analysis/parse/clang_handle.h"
#include "analysis/parse/unseen_names.h"
#include "analysis/source/diagnostic.h"

#include <functional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

struct DiagnosticContext {
    const std::string& file; ///< The main file.
    const SourceText& source;
    const std::vector<Include>& includes;
    const std::vector<ReachedFile>& userFiles;
    ParseMode mode = ParseMode::Prelude;
    std::function<const KnownNames&()> namesInPrelude; ///< Needed in prelude mode.
};

/// Errors out of headers are moved to the #include line, with the place as related. Where a header
/// of the CUDA libraries is missing, one Notice says so and what can only follow from it is
/// withheld.
[[nodiscard]] std::vector<Diagnostic> readDiagnostics(CXTranslationUnit unit,
                                                      const DiagnosticContext& context);

} // namespace kernelskill::analysis
