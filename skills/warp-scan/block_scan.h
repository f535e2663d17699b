/// Finds the scan of a block's elements by doubling steps in shared memory.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/block_collective.h"
#include "skills/warp-scan/scan_round.h"

#include <cstdint>

namespace kernelskill::skills {

struct BlockScan {
    std::uint32_t loop = analysis::noId; ///< Index into KernelModel::loops.
    ScanNames names;
    bool startsWithBarrier = false; ///< The first barrier comes before the elements are read.
    SpannedThreads span;
};

/// The scan at the cursor, else the first that fits. Where none does, the refusal of the loop that
/// comes closest to one: `no-loop`, `not-a-scan`, `from-macro`, `no-shuffle`, `used-after`, and
/// those of block_collective.h.
[[nodiscard]] Gated<BlockScan> findScan(const SkillContext& context, const analysis::CodeMap& code);

} // namespace kernelskill::skills
