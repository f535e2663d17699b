/// Errors that may come from declarations nobody could read: of a header that was not found, or of
/// the CUDA toolkit, of which the prelude declares what most code uses and not all.
#pragma once

#include "analysis/source/diagnostic.h"
#include "analysis/source/source_text.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Words of the prelude's headers, sorted: names that CUDA has and that need no toolkit to be
/// known.
using KnownNames = std::vector<std::string>;
[[nodiscard]] KnownNames namesInPrelude(const std::filesystem::path& preludeInclude);

struct Unseen {
    bool header = false; ///< An include was not found: any name may be declared there.
    /// Set while the prelude stands in for CUDA's headers: any name of CUDA's that is not among
    /// these, and no slip of one, may be declared in the toolkit. Asked only when needed.
    std::function<const KnownNames&()> known;
};

/// Drops errors about unseen names and errors that may follow from them: those in statements that
/// mention such a name, or something declared with one. A misspelling of a name that CUDA is known
/// to have stays an error. What of CUDA is unknown is left as one notice a name.
void withholdUnseen(std::vector<Diagnostic>& diagnostics, const SourceText& source, Unseen unseen);

} // namespace kernelskill::analysis
