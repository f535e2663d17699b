/// Finds loops of a host function that a kernel's threads can take over.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/array_extent.h"
#include "engine/generate/reduction.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

inline constexpr std::string_view axisNames = "xyz"; ///< The axes of grids and blocks.

/// A loop whose iterations become threads.
struct MappedLoop {
    std::uint32_t loop = 0; ///< Index into KernelModel::loops.
    int axis = 0;           ///< 0 for x. Each loop has its own axis.
    /// The maximum that it counts through, in terms of parameters.
    analysis::IndexExpression distance;
    std::int64_t step = 1; ///< Positive: a thread has one value of `distance / step`.
};

/// Directly nested `for`s, outermost first. Each is proved parallel, except for its reductions.
struct ParallelNest {
    analysis::StmtId statement = analysis::noId; ///< The outermost `for`.
    /// One to three loops. With reductions there are one or two: threads share the iterations of
    /// the only loop; or blocks share those of the first loop and threads those of the second.
    std::vector<MappedLoop> loops;
    analysis::StmtId body = analysis::noId; ///< The body of the innermost loop.
    std::vector<Reduction> reductions;
    std::vector<ArrayUse> arrays; ///< Arrays of this nest only.
};

/// The nest of a `for` in a function that passed checkForm(). Refuses with the first property that
/// is not proved. Leaves `arrays` empty.
[[nodiscard]] std::expected<ParallelNest, skills::Refusal>
findParallelNest(const analysis::FileModel& file, const analysis::KernelModel& function,
                 const analysis::CodeMap& code, const LoopDependence& dependence,
                 analysis::StmtId statement);

} // namespace kernelskill::engine
