/// A kernel whose work stands under one condition, however many axes it has.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// `if (x < w && y < h) { work }` or `if (x >= w || y >= h) return; work`, after declarations alone
/// and with nothing behind it.
struct GuardedWork {
    StmtId guard = noId;
    bool returnsEarly = false;
    std::vector<StmtId> work; ///< In order; not empty.
};

/// Whether it is an `if` without `else` and without declarations, and comes out of no macro.
[[nodiscard]] bool isPlainIf(const SourceText& source, const CodeMap& code, StmtId stmt);
/// Whether all that the `if` does is return nothing.
[[nodiscard]] bool returnsOnly(const CodeMap& code, StmtId branch);

/// nullopt for kernels of another shape, and for guards out of macros.
[[nodiscard]] std::optional<GuardedWork> findGuardedWork(const SourceText& source,
                                                         const CodeMap& code);

/// The comparison that holds where `comparison`, of integers, does not; empty when it is none.
[[nodiscard]] std::string_view oppositeComparison(const FunctionBody& body, const Expr& comparison);

} // namespace kernelskill::analysis
