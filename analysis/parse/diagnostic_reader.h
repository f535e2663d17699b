/// Converts clang's diagnostics to those that a user should see: in the main file, without
/// duplicates and without false ones.
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
    /// Takes the messages of errors in files that the main file does not include. Null unless the
    /// main file is read through an includer.
    std::vector<std::string>* elsewhere = nullptr;
    const SourceText& source;
    const std::vector<Include>& includes;
    const std::vector<ReachedFile>& userFiles;
    ParseMode mode = ParseMode::Prelude;
    std::function<const KnownNames&()> namesInPrelude; ///< Needed in prelude mode.
};

/// Errors in headers are moved to the #include line, with the original place as related. If a
/// header of the CUDA libraries is missing, one Notice says so, and errors that can only follow
/// from that are withheld.
[[nodiscard]] std::vector<Diagnostic> readDiagnostics(CXTranslationUnit unit,
                                                      const DiagnosticContext& context);

} // namespace kernelskill::analysis
