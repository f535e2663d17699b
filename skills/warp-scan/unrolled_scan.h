/// Finds the scan of a block's elements whose doubling steps stand one after the other.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::skills {

/// Steps `t = s[i - 1]; barrier; s[i] += t; barrier;` with doubling distances, where `s` has zeros
/// in front of the block's elements.
struct UnrolledScan {
    /// The function that has the steps: the kernel, or one that it calls.
    const analysis::KernelModel* function = nullptr;
    analysis::StmtId first = analysis::noId; ///< The first step begins with it.
    analysis::StmtId last = analysis::noId;  ///< The last step ends with it.
    analysis::VariableId array = analysis::noId;
    analysis::ExprId element = analysis::noId; ///< An expression that is the thread's own element.
    analysis::VariableId value = analysis::noId; ///< What a thread reads before a barrier.
    std::string type;                            ///< The type of an element.
    std::int64_t largestBlock = 0; ///< The most threads of a block that comes to the scan.
    /// Set if no launch in the file says how large the blocks of a kernel are that comes to the
    /// scan: it is right for blocks of whole warps that the steps span.
    std::optional<Refusal> unknownBlocks;
};

/// The scan of the kernel, else the first of the functions that it calls. Refuses with `no-scan`,
/// `no-shuffle`, `unknown-extent`, `short-scan`, and what block_collective.h refuses for each
/// kernel of the file that comes to the scan.
[[nodiscard]] Gated<UnrolledScan> findUnrolledScan(const SkillContext& context);

} // namespace kernelskill::skills
