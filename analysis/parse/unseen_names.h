/// Errors that may come from declarations nobody could read: of a header that was not found, or of
/// the CUDA toolkit, of which the prelude declares what most code uses and not all.
#pragma once

#include "analysis/parse/diagnostic.h"
#include "analysis/source/source_text.h"

#include <vector>

namespace kernelskill::analysis {

struct Unseen {
    bool header = false;  ///< An include was not found: any name may be declared there.
    bool toolkit = false; ///< The prelude stands in for CUDA's headers: any name of CUDA's may be.
};

/// Drops errors about unseen names and errors that may follow from them: those in statements that
/// mention such a name, or something declared with one. A misspelling of a name that CUDA is known
/// to have stays an error. What of CUDA is unknown is left as one notice a name.
void withholdUnseen(std::vector<Diagnostic>& diagnostics, const SourceText& source, Unseen unseen);

} // namespace kernelskill::analysis
