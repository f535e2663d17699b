/// Handles errors that may come from unseen declarations: of a header that was not found, or of the
/// CUDA toolkit. The prelude declares what most code uses of the toolkit, but not everything.
#pragma once

#include "analysis/source/diagnostic.h"
#include "analysis/source/source_text.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The words in the prelude's headers, sorted: names of CUDA that are known without a toolkit.
using KnownNames = std::vector<std::string>;
[[nodiscard]] KnownNames namesInPrelude(const std::filesystem::path& preludeInclude);

struct Unseen {
    bool header = false; ///< An include was not found, so it may declare any name.
    /// Set if the prelude replaces CUDA's headers. Then the toolkit may declare any name of CUDA
    /// that is neither among these nor a misspelling of one. Called only when needed.
    std::function<const KnownNames&()> known;
};

/// Removes errors about unseen names, and errors that may follow from them: those in statements
/// that mention such a name, or something declared with one. A misspelling of a known name of CUDA
/// remains an error. Each unknown name of CUDA leaves one notice.
void withholdUnseen(std::vector<Diagnostic>& diagnostics, const SourceText& source, Unseen unseen);

} // namespace kernelskill::analysis
