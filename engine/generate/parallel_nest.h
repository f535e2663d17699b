/// The loops of a host function that a kernel's threads can take over.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/array_extent.h"
#include "engine/generate/reduction.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

inline constexpr std::string_view axisNames = "xyz"; ///< Of grids and blocks.

/// A loop whose iterations become threads.
struct MappedLoop {
    std::uint32_t loop = 0;             ///< Index into KernelModel::loops.
    int axis = 0;                       ///< 0: x. One each.
    analysis::IndexExpression distance; ///< The most it counts through, of parameters alone.
    std::int64_t step = 1;              ///< Positive: a thread has one value of `distance / step`.
};

/// `for`s around each other, outermost first, nothing between them, each proved parallel but for
/// its reductions.
struct ParallelNest {
    analysis::StmtId statement = analysis::noId; ///< The outermost `for`.
    /// One to three. One or two where there are reductions: threads share the rounds of one, or
    /// blocks those of the first and their threads those of the second.
    std::vector<MappedLoop> loops;
    analysis::StmtId body = analysis::noId; ///< Of the innermost of them.
    std::vector<Reduction> reductions;
    std::vector<ArrayUse> arrays; ///< Of this nest alone.
};

/// Of a `for` in a function whose form is fit (see function_form.h). Refuses what is not proved,
/// the first thing first. `arrays` is left empty.
[[nodiscard]] std::expected<ParallelNest, skills::Refusal>
findParallelNest(const analysis::FileModel& file, const analysis::KernelModel& function,
                 const analysis::CodeMap& code, const LoopDependence& dependence,
                 analysis::StmtId statement);

} // namespace kernelskill::engine
