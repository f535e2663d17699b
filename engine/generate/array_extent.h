/// How many elements of each array a function touches, from its index arithmetic.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/loop_dependence.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

/// A parameter that is an array, and what the loops do with it.
struct ArrayUse {
    std::uint32_t parameter = 0;        ///< Index into KernelModel::parameters.
    analysis::IndexExpression elements; ///< From the first to the last one that is touched.
    bool isRead = false;
    bool isWritten = false;
    bool isWrittenWhole = false; ///< Proved: each of `elements` is written.
    /// What is in it beforehand is read or stays there in part; false where that is disproved.
    bool needsValues = true;
};

/// One for each parameter that is an array and is used in `nests`, which are in the order of the
/// source. `elements` never exceeds what they themselves touch where each loop runs at least once:
/// it comes from accesses under no condition.
/// Refuses with `unknown-index`, `unknown-extent`, `negative-index`.
[[nodiscard]] std::expected<std::vector<ArrayUse>, skills::Refusal>
findArrayUses(const analysis::SourceText& source, const analysis::KernelModel& function,
              const analysis::CodeMap& code, const LoopDependence& dependence,
              const std::vector<analysis::StmtId>& nests);

} // namespace kernelskill::engine
