/// How many elements of each array a function touches, from its index arithmetic.
#pragma once

#include "engine/agents/generate/loop_dependence.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

/// A parameter that is an array, and what the function does with it.
struct ArrayUse {
    std::uint32_t parameter = 0;        ///< Index into KernelModel::parameters.
    analysis::IndexExpression elements; ///< From the first to the last one that is touched.
    bool isRead = false;
    bool isWritten = false;
    bool isWrittenWhole = false; ///< Proved: each of `elements` is written.
};

/// One for each parameter that is an array and is used. `elements` never exceeds what the function
/// itself touches where each loop runs at least once: it comes from accesses under no condition.
/// Refuses with `unknown-index`, `unknown-extent`, `negative-index`.
[[nodiscard]] std::expected<std::vector<ArrayUse>, skills::Refusal>
findArrayUses(const analysis::SourceText& source, const analysis::KernelModel& function,
              const LoopDependence& dependence);

} // namespace kernelskill::engine
