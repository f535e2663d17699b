/// Finds how many elements of each array a function accesses, from its index arithmetic.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/loop_dependence.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

/// A parameter that is an array, and its use in loops.
struct ArrayUse {
    std::uint32_t parameter = 0;        ///< Index into KernelModel::parameters.
    analysis::IndexExpression elements; ///< Number of elements, up to the last accessed one.
    bool isRead = false;
    bool isWritten = false;
    bool isWrittenWhole = false; ///< Proved: the loops write each of `elements`.
    /// False only if proved that no earlier content is read or remains in part.
    bool needsValues = true;
};

/// One entry for each parameter that is an array and is used in `nests`, which are in source order.
/// `elements` comes from unconditional accesses, so it never exceeds what these access if each loop
/// runs at least once. Refuses with `unknown-index`, `unknown-extent` or `negative-index`.
[[nodiscard]] std::expected<std::vector<ArrayUse>, skills::Refusal>
findArrayUses(const analysis::SourceText& source, const analysis::KernelModel& function,
              const analysis::CodeMap& code, const LoopDependence& dependence,
              const std::vector<analysis::StmtId>& nests);

} // namespace kernelskill::engine
